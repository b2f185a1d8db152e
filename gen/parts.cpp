#include "gen/parts.h"

#include "base/files/bytes.h"
#include "gen/enumerate/enumerator.h"
#include "gen/grammar/op_sets.h"
#include "gen/minimise/minimise.h"
#include "ir/rule/text.h"

namespace regraft::gen {
namespace {

Result<PartOf> part_of(std::string_view bytes) {
  ByteReader in(bytes);
  PartOf p;
  p.ops = in.text();
  p.grammar = in.number<uint64_t>();
  p.max_size = in.number<int32_t>();
  p.seed = in.number<uint64_t>();
  p.trials = in.number<int32_t>();
  if (!in.at_end()) return error("a part of no enumeration");
  return p;
}

std::vector<std::string> read_names(ByteReader& in) {
  std::vector<std::string> names(in.count(8));
  for (std::string& n : names) n = in.text();
  return names;
}

/// Rules as Minimiser tells them.
Status add_rules(std::string_view bytes, Minimiser& to) {
  ByteReader in(bytes);
  for (size_t left = in.count(16); left > 0 && in.fits(); --left) {
    std::string text(in.text());
    std::vector<Signature> found(in.count(8));
    for (Signature& s : found) s = read_names(in);
    if (!in.fits()) break;
    ASSIGN_OR_RETURN(Rule rule, parse_rule(text));
    to.know(rule, found);
  }
  return in.at_end() ? Status() : error("rules of a round that are none");
}

}  // namespace

std::string to_bytes(const PartOf& p) {
  return ByteWriter()
      .text(p.ops)
      .number(p.grammar)
      .number<int32_t>(p.max_size)
      .number(p.seed)
      .number<int32_t>(p.trials)
      .finish();
}

/// What parts of one enumeration share.
struct Parts::Below {
  OpSet set;
  std::unique_ptr<ShapedOps> ops;
  Bank bank;
  Stop never;
  std::unique_ptr<Enumerator> enumerator;
  std::unique_ptr<Minimiser> minimiser;
  std::string tuples;              ///< that the graph has
  std::vector<std::string> rules;  ///< that the minimiser knows
  Below() : bank(kShapeSeed) {}
};

Parts::Parts(Objects objects) : objects_(std::move(objects)), derive_(objects_) {}
Parts::~Parts() = default;

bool Parts::knows(const std::string& kind) {
  return kind == "enumerate" || kind == "merge" || kind == "connect" || kind == "judge" ||
         kind == kDeriveTask;
}

Status Parts::prepare(const std::string& part) {
  if (part == part_) return {};
  below_.reset();
  part_.clear();
  ASSIGN_OR_RETURN(PartOf p, part_of(part));
  auto set = find_op_set(p.ops);
  if (!set || p.grammar >= set->grammars.size() || p.max_size < 1 || p.max_size > kMaxSize)
    return error("a part of no enumeration");
  auto below = std::make_unique<Below>();
  below->set = *std::move(set);
  below->ops = std::make_unique<ShapedOps>(below->set.grammars[p.grammar], p.trials, p.seed);
  RETURN_IF_ERROR(below->ops->load());
  EnumerateOptions options;
  options.max_size = p.max_size;
  options.seed = p.seed;
  below->enumerator = std::make_unique<Enumerator>(*below->ops, options, below->bank, below->never);
  RETURN_IF_ERROR(below->enumerator->run_below_last());
  below_ = std::move(below);
  part_ = part;
  return {};
}

/// Only what is new, where the same run goes on.
Status Parts::learn(const std::string& tuples, const std::vector<std::string>& rules) {
  Below& b = *below_;
  if (b.tuples != tuples) {
    ASSIGN_OR_RETURN(std::string bytes, objects_.fetch(tuples));
    RETURN_IF_ERROR(b.enumerator->set_last_tuples(bytes));
    b.tuples = tuples;
    b.minimiser.reset();
  }
  bool goes_on = b.minimiser && b.rules.size() <= rules.size() &&
                 std::equal(b.rules.begin(), b.rules.end(), rules.begin());
  if (!goes_on) {
    b.minimiser = std::make_unique<Minimiser>(b.enumerator->graph(), b.bank, kShapeSeed, 1,
                                              [](const Finding&) {});
    b.rules.clear();
  }
  for (size_t k = b.rules.size(); k < rules.size(); ++k) {
    ASSIGN_OR_RETURN(std::string bytes, objects_.fetch(rules[k]));
    RETURN_IF_ERROR(add_rules(bytes, *b.minimiser));
    b.rules.push_back(rules[k]);
  }
  return {};
}

Result<std::string> Parts::perform(const Task& task) {
  if (task.kind == kDeriveTask) return derive_.perform(task.input);
  ByteReader in(task.input);
  RETURN_IF_ERROR(prepare(std::string(in.text())));
  Error none = error("a part of generate that is none: " + task.kind);
  if (task.kind == "enumerate") {
    auto number = in.number<uint64_t>(), of = in.number<uint64_t>();
    if (!in.at_end() || of == 0) return none;
    return below_->enumerator->share(number, of, objects_);
  }
  if (task.kind == "merge") {
    auto partition = in.number<uint64_t>();
    std::vector<std::string> runs = read_names(in);
    if (!in.at_end()) return none;
    return below_->enumerator->merge(partition, runs, objects_);
  }
  std::string tuples(in.text());
  if (task.kind == "judge") {
    std::string_view group = in.text();
    if (!in.at_end()) return none;
    RETURN_IF_ERROR(learn(tuples, below_->rules));
    return below_->minimiser->judge_for(group);
  }
  std::vector<std::string> rules = read_names(in);
  std::string_view groups = in.text();
  if (!in.at_end()) return none;
  RETURN_IF_ERROR(learn(tuples, rules));
  return below_->minimiser->connect_for(groups);
}

}  // namespace regraft::gen
