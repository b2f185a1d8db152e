#include "gen/grammar/op_sets.h"

#include <charconv>
#include <string>

#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

std::vector<Grammar> joined(std::vector<Grammar> a, const std::vector<Grammar>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<std::string_view> words(std::string_view text, char separator) {
  std::vector<std::string_view> r;
  while (!text.empty()) {
    size_t end = std::min(text.find(separator), text.size());
    r.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return r;
}

/// Operand ranks decide how many numbers a list at its fallback has.
size_t fallback_length(const IntAttr& attr, const Instance& instance) {
  int rank = 0;
  if (!instance.operands.empty() && instance.operands[0] != "-")
    rank = static_cast<int>(axes_of(instance.operands[0]).size());
  return attr_length(attr, rank).value_or(0);
}

void read_real(Label& label, size_t k, std::string_view text) {
  size_t bar = text.find('/');
  double x = std::stod(std::string(text.substr(0, bar)));
  if (bar != std::string_view::npos) {
    x /= std::stod(std::string(text.substr(bar + 1)));
    label.fractions.resize(label.attrs.reals.size());
    label.fractions[k] = "=" + std::string(text);
  }
  label.attrs.reals[k].value = x;
}

Status read_attr(Label& label, std::string_view word, std::vector<char>& given) {
  size_t end = word.find_first_of("=~");
  if (end == std::string_view::npos) return error("has no value: " + std::string(word));
  std::string name(word.substr(0, end));
  std::string_view text = word.substr(end + 1);
  if (int k = label.op->real_attr(name); k >= 0) {
    read_real(label, static_cast<size_t>(k), text);
    return {};
  }
  int k = label.op->int_attr(name);
  if (k < 0) return error("has no attribute " + name);
  auto& list = label.attrs.ints[static_cast<size_t>(k)];
  for (std::string_view number : words(text, ',')) {
    int64_t n = 0;
    std::from_chars(number.data(), number.data() + number.size(), n);
    list.push_back(n);
  }
  label.sized[static_cast<size_t>(k)] = word[end] == '~';
  given[static_cast<size_t>(k)] = 1;
  return {};
}

}  // namespace

std::span<const OpSet> op_sets() {
  static const std::vector<OpSet> sets = {
      {"core", joined(joined(matrix_grammars(), image_grammars()), move_grammars())},
      {"extended", rarer_grammars()},
      {"elements", element_grammars()},
      {"layers", layer_grammars()},
      {"moves", function_move_grammars()},
      {"logic", logic_themes()},
      {"norms", norm_themes()},
      {"attention", attention_themes()},
      {"einsum", einsum_themes()},
      {"runtime", runtime_themes()},
      {"activations", activation_themes()},
      {"idle", idle_themes()},
      {"places", place_themes()},
      {"images", image_themes()},
      {"laws", law_themes()},
      {"bounds", bound_themes()},
      {"forms", form_themes()},
      {"numbers", number_themes()},
      {"extents", extent_themes()},
      {"fusions", joined(conv_fusions(), layer_fusions())},
      {"basic", {matrix_grammar(), convolution_grammar()}},
      {"matrix", {matrix_grammar()}},
      {"taso", {taso_grammar()}},
  };
  return sets;
}

std::span<const std::string_view> op_set_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> r;
    for (const OpSet& s : op_sets()) r.push_back(s.name);
    return r;
  }();
  return names;
}

std::optional<OpSet> find_op_set(std::string_view name) {
  size_t slash = name.find('/');
  for (const OpSet& s : op_sets()) {
    if (s.name == name) return s;
    if (s.name != name.substr(0, slash)) continue;
    for (const Grammar& t : s.grammars)
      if (t.name == name.substr(slash + 1)) return OpSet{t.name, {t}};
  }
  return std::nullopt;
}

Result<Label> label_of(const Instance& instance) {
  Label label;
  label.op = find_op(instance.op);
  std::string place = "operator instance " + std::string(instance.op) + ": ";
  if (!label.op) return error(place + "no such operator");
  size_t n = label.op->ints.size();
  label.attrs.ints.resize(n);
  label.sized.assign(n, 0);
  for (const auto& a : label.op->reals) label.attrs.reals.push_back({a.fallback, nullptr});
  std::vector<char> given(n, 0);
  for (std::string_view word : words(instance.attrs, ' '))
    if (auto status = read_attr(label, word, given); !status)
      return error(place + status.error().message);
  for (size_t k = 0; k < n; ++k) {
    if (given[k]) continue;
    const IntAttr& a = label.op->ints[k];
    if (!a.fallback) return error(place + "attribute " + std::string(a.name) + " is missing");
    label.attrs.ints[k].assign(fallback_length(a, instance), *a.fallback);
  }
  label.outputs = output_count(*label.op, symbolic(label.attrs));
  return label;
}

std::string_view axes_of(std::string_view operand) { return operand.substr(0, operand.find('@')); }

std::optional<std::string_view> kind_of(std::string_view operand) {
  size_t at = operand.find('@');
  return at == std::string_view::npos ? std::nullopt : std::optional(operand.substr(at + 1));
}

bool fits(const Instance& instance, std::span<const std::vector<int64_t>* const> shapes) {
  std::array<int64_t, 128> bound{};
  for (size_t k = 0; k < shapes.size(); ++k) {
    std::string_view pattern = axes_of(instance.operands[k]);
    if (pattern == "-") pattern = "";
    const auto& shape = *shapes[k];
    if (shape.size() != pattern.size()) return false;
    for (size_t d = 0; d < shape.size(); ++d) {
      auto c = static_cast<unsigned char>(pattern[d]);
      if (c == '.') continue;
      if (c >= '0' && c <= '9') {
        if (shape[d] != c - '0') return false;
      } else if (bound[c & 127] == 0) {
        bound[c & 127] = shape[d];
      } else if (bound[c & 127] != shape[d]) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace regraft::gen
