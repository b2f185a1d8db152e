#include "substitutions/taso.h"

#include <set>

#include "base/files/input_file.h"
#include "substitutions/taso.pb.h"
#include "substitutions/taso_terms.h"

namespace regraft::substitutions {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 28;

Result<int> int_of(int64_t n) {
  if (n < INT32_MIN || n > INT32_MAX) return error(std::to_string(n) + " is out of range");
  return static_cast<int>(n);
}

Result<TasoTensor> tensor_of(int64_t op, int64_t output) {
  TasoTensor t;
  ASSIGN_OR_RETURN(t.op, int_of(op));
  ASSIGN_OR_RETURN(t.output, int_of(output));
  return t;
}

Result<std::vector<TasoOperator>> operators_of(
    const google::protobuf::RepeatedPtrField<wire::Operator>& side) {
  std::vector<TasoOperator> ops;
  for (const auto& w : side) {
    TasoOperator& op = ops.emplace_back();
    ASSIGN_OR_RETURN(op.type, int_of(w.type()));
    for (const auto& t : w.input()) {
      ASSIGN_OR_RETURN(op.inputs.emplace_back(), tensor_of(t.opid(), t.tsid()));
    }
    for (const auto& p : w.para()) {
      ASSIGN_OR_RETURN(int key, int_of(p.key()));
      ASSIGN_OR_RETURN(op.parameters[key], int_of(p.value()));
    }
  }
  return ops;
}

Result<TasoRule> rule_of(const wire::Rule& w) {
  if (w.srcop().empty() || w.dstop().empty()) return error("a side has no operators");
  TasoRule rule;
  ASSIGN_OR_RETURN(rule.source, operators_of(w.srcop()));
  ASSIGN_OR_RETURN(rule.target, operators_of(w.dstop()));
  for (const auto& o : w.mappedoutput()) {
    TasoOutput& output = rule.outputs.emplace_back();
    ASSIGN_OR_RETURN(output.source, tensor_of(o.srcopid(), o.srctsid()));
    ASSIGN_OR_RETURN(output.target, tensor_of(o.dstopid(), o.dsttsid()));
  }
  return rule;
}

std::string rule_name(size_t k) {
  std::string digits = std::to_string(k);
  return "taso." + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
}

/// A rule of the file with its name.
struct Numbered {
  size_t index = 0;
  std::string name;
  TasoRule rule;
};

Result<std::vector<Numbered>> numbered(std::string_view bytes, const std::string& file) {
  wire::RuleCollection all;
  if (bytes.size() > kMaxBytes || !all.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return error(file + ": not a file of TASO's substitutions, or cut off");
  std::vector<Numbered> rules;
  for (const wire::Rule& w : all.rule()) {
    std::string name = rule_name(rules.size());
    auto rule = rule_of(w);
    if (!rule) return error(file + ": " + name + ": " + rule.error().message);
    rules.push_back({rules.size(), name, *std::move(rule)});
  }
  if (rules.empty()) return error(file + ": has no rules");
  return rules;
}

/// Adds the form when TASO could build both sides of it.
void add_form(const Numbered& n, TasoForm form, std::vector<Rule>& forms) {
  auto r = reading_of(n.rule, n.name, form);
  if (!r || !(form.words.empty() || r->broadcasts)) return;
  form.sizes = equal_sizes(r->rule);
  auto again = r->grouped ? reading_of(n.rule, n.name, form) : r;
  if (again) forms.push_back(std::move(again->rule));
}

/// Every choice of the variables; of each alone when there are many.
std::vector<std::vector<int>> choices(const std::map<int, size_t>& ranks) {
  constexpr size_t kMany = 5;
  std::vector<std::vector<int>> all;
  for (const auto& [v, rank] : ranks) {
    if (rank == 0) continue;
    size_t known = ranks.size() > kMany ? 0 : all.size();
    for (size_t k = 0; k < known; ++k) {
      all.push_back(all[k]);
      all.back().push_back(v);
    }
    all.push_back({v});
  }
  return all;
}

/// Marks the axes that an operator treats in a way of their own; what `heights` marks is the first
/// of two that it treats alike.
void mark_axes(const TasoOperator& op, std::set<size_t>& own, std::set<size_t>& heights) {
  auto parameter = [&](int key) {
    auto it = op.parameters.find(key);
    return it == op.parameters.end() ? -1 : it->second;
  };
  switch (op.type) {
    case kConv:
    case kMaxPool:
    case kAvgPool:
    case kEnlarge: {
      bool square =
          parameter(kKernelH) == parameter(kKernelW) && parameter(kStrideH) == parameter(kStrideW);
      own.insert({0, 1});
      if (square)
        heights.insert(2);
      else
        own.insert({2, 3});
      return;
    }
    case kMatmul:
    case kTranspose:
      own.insert({0, 1, 2, 3});
      return;
    case kConcat:
    case kSplit:
      if (parameter(kAxis) >= 0) own.insert(static_cast<size_t>(parameter(kAxis)));
      return;
    default:
      return;
  }
}

/// Of axes that all operators treat alike one is enough.
std::vector<size_t> axes_to_try(const TasoRule& rule, size_t axes) {
  std::set<size_t> own, heights;
  for (const auto* ops : {&rule.source, &rule.target})
    for (const TasoOperator& op : *ops) mark_axes(op, own, heights);
  std::vector<size_t> r;
  bool plain = false;  // one that no operator marks
  for (size_t d = 0; d < axes; ++d) {
    bool like_height = d == 3 && heights.count(2) && !own.count(2) && !own.count(3);
    if (like_height) continue;
    bool marked = own.count(d) || (d >= 2 && !heights.empty());
    if (marked || !plain) r.push_back(d);
    plain = plain || !marked;
  }
  return r;
}

std::vector<Rule> forms_of(const Numbered& n) {
  std::vector<Rule> forms;
  add_form(n, {TasoForm::Inferred, {}, {}}, forms);
  std::map<int, size_t> ranks = ranks_of(n.rule);
  size_t axes = 0;
  for (const auto& [v, rank] : ranks) axes = std::max(axes, rank);
  std::vector<size_t> tried = axes_to_try(n.rule, axes);
  tried.push_back(axes);  // all at once, of one variable
  for (size_t d : tried)
    for (const auto& chosen : choices(ranks)) {
      if (d == axes && (axes < 2 || chosen.size() > 1)) continue;
      TasoForm form{TasoForm::Inferred, {}, {}};
      for (int v : chosen) {
        std::string word(ranks.at(v), d == axes ? '1' : 'n');
        if (d < word.size()) word[d] = '1';
        form.words[v] = word;
      }
      add_form(n, form, forms);
    }
  return forms;
}

std::string meaning_of(const Numbered& n) {
  auto plain = reading_of(n.rule, n.name, {TasoForm::Inferred, {}, {}});
  return plain && plain->grouped ? "groups as tried: one on the left side" : "";
}

}  // namespace

Result<TasoRules> read_taso(const std::string& path) {
  ASSIGN_OR_RETURN(std::string bytes, read_file(path, kMaxBytes));
  return parse_taso(bytes, path);
}

Result<TasoRules> parse_taso(std::string_view bytes, const std::string& name) {
  ASSIGN_OR_RETURN(auto rules, numbered(bytes, name));
  TasoRules r;
  r.file.generator = "taso";
  for (const Numbered& n : rules) {
    auto translated = translated_rule(n.rule, n.name);
    if (translated)
      r.file.rules.push_back(*std::move(translated));
    else
      r.skipped.push_back({n.index, n.name, translated.error().message});
  }
  return r;
}

Result<TasoCases> read_taso_cases(const std::string& path) {
  ASSIGN_OR_RETURN(std::string bytes, read_file(path, kMaxBytes));
  return parse_taso_cases(bytes, path);
}

Result<TasoCases> parse_taso_cases(std::string_view bytes, const std::string& name) {
  ASSIGN_OR_RETURN(auto rules, numbered(bytes, name));
  TasoCases r;
  for (const Numbered& n : rules) {
    auto translated = translated_rule(n.rule, n.name);
    if (translated)
      r.cases.push_back({n.index, *std::move(translated), forms_of(n), meaning_of(n)});
    else
      r.skipped.push_back({n.index, n.name, translated.error().message});
  }
  return r;
}

}  // namespace regraft::substitutions
