#include "cli/optimization/bisection.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/host.h"
#include "base/printable.h"
#include "base/process/shell_command.h"
#include "base/terminal.h"
#include "certify/prefix.h"
#include "cli/measure/worker.h"
#include "cli/optimization/node_names.h"
#include "cli/support/report.h"
#include "ir/rule/text.h"

namespace regraft::cli {
namespace {

constexpr int kCannotTell = 125;  // as with git bisect run
constexpr size_t kShownInPlace = 6;

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (size_t k = 0; k < names.size() && k < kShownInPlace; ++k) text += (k ? ", " : "") + names[k];
  if (names.size() > kShownInPlace)
    text += fmt::format(" and {} more", names.size() - kShownInPlace);
  return printable(text);
}

/// "a/out.good.onnx".
std::string beside(const std::string& out, const std::string& word) {
  std::filesystem::path path(out);
  auto extension = path.extension();
  return path.replace_extension().string() + "." + word +
         (extension.empty() ? std::string(".onnx") : extension.string());
}

class Bisecting {
 public:
  Bisecting(const Bisection& asked, rewrite::RuleIndex rules, const Stop& stop)
      : asked_(asked),
        rules_(std::move(rules)),
        stop_(stop),
        steps_(certify::steps_in(asked.certificate.done)),
        progress_("bisecting", "models", 0, asked.verbosity) {}

  Result<int> run() {
    ASSIGN_OR_RETURN(Judgement result, judge(steps_));
    if (result == Judgement::Good) {
      say("bisect: the command passes on the result: there is nothing to find");
      return kDone;
    }
    if (result == Judgement::Unknown) return cannot_tell("the result");
    ASSIGN_OR_RETURN(Judgement start, judge(0));
    if (start == Judgement::Unknown) return cannot_tell("the model without any step");
    if (start == Judgement::Bad) {
      tell(
          "bisect: the command fails on the model as regraft reads and writes it, without any "
          "step: no rule is to blame");
      return kFailed;
    }
    ASSIGN_OR_RETURN(Turn turn, find_turn(0, steps_, [&](size_t k) { return judge(k); }));
    ASSIGN_OR_RETURN(int code, turn.first == turn.last ? report(turn.last) : report_range(turn));
    RETURN_IF_ERROR(keep(turn));
    return code;
  }

 private:
  void say(const std::string& line) const {
    if (asked_.verbosity == Verbosity::Normal)
      fmt::print(results(), "{}", wrapped(line + "\n", columns(results()), 11));
  }

  int cannot_tell(const std::string& what) const {
    tell("bisect: the command cannot judge " + what + " (exit code 125)");
    return kUndecided;
  }

  Result<certify::Derived> after(size_t steps) const {
    return certify::derive(asked_.model, certify::first_steps(asked_.certificate.done, steps),
                           rules_, asked_.certificate.opset);
  }

  Status write(size_t steps, const std::string& path) const {
    ASSIGN_OR_RETURN(certify::Derived made, after(steps));
    made.base.as_initialisers = asked_.as_initialisers;
    return io::save(made.base, made.graph, path);
  }

  Result<Judgement> judge(size_t steps) {
    if (stop_.must_end()) return error("bisect: stopped before a step was found");
    ASSIGN_OR_RETURN(std::string folder, folder_.path());
    const std::string path = folder + "/model.onnx";
    RETURN_IF_ERROR(write(steps, path));
    const std::string command = with_path(asked_.flags.command, path);
    auto code = run_shell(command, asked_.flags.show ? Printed::Stderr : Printed::Nowhere, stop_);
    if (!code) return error("bisect: " + code.error().message);
    progress_.add();
    ++judged_;
    if (*code == kCannotTell) return Judgement::Unknown;
    return *code == 0 ? Judgement::Good : Judgement::Bad;
  }

  Status keep(const Turn& turn) const {
    if (!asked_.flags.keep) return {};
    RETURN_IF_ERROR(write(turn.first - 1, beside(asked_.out, "good")));
    RETURN_IF_ERROR(write(turn.last, beside(asked_.out, "bad")));
    say("kept       " + beside(asked_.out, "good") + ", " + beside(asked_.out, "bad"));
    return {};
  }

  /// What a step did, the first being 1: its rule, or that it folds; and where.
  struct Said {
    std::string what, where;
    std::optional<std::string> rule;
  };
  Result<Said> describe(size_t step) const {
    const certify::StepPlace place = certify::step_at(asked_.certificate.done, step - 1);
    std::string inside;
    io::Imported model = asked_.model;
    for (const io::BodyPlace& body : place.bodies) {
      inside = " in " + io::describe(model, body) + inside;
      ASSIGN_OR_RETURN(model, io::body_model(model, body));
    }
    ASSIGN_OR_RETURN(Graph before, graph_before(step, place));
    const NodeNames name(model);
    std::vector<std::string> nodes;
    for (int32_t id : place.rule ? place.rule->nodes : *place.folded)
      if (id < before.id_bound() && before.contains(id) && before.node(id).kind == NodeKind::Call)
        nodes.push_back(name(before, id));
    Said said{"the folding of constants", list_of(nodes) + printable(inside), std::nullopt};
    if (place.rule) {
      said.what = "rule " + printable(place.rule->rule);
      said.rule = place.rule->rule;
    }
    return said;
  }

  /// The graph that the step was done to: a body's, if it is in one.
  Result<Graph> graph_before(size_t step, const certify::StepPlace& place) const {
    certify::Derivation done = certify::first_steps(asked_.certificate.done, step - 1);
    io::Imported model = asked_.model;
    for (const io::BodyPlace& at : place.bodies) {
      ASSIGN_OR_RETURN(model, io::body_model(model, at));
      auto inner = std::ranges::find(done.bodies, at, &certify::BodyDerivation::place);
      certify::Derivation of_body =
          inner == done.bodies.end() ? certify::Derivation{} : std::move(inner->done);
      done = std::move(of_body);
    }
    // The bodies of the model are done before any step of the graph that is asked for.
    ASSIGN_OR_RETURN(certify::Derived made, certify::derive(model, done, rules_, opset_of(place)));
    return std::move(made.graph);
  }
  Opset opset_of(const certify::StepPlace& place) const {
    return place.bodies.empty() ? asked_.certificate.opset
                                : io::summarise(asked_.model, asked_.model.graph).opset;
  }

  std::string text_of(const std::string& name) const {
    for (const Rule& rule : asked_.certificate.rules)
      if (rule.name == name) return printable(to_string(rule));
    return "";
  }

  Result<int> report(size_t step) const {
    ASSIGN_OR_RETURN(Said said, describe(step));
    tell(fmt::format("bisect: the command fails after step {} of {}: {}, at {}{}", step, steps_,
                     said.what, said.where,
                     said.rule ? "; --disable-rule " + *said.rule + " avoids it" : ""));
    say(fmt::format("step       {} of {}, {} models judged", step, steps_, judged_));
    if (said.rule) say("rule       " + text_of(*said.rule));
    say("place      " + said.where);
    if (said.rule) say("avoided by --disable-rule " + *said.rule);
    return static_cast<int>(kFailed);
  }

  Result<int> report_range(const Turn& turn) const {
    tell(
        fmt::format("bisect: one of the steps {} to {} breaks it; the command cannot judge the "
                    "models between",
                    turn.first, turn.last));
    constexpr size_t kMostShown = 20;
    for (size_t k = turn.first; k <= turn.last && k < turn.first + kMostShown; ++k) {
      ASSIGN_OR_RETURN(Said said, describe(k));
      say(fmt::format("step {:<5} {}, at {}", k, said.what, said.where));
    }
    return static_cast<int>(kUndecided);
  }

  const Bisection& asked_;
  const rewrite::RuleIndex rules_;
  const Stop& stop_;
  const size_t steps_;
  TemporaryFolder folder_;
  Progress progress_;
  size_t judged_ = 0;
};

}  // namespace

Result<Turn> find_turn(size_t good, size_t bad,
                       const std::function<Result<Judgement>(size_t)>& judge) {
  std::vector<char> unknown(bad + 1, 0);
  for (;;) {
    // Of those between that are not known to be beyond judgement, the one nearest to the middle.
    std::optional<size_t> next;
    const size_t middle = good + (bad - good) / 2;
    auto distance = [&](size_t k) { return k < middle ? middle - k : k - middle; };
    for (size_t k = good + 1; k < bad; ++k)
      if (!unknown[k] && (!next || distance(k) < distance(*next))) next = k;
    if (!next) return Turn{good + 1, bad};
    ASSIGN_OR_RETURN(Judgement said, judge(*next));
    if (said == Judgement::Unknown)
      unknown[*next] = 1;
    else
      (said == Judgement::Good ? good : bad) = *next;
  }
}

std::vector<std::string> kept_models(const BisectFlags& flags, const std::string& out) {
  if (!flags.keep) return {};
  return {beside(out, "good"), beside(out, "bad")};
}

Result<int> bisect(const Bisection& asked, const Stop& stop) {
  ASSIGN_OR_RETURN(auto rules,
                   rewrite::RuleIndex::build(asked.certificate.rules, rewrite::Scope::Proved,
                                             Numerics::Unknown));
  return Bisecting(asked, std::move(rules), stop).run();
}

}  // namespace regraft::cli
