#include "rewrite/egraph/extract.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>

#include "base/check.h"
#include "rewrite/search/reporter.h"

namespace regraft::rewrite {

namespace {

size_t at(int32_t k) { return static_cast<size_t>(k); }

/// Follows a choice from the roots.
class Follower {
 public:
  Follower(const Choices& c, const std::vector<int32_t>& chosen)
      : c_(c), chosen_(chosen), state_(c.classes.size(), Unseen), paid_(c.nodes.size(), 0) {}

  std::optional<double> run() {
    for (int32_t root : c_.roots)
      if (!visit(root)) return std::nullopt;
    return cost_;
  }
  bool needed(size_t k) const { return state_[k] == Done; }

 private:
  enum State : uint8_t { Unseen, Open, Done };

  /// An explicit stack: chains of operands are as long as the graph is deep.
  bool visit(int32_t root) {
    if (state_[at(root)] == Done) return true;
    if (!open(root)) return false;
    while (!stack_.empty()) {
      auto& [k, next] = stack_.back();
      const auto& operands = c_.nodes[at(chosen_[at(k)])].operands;
      if (next == operands.size()) {
        state_[at(k)] = Done;
        stack_.pop_back();
        continue;
      }
      int32_t operand = operands[next++];
      if (state_[at(operand)] == Open) return false;
      if (state_[at(operand)] == Unseen && !open(operand)) return false;
    }
    return true;
  }

  bool open(int32_t k) {
    int32_t node = chosen_[at(k)];
    if (node < 0) return false;
    state_[at(k)] = Open;
    if (!paid_[at(node)]) cost_ += c_.nodes[at(node)].cost;
    paid_[at(node)] = 1;
    stack_.push_back({k, 0});
    return true;
  }

  const Choices& c_;
  const std::vector<int32_t>& chosen_;
  std::vector<State> state_;
  std::vector<char> paid_;
  std::vector<std::pair<int32_t, size_t>> stack_;
  double cost_ = 0;
};

std::optional<double> price_of(const Choices& c, const std::vector<int32_t>& chosen) {
  return Follower(c, chosen).run();
}

/// For each class by itself the cheapest set of nodes that computes it, as found by letting sets
/// grow from the leaves. What two operands share counts once.
class OneByOne {
 public:
  explicit OneByOne(const Choices& c)
      : c_(c), users_(c.classes.size()), sets_(c.classes.size()), costs_(c.classes.size(), -1) {
    for (size_t n = 0; n < c.nodes.size(); ++n)
      for (int32_t k : c.nodes[n].operands) users_[at(k)].push_back(static_cast<int32_t>(n));
  }

  std::vector<int32_t> run() {
    std::vector<int32_t> chosen(c_.classes.size(), -1);
    std::vector<char> waits(c_.nodes.size(), 1);
    std::deque<int32_t> waiting;
    for (size_t n = 0; n < c_.nodes.size(); ++n) waiting.push_back(static_cast<int32_t>(n));
    for (size_t effort = kEffort * c_.nodes.size(); effort > 0 && !waiting.empty(); --effort) {
      int32_t n = waiting.front();
      waiting.pop_front();
      waits[at(n)] = 0;
      if (!gather(n)) continue;
      for (int32_t k : c_.nodes[at(n)].outputs) {
        if (!improves(k)) continue;
        chosen[at(k)] = n;
        costs_[at(k)] = cost_;
        sets_[at(k)] = set_;
        for (int32_t user : users_[at(k)]) {
          if (!waits[at(user)]) waiting.push_back(user);
          waits[at(user)] = 1;
        }
      }
    }
    return chosen;
  }

  /// By class; below 0: there is no way.
  const std::vector<double>& costs() const { return costs_; }

 private:
  static constexpr size_t kEffort = 20;  ///< looks at each node, on average
  static constexpr double kLink = 1e-7;  ///< makes a set cost more than those that it contains

  /// The nodes that are needed for node n. False when an operand has no set yet.
  bool gather(int32_t n) {
    set_.assign(1, n);
    for (int32_t k : c_.nodes[at(n)].operands) {
      if (costs_[at(k)] < 0) return false;
      union_.clear();
      std::set_union(set_.begin(), set_.end(), sets_[at(k)].begin(), sets_[at(k)].end(),
                     std::back_inserter(union_));
      std::swap(set_, union_);
    }
    cost_ = 0;
    for (int32_t m : set_) cost_ += c_.nodes[at(m)].cost + kLink;
    return true;
  }

  bool improves(int32_t k) const { return costs_[at(k)] < 0 || cost_ < costs_[at(k)]; }

  const Choices& c_;
  std::vector<std::vector<int32_t>> users_, sets_;
  std::vector<double> costs_;
  std::vector<int32_t> set_, union_;
  double cost_ = 0;
};

constexpr size_t kMaxEffort = 400000000;  ///< classes and nodes looked at to improve a choice

/// Makes a choice cheaper node by node.
class Improver {
 public:
  /// `alone`: what each class costs by itself. `chosen` has a price.
  Improver(const Choices& c, const std::vector<double>& alone, std::vector<int32_t>& chosen)
      : c_(c),
        alone_(alone),
        chosen_(chosen),
        looks_(kMaxEffort / std::max<size_t>(c.classes.size() + c.nodes.size(), 1)) {}

  double run() {
    look();
    for (bool better = true; better && looks_ > 0;) {
      better = false;
      prepare();
      for (size_t n = 0; n < c_.nodes.size() && looks_ > 0; ++n)
        better = change_to(static_cast<int32_t>(n)) || better;
    }
    return cost_;
  }

 private:
  /// True when the choice, as it is now, is possible and cheaper than the last.
  bool look() {
    Follower follower(c_, chosen_);
    auto cost = follower.run();
    if (!cost || (!needed_.empty() && !cheaper(*cost, cost_))) return false;
    cost_ = *cost;
    needed_.clear();
    for (size_t k = 0; k < c_.classes.size(); ++k) needed_.push_back(follower.needed(k));
    return true;
  }

  /// Chooses for the classes that are not needed what costs least where those that are needed cost
  /// nothing.
  void prepare() {
    constexpr int kSweeps = 8;
    std::vector<double> extra = alone_;
    for (size_t k = 0; k < extra.size(); ++k)
      if (needed_[k]) extra[k] = 0;
    bool changed = true;
    for (int sweep = 0; changed && sweep < kSweeps; ++sweep) {
      changed = false;
      for (size_t n = 0; n < c_.nodes.size(); ++n) {
        double cost = c_.nodes[n].cost;
        for (int32_t k : c_.nodes[n].operands) cost += extra[at(k)] < 0 ? INFINITY : extra[at(k)];
        for (int32_t k : c_.nodes[n].outputs) {
          if (needed_[at(k)] || extra[at(k)] < 0 || !cheaper(cost, extra[at(k)])) continue;
          extra[at(k)] = cost;
          chosen_[at(k)] = static_cast<int32_t>(n);
          changed = true;
        }
      }
    }
  }

  /// Lets one node compute all that is needed of its outputs, if that pays.
  bool change_to(int32_t n) {
    std::vector<std::pair<int32_t, int32_t>> before;
    for (int32_t k : c_.nodes[at(n)].outputs) {
      if (!needed_[at(k)] || chosen_[at(k)] == n) continue;
      before.push_back({k, chosen_[at(k)]});
      chosen_[at(k)] = n;
    }
    if (before.empty()) return false;
    --looks_;
    if (look()) return true;
    for (auto [k, node] : before) chosen_[at(k)] = node;
    return false;
  }

  const Choices& c_;
  const std::vector<double>& alone_;
  std::vector<int32_t>& chosen_;
  size_t looks_;
  std::vector<char> needed_;  // by class
  double cost_ = 0;
};

using Bits = std::vector<uint64_t>;

/// Decides one class after the other. A partial choice is given up when what it costs and what is
/// still needed in any case add up to no less than the best.
class BranchAndBound {
 public:
  BranchAndBound(const Choices& c, Extraction& best, uint64_t steps)
      : c_(c),
        best_(best),
        steps_(steps),
        chosen_(c.classes.size(), -1),
        paid_(c.nodes.size(), 0),
        computed_(c.nodes.size()),
        settlers_(c.classes.size(), 0),
        seen_(c.classes.size(), 0),
        words_((c.classes.size() + 63) / 64),
        settled_(words_, 0) {
    for (size_t k = 0; k < c.classes.size(); ++k)
      for (int32_t n : c.classes[k]) computed_[at(n)].push_back(static_cast<int32_t>(k));
  }

  void run() {
    share_costs();
    find_musts();
    std::vector<int32_t> wanted;
    for (int32_t root : c_.roots)
      if (std::find(wanted.begin(), wanted.end(), root) == wanted.end()) wanted.push_back(root);
    best_.optimal = branch(wanted, 0);
  }

 private:
  bool has(const Bits& bits, size_t k) const { return bits[k / 64] >> (k % 64) & 1; }

  /// A class costs at least the cheapest of its nodes, divided by that node's outputs.
  void share_costs() {
    for (const auto& nodes : c_.classes) {
      double least = nodes.empty() ? 0 : INFINITY;
      for (int32_t n : nodes) {
        const Choices::Node& node = c_.nodes[at(n)];
        least = std::min(least, node.cost / static_cast<double>(node.outputs.size()));
      }
      share_.push_back(least);
    }
  }

  /// must_[k]: the classes that every way to compute k needs. The greatest solution of: itself, and
  /// what all its nodes need of their operands.
  void find_musts() {
    must_.assign(c_.classes.size(), Bits(words_, ~uint64_t{0}));
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t k = c_.classes.size(); k-- > 0;) {
        Bits common(words_, c_.classes[k].empty() ? 0 : ~uint64_t{0});
        for (int32_t n : c_.classes[k]) {
          Bits all(words_, 0);
          for (int32_t operand : c_.nodes[at(n)].operands)
            for (size_t w = 0; w < words_; ++w) all[w] |= must_[at(operand)][w];
          for (size_t w = 0; w < words_; ++w) common[w] &= all[w];
        }
        common[k / 64] |= uint64_t{1} << (k % 64);
        if (common == must_[k]) continue;
        must_[k] = std::move(common);
        changed = true;
      }
    }
  }

  /// What is still to be paid at least.
  double bound(const std::vector<int32_t>& wanted) {
    all_.assign(words_, 0);
    for (int32_t k : wanted)
      for (size_t w = 0; w < words_; ++w) all_[w] |= must_[at(k)][w];
    double sum = 0;
    for (size_t w = 0; w < words_; ++w)
      for (uint64_t rest = all_[w] & ~settled_[w]; rest != 0; rest &= rest - 1)
        sum += share_[64 * w + static_cast<size_t>(std::countr_zero(rest))];
    return sum;
  }

  /// A class is settled when it is decided, or one of its nodes is paid.
  void settle(size_t k, int change) {
    settlers_[k] += change;
    const uint64_t bit = uint64_t{1} << (k % 64);
    settled_[k / 64] = settlers_[k] > 0 ? settled_[k / 64] | bit : settled_[k / 64] & ~bit;
  }
  void choose(int32_t k, int32_t n) {
    chosen_[at(k)] = n;
    settle(at(k), 1);
    if (paid_[at(n)]++ == 0)
      for (int32_t out : computed_[at(n)]) settle(at(out), 1);
  }
  void take_back(int32_t k, int32_t n) {
    if (--paid_[at(n)] == 0)
      for (int32_t out : computed_[at(n)]) settle(at(out), -1);
    settle(at(k), -1);
    chosen_[at(k)] = -1;
  }

  /// Whether class `from` needs class `to` by what is decided. What was seen in this round does
  /// not.
  bool needs(int32_t from, int32_t to) {
    stack_.assign(1, from);
    while (!stack_.empty()) {
      int32_t k = stack_.back();
      stack_.pop_back();
      if (k == to) return true;
      if (chosen_[at(k)] < 0 || seen_[at(k)] == round_) continue;
      seen_[at(k)] = round_;
      const auto& operands = c_.nodes[at(chosen_[at(k)])].operands;
      stack_.insert(stack_.end(), operands.begin(), operands.end());
    }
    return false;
  }

  /// The nodes that may compute class k without needing it, the cheapest first.
  std::vector<int32_t> ways_of(int32_t k) {
    ++round_;
    std::vector<int32_t> ways;
    for (int32_t n : c_.classes[at(k)]) {
      const auto& operands = c_.nodes[at(n)].operands;
      if (std::any_of(operands.begin(), operands.end(), [&](int32_t o) { return needs(o, k); }))
        ++round_;  // it was left before all was seen
      else
        ways.push_back(n);
    }
    std::stable_sort(ways.begin(), ways.end(),
                     [&](int32_t a, int32_t b) { return added(a) < added(b); });
    return ways;
  }

  /// The wanted class with the fewest ways.
  static size_t hardest(const Choices& c, const std::vector<int32_t>& wanted) {
    size_t best = 0;
    for (size_t k = 1; k < wanted.size(); ++k)
      if (c.classes[at(wanted[k])].size() < c.classes[at(wanted[best])].size()) best = k;
    return best;
  }

  /// `wanted`: classes needed and not decided. False: out of steps.
  bool branch(std::vector<int32_t> wanted, double cost) {
    if (!cheaper(cost + bound(wanted), best_.cost)) return true;
    if (wanted.empty()) {
      best_.cost = cost;
      best_.chosen = chosen_;
      return true;
    }
    if (steps_ == 0) return false;
    --steps_;
    size_t place = hardest(c_, wanted);
    int32_t k = wanted[place];
    wanted.erase(wanted.begin() + static_cast<std::ptrdiff_t>(place));
    for (int32_t n : ways_of(k))
      if (!decide(k, n, wanted, cost)) return false;
    return true;
  }

  double added(int32_t n) const { return paid_[at(n)] > 0 ? 0 : c_.nodes[at(n)].cost; }

  bool decide(int32_t k, int32_t n, std::vector<int32_t> wanted, double cost) {
    const auto& operands = c_.nodes[at(n)].operands;
    for (int32_t operand : operands) {
      bool known = chosen_[at(operand)] >= 0 ||
                   std::find(wanted.begin(), wanted.end(), operand) != wanted.end();
      if (!known) wanted.push_back(operand);
    }
    cost += added(n);
    choose(k, n);
    bool finished = branch(std::move(wanted), cost);
    take_back(k, n);
    return finished;
  }

  const Choices& c_;
  Extraction& best_;
  uint64_t steps_;
  std::vector<int32_t> chosen_;
  std::vector<int32_t> paid_;                   // by node: classes that chose it
  std::vector<std::vector<int32_t>> computed_;  // by node: classes
  std::vector<int> settlers_;                   // by class: what settles it
  std::vector<uint64_t> seen_;                  // by class: round
  std::vector<int32_t> stack_;
  uint64_t round_ = 0;
  size_t words_;
  Bits all_, settled_;
  std::vector<double> share_;
  std::vector<Bits> must_;
};

/// Above this, what branch and bound keeps of each pair of classes is too much.
constexpr size_t kMaxProved = 6000;

}  // namespace

std::optional<double> price(const Choices& c, std::vector<int32_t>& chosen) {
  Follower follower(c, chosen);
  auto cost = follower.run();
  if (!cost) return std::nullopt;
  for (size_t k = 0; k < chosen.size(); ++k)
    if (!follower.needed(k)) chosen[k] = -1;
  return cost;
}

Extraction extract(const Choices& c, std::vector<int32_t> start, uint64_t steps) {
  CHECK(price_of(c, start).has_value());
  OneByOne one_by_one(c);
  std::vector<int32_t> alone = one_by_one.run();
  for (size_t k = 0; k < start.size(); ++k)
    if (start[k] < 0) start[k] = alone[k];
  Extraction best{{}, Improver(c, one_by_one.costs(), start).run(), false};
  best.chosen = std::move(start);
  if (price_of(c, alone)) {
    double cost = Improver(c, one_by_one.costs(), alone).run();
    if (cheaper(cost, best.cost)) best = {alone, cost, false};
  }
  if (c.classes.size() <= kMaxProved) BranchAndBound(c, best, steps).run();
  price(c, best.chosen);
  return best;
}

}  // namespace regraft::rewrite
