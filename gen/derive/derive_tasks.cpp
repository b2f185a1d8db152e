#include "gen/derive/derive_tasks.h"

#include <algorithm>

#include "base/files/bytes.h"
#include "ir/rule/text.h"

namespace regraft::gen {
namespace {

constexpr size_t kTogether = 4;  // questions of a task

Error none() { return error("questions about rules that are none"); }

std::string to_bytes(const DeriveOptions& o) {
  return ByteWriter()
      .number<uint64_t>(o.max_nodes)
      .number<int32_t>(o.max_rounds)
      .number<int32_t>(o.slack)
      .number<uint64_t>(o.matches_per_rule)
      .number(o.steps_per_rule)
      .number(o.max_steps)
      .number<uint64_t>(o.max_signatures)
      .number<int32_t>(o.assignments)
      .number(o.seed)
      .finish();
}

Result<DeriveOptions> options_of(std::string_view bytes) {
  ByteReader in(bytes);
  DeriveOptions o;
  o.max_nodes = in.number<uint64_t>();
  o.max_rounds = in.number<int32_t>();
  o.slack = in.number<int32_t>();
  o.matches_per_rule = in.number<uint64_t>();
  o.steps_per_rule = in.number<uint64_t>();
  o.max_steps = in.number<uint64_t>();
  o.max_signatures = in.number<uint64_t>();
  o.assignments = in.number<int32_t>();
  o.seed = in.number<uint64_t>();
  if (!in.at_end()) return none();
  return o;
}

std::string to_bytes(const std::vector<Rule>& rules) {
  ByteWriter out;
  out.number<uint64_t>(rules.size());
  for (Rule rule : rules) {
    rule.name = "r";
    out.text(to_string(rule));
  }
  return out.finish();
}

Result<std::vector<Rule>> rules_of(std::string_view bytes) {
  ByteReader in(bytes);
  std::vector<Rule> rules;
  for (size_t left = in.count(8); left > 0 && in.fits(); --left) {
    ASSIGN_OR_RETURN(Rule rule, parse_rule(std::string(in.text())));
    rules.push_back(std::move(rule));
  }
  if (!in.at_end()) return none();
  return rules;
}

Result<Answer> read_answer(ByteReader& in, size_t rules) {
  Answer a;
  a.derived = in.number<uint8_t>() != 0;
  for (auto n : in.numbers<uint64_t>()) a.used.push_back(n);
  if (!in.fits() || std::ranges::any_of(a.used, [&](size_t n) { return n >= rules; }))
    return error("answers about rules that are none");
  return a;
}

/// What asked_of() keeps between questions.
class Asking {
 public:
  Asking(const Helpers& helpers, const std::vector<Rule>& rules, const std::vector<Rule>& goals,
         const DeriveOptions& options)
      : helpers_(helpers), rules_(rules.size()), options_(to_bytes(options)) {
    texts_[0] = to_bytes(rules);
    texts_[1] = to_bytes(goals);
  }
  Result<std::vector<Answer>> answers(const std::vector<Question>& asked) {
    RETURN_IF_ERROR(tell());
    std::vector<Task> tasks;
    for (size_t first = 0; first < asked.size(); first += kTogether) {
      const size_t count = std::min(kTogether, asked.size() - first);
      ByteWriter input;
      input.text(names_[0]).text(names_[1]).text(options_).number<uint64_t>(count);
      for (size_t k = first; k < first + count; ++k)
        input.number<uint64_t>(asked[k].goal).numbers(asked[k].from);
      tasks.push_back({kDeriveTask, input.finish()});
    }
    ASSIGN_OR_RETURN(auto results, helpers_.run(tasks));
    std::string all;
    for (const std::string& r : results) all += r;
    ByteReader in(all);
    std::vector<Answer> r;
    for (size_t k = 0; k < asked.size(); ++k) {
      ASSIGN_OR_RETURN(Answer a, read_answer(in, rules_));
      r.push_back(std::move(a));
    }
    if (!in.at_end()) return error("answers about rules that are none");
    return r;
  }

 private:
  Status tell() {
    for (size_t k = 0; k < 2; ++k) {
      if (!names_[k].empty()) continue;
      ASSIGN_OR_RETURN(names_[k], helpers_.objects.keep(texts_[k]));
      texts_[k].clear();
    }
    return {};
  }
  const Helpers& helpers_;
  size_t rules_;
  std::string options_;
  std::string texts_[2], names_[2];  ///< rules and goals; their objects
};

}  // namespace

std::function<Result<std::vector<Answer>>(const std::vector<Question>&)> asked_of(
    const Helpers& helpers, const std::vector<Rule>& rules, const std::vector<Rule>& goals,
    const DeriveOptions& options) {
  auto asking = std::make_shared<Asking>(helpers, rules, goals, options);
  return [asking](const std::vector<Question>& asked) { return asking->answers(asked); };
}

Status DeriveTasks::prepare(const std::string& rules, const std::string& goals,
                            const std::string& options) {
  if (goals != goals_) {
    goals_.clear();
    ASSIGN_OR_RETURN(std::string bytes, objects_.fetch(goals));
    ASSIGN_OR_RETURN(asked_, rules_of(bytes));
    goals_ = goals;
  }
  if (deriver_ && rules == rules_ && options == options_) return {};
  deriver_.reset();
  ASSIGN_OR_RETURN(std::string bytes, objects_.fetch(rules));
  ASSIGN_OR_RETURN(std::vector<Rule> from, rules_of(bytes));
  ASSIGN_OR_RETURN(DeriveOptions how, options_of(options));
  deriver_ = std::make_unique<Deriver>(std::move(from), how);
  rules_ = rules;
  options_ = options;
  return {};
}

Result<std::string> DeriveTasks::perform(std::string_view input) {
  ByteReader in(input);
  const std::string rules(in.text()), goals(in.text()), options(in.text());
  RETURN_IF_ERROR(prepare(rules, goals, options));
  ByteWriter out;
  for (size_t left = in.count(16); left > 0; --left) {
    auto goal = in.number<uint64_t>();
    auto from = in.numbers<char>();
    if (!in.fits() || goal >= asked_.size()) return none();
    if (!from.empty() && from.size() != deriver_->rules().size()) return none();
    const Derivation d =
        from.empty() ? deriver_->derive(asked_[goal]) : deriver_->derive(asked_[goal], from);
    out.number<uint8_t>(d.derived ? 1 : 0);
    out.numbers(std::vector<uint64_t>(d.used.begin(), d.used.end()));
  }
  if (!in.at_end()) return none();
  return out.finish();
}

}  // namespace regraft::gen
