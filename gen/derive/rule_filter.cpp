#include "gen/derive/rule_filter.h"

#include <algorithm>
#include <bit>

#include "base/hash.h"

namespace regraft::gen {
namespace {

uint64_t of_operator(const OpDef& op) { return std::bit_cast<uintptr_t>(&op); }
uint64_t of_list(size_t k, const std::vector<int64_t>& numbers) {
  uint64_t h = combine(k, numbers.size());
  for (int64_t n : numbers) h = combine(h, static_cast<uint64_t>(n));
  return h;
}
uint64_t of_real(size_t k, double x) { return combine(~k, std::bit_cast<uint64_t>(x)); }
uint64_t of_operand(const OpDef& user, size_t k, const OpDef& op) {
  size_t place = user.commutative && k < 2 ? 0 : k;
  return combine(combine(of_operator(user), place + 1), of_operator(op));
}

}  // namespace

std::vector<uint64_t> Matchable::features(Direction d) const {
  const Side& side = sides_[d];
  std::vector<std::vector<uint64_t>> given(side.calls.size());
  std::vector<uint64_t> all;
  for (size_t c = 0; c < side.calls.size(); ++c) {
    const Call& call = side.calls[c];
    for (size_t k = 0; k < call.ints.size(); ++k) {
      const auto& numbers = call.ints[k].numbers;
      bool plain = call.ints[k].list < 0 && !call.ints[k].axes && !numbers.empty() &&
                   std::all_of(numbers.begin(), numbers.end(), [](const Number& n) {
                     return n.kind == Number::Given && n.value >= 0;
                   });
      if (!plain) continue;
      std::vector<int64_t> values;
      for (const Number& n : numbers) values.push_back(n.value);
      given[c].push_back(of_list(k, values));
    }
    for (size_t k = 0; k < call.reals.size(); ++k)
      if (call.reals[k] < 0) given[c].push_back(of_real(k, call.node->attrs.reals[k].value));
    all.push_back(of_operator(*call.node->op));
    for (uint64_t g : given[c]) all.push_back(combine(of_operator(*call.node->op), g));
    for (size_t k = 0; k < call.node->inputs.size(); ++k) {
      PatternRef r = call.node->inputs[k];
      if (is_variable(r)) continue;
      auto operand = static_cast<size_t>(r.node);
      uint64_t edge = of_operand(*call.node->op, k, *side.calls[operand].node->op);
      all.push_back(edge);
      for (uint64_t g : given[operand]) all.push_back(combine(edge, g));
    }
  }
  return all;
}

RuleFilter::RuleFilter(const std::vector<std::unique_ptr<const Matchable>>& rules) {
  std::vector<std::pair<uint32_t, uint64_t>> frequency;  // and the feature, which decides ties
  for (uint32_t r = 0; r < rules.size(); ++r)
    for (auto d : {Matchable::Forward, Matchable::Backward}) {
      if (!rules[r]->usable(d)) continue;
      std::vector<uint64_t> own = rules[r]->features(d);
      std::sort(own.begin(), own.end());
      own.erase(std::unique(own.begin(), own.end()), own.end());
      auto first = static_cast<uint32_t>(features_.size());
      for (uint64_t f : own) {
        auto number = static_cast<uint32_t>(frequency.size());
        auto [at, fresh] = numbers_.try_emplace(f, number);
        if (fresh) frequency.emplace_back(0, f);
        ++frequency[at->second].first;
        features_.push_back(at->second);
      }
      entries_.push_back({{r, d}, first, static_cast<uint32_t>(features_.size())});
    }
  by_rarest_.resize(frequency.size());
  for (uint32_t e = 0; e < entries_.size(); ++e) {
    auto first = features_.begin() + entries_[e].first, last = features_.begin() + entries_[e].last;
    std::sort(first, last, [&](uint32_t a, uint32_t b) { return frequency[a] < frequency[b]; });
    if (first == last)
      unconditional_.push_back(e);
    else
      by_rarest_[*first].push_back(e);
  }
}

CandidateRules::CandidateRules(const RuleFilter& filter)
    : filter_(filter),
      present_(filter.by_rarest_.size(), 0),
      lacked_(filter.by_rarest_.size(), kNone) {
  for (uint32_t e : filter.unconditional_) all_.push_back(filter.entries_[e].directed);
}

/// An entry whose rarest feature is present: a candidate, or it waits for the next that is not.
void CandidateRules::wait_or_join(uint32_t entry) {
  const RuleFilter::Entry& e = filter_.entries_[entry];
  for (uint32_t k = e.first; k < e.last; ++k) {
    uint32_t feature = filter_.features_[k];
    if (present_[feature]) continue;
    waiting_.push_back({entry, lacked_[feature]});
    lacked_[feature] = static_cast<uint32_t>(waiting_.size() - 1);
    return;
  }
  all_.push_back(e.directed);
}

void CandidateRules::note(uint64_t feature) {
  auto at = filter_.numbers_.find(feature);
  if (at == filter_.numbers_.end() || present_[at->second]) return;
  present_[at->second] = 1;
  for (uint32_t e : filter_.by_rarest_[at->second]) wait_or_join(e);
  for (uint32_t w = lacked_[at->second]; w != kNone; w = waiting_[w].next)
    wait_or_join(waiting_[w].entry);
}

void CandidateRules::update(const SizedEGraph& graph, const TermSizes& sizes) {
  const EGraph& classes = graph.classes();
  auto given = [&](EValue v, uint64_t of) {
    const Attrs<int64_t>& attrs = graph.attrs(v);
    for (size_t k = 0; k < attrs.ints.size(); ++k) note(combine(of, of_list(k, attrs.ints[k])));
    for (size_t k = 0; k < attrs.reals.size(); ++k)
      note(combine(of, of_real(k, attrs.reals[k].value)));
  };
  // a class as operand has news when it has other calls than the last time
  std::vector<uint64_t> calls(graph.node_count(), 0);
  for (EValue c : sizes.classes())
    for (EValue v : classes.members(c))
      calls[static_cast<size_t>(c)] =
          combine(calls[static_cast<size_t>(c)], static_cast<uint64_t>(v));
  calls_.resize(graph.node_count(), 0);
  std::unordered_set<uint64_t> looked;  // a place and a class that stands there
  for (size_t n = 0; n < graph.node_count(); ++n) {
    auto v = static_cast<EValue>(n);
    const OpDef* op = classes.symbol(v).op;
    if (!op || classes.is_duplicate(v)) continue;
    bool fresh = n >= nodes_;
    if (fresh) {
      note(of_operator(*op));
      given(v, of_operator(*op));
    }
    auto operands = classes.operands(v);
    for (size_t k = 0; k < operands.size(); ++k) {
      auto operand = static_cast<size_t>(classes.find(operands[k]));
      if (!fresh && calls[operand] == calls_[operand]) continue;
      if (!looked.insert(combine(of_operand(*op, k, *op), operand)).second) continue;
      for (const OpDef* inner : sizes.operators(operands[k])) {
        uint64_t edge = of_operand(*op, k, *inner);
        note(edge);
        for (const TermSizes::Call& c : sizes.calls(operands[k], *inner)) given(c.value, edge);
      }
    }
  }
  nodes_ = graph.node_count();
  calls_ = std::move(calls);
  auto news = all_.begin() + static_cast<std::ptrdiff_t>(sorted_);
  std::sort(news, all_.end());
  std::inplace_merge(all_.begin(), news, all_.end());
  sorted_ = all_.size();
}

}  // namespace regraft::gen
