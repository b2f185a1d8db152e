#include "verify/model/sweep.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "verify/model/congruence.h"
#include "verify/model/constant_merges.h"
#include "verify/model/equal_sizes.h"

namespace regraft::verify {
namespace {

constexpr size_t kCandidates = 4;  // values of the first model that one of the second may equal
constexpr int kMostPasses = 60;    // over the second model

/// A way in which a merge may be shown.
struct Way {
  Value a;
  Reach reach = Reach::Shared;
  Numbers numbers = Numbers::AsTheyAre;
};

class Sweeper {
 public:
  Sweeper(const Pair& pair, const SweepOptions& options, const Stop& stop)
      : pair_(pair),
        g_(pair.graph),
        options_(options),
        stop_(stop),
        constant_(constant_nodes(g_)),
        number_(numbers_of(g_)),
        operands_(static_cast<size_t>(g_.id_bound())),
        base_(g_),
        sizes_(pair) {}

  Status start() {
    ASSIGN_OR_RETURN(order_, topological_order(g_));
    shared_at_start_.assign(static_cast<size_t>(g_.id_bound()), 0);
    for (int32_t id : order_) {
      if (id < pair_.first_b) {
        operands_[static_cast<size_t>(id)] = g_.node(id).inputs;
        base_.add(id, g_.node(id).inputs);
        if (is_impure(g_.node(id))) impure_.emplace(g_.node(id).content, id);
        continue;
      }
      for (Value v : g_.node(id).inputs) shared_at_start_[static_cast<size_t>(v.node)] = 1;
    }
    for (int32_t id = pair_.first_derived; id < g_.id_bound(); ++id)
      operands_[static_cast<size_t>(id)] = g_.node(id).inputs;
    for (int32_t id : pair_.from_b)
      if (id >= 0 && id < pair_.first_b && is_impure(g_.node(id))) taken_at_start_.insert(id);
    for (Value v : pair_.b) shared_at_start_[static_cast<size_t>(v.node)] = 1;
    return {};
  }

  /// Every way that close fingerprints suggest.
  Status guess(const std::vector<std::vector<Fingerprint>>& prints);
  void know(std::map<std::string, Judged> judged) {
    judged_ = std::move(judged);
    for (auto& [key, j] : judged_) j.count = 0;
  }
  bool enough_failures() const {
    return options_.most_failures > 0 && failures_ >= options_.most_failures;
  }
  /// Those of the merges, and no others.
  Status take(const std::vector<Merge>& merges);
  void run();
  SweepReport report();

 private:
  bool is_b(Value v) const { return pair_.is_b(v); }
  Value named(Value v) const {
    auto it = names_.find(v);
    return it == names_.end() ? v : it->second;
  }
  bool is_shared(Value v) const { return !is_b(v) && (shared_[static_cast<size_t>(v.node)] != 0); }
  void suggest(Value b, Value a) {
    for (int r = 0; r < kReaches; ++r)
      for (Numbers n : {Numbers::AsTheyAre, Numbers::Explained})
        if (n == Numbers::AsTheyAre || options_.constants)
          ways_[b].push_back({a, static_cast<Reach>(r), n});
  }
  void note_constant(Value b, Value a, const Deviation& d) {
    constants_.emplace(b,
                       Merge{Merge::Constant, b, a, Reach::Shared, Numbers::AsTheyAre, {}, {}, d});
  }
  void pass();
  Value named_now(Value v);
  void visit(int32_t id);
  void merge(Value b, const Value* only = nullptr);
  void merge_output(size_t k);
  static bool is_impure(const Node& n) { return n.kind == NodeKind::Opaque && !n.pure && !n.sizes; }
  int32_t take_impure(const Node& n, const std::vector<Value>& operands);
  bool equal_outputs(size_t k) const {
    Value b = named(pair_.b[k]);
    return b == pair_.a[k] || joined_.count({b, pair_.a[k]}) > 0;
  }
  void name(Value b, Value a) {
    if (!is_b(b)) {
      joined_.emplace(b, a);
      return;
    }
    names_[b] = a;
    shared_[static_cast<size_t>(a.node)] = 1;
    sizes_.note(b, a);
  }
  std::optional<Window> window(Value b, const Way& way) const;
  std::set<Value> frontier_of(const std::vector<int32_t>& calls) const;

  const Pair& pair_;
  const Graph& g_;
  const SweepOptions& options_;
  const Stop& stop_;
  const std::vector<char> constant_;
  const std::vector<std::optional<double>> number_;
  Operands operands_;
  Congruence base_;  // the first model
  std::vector<int32_t> order_;
  std::vector<char> shared_at_start_;      // by node
  std::multimap<Digest, int32_t> impure_;  // nodes of the first model
  std::set<int32_t> taken_at_start_;       // of these: the second model has them as they are
  std::map<Value, std::vector<Way>> ways_;
  std::map<Value, Merge> constants_;
  std::map<std::string, Judged> judged_;
  mutable Shifted shifted_;
  bool final_ = false;     // no more windows are judged
  bool guessing_ = false;  // which values are equal
  size_t failures_ = 0;    // merges that no window proved

  // Of one pass.
  EqualSizes sizes_;
  std::optional<Congruence> known_;
  std::map<Value, Value> names_;              // of values of the second model
  std::set<std::pair<Value, Value>> joined_;  // of the first model
  std::set<int32_t> taken_;
  std::vector<char> shared_;
  std::vector<Merge> merges_;
  std::vector<Open> open_;
  std::vector<Ways> tasks_;
  std::set<std::string> planned_;  // keys in tasks_
};

Status Sweeper::guess(const std::vector<std::vector<Fingerprint>>& prints) {
  guessing_ = true;
  std::vector<std::pair<double, Value>> calls;
  auto print = [&](Value v) -> const Fingerprint& {
    static const Fingerprint none;
    const auto& all = prints[static_cast<size_t>(v.node)];
    return static_cast<size_t>(v.output) < all.size() ? all[static_cast<size_t>(v.output)] : none;
  };
  for (int32_t id : order_) {
    if (id >= pair_.first_b) continue;
    for (int32_t k = 0; k < static_cast<int32_t>(g_.node(id).types.size()); ++k)
      if (Value v{id, k}; print(v).known && !constant_[static_cast<size_t>(id)])
        calls.emplace_back(print(v).sum, v);
  }
  std::ranges::sort(calls);
  if (options_.constants) {
    ASSIGN_OR_RETURN(auto merges, constant_merges(pair_, prints, stop_));
    for (Merge& m : merges) constants_.emplace(m.b, std::move(m));
  }
  std::map<std::string, Value> by_name;
  for (int32_t id : order_)
    if (id < pair_.first_b)
      for (size_t k = 0; k < g_.node(id).names.size(); ++k)
        by_name.emplace(g_.node(id).names[k], Value{id, static_cast<int32_t>(k)});
  for (int32_t id : order_) {
    const Node& n = g_.node(id);
    if (id < pair_.first_b || constant_[static_cast<size_t>(id)] || n.kind != NodeKind::Call)
      continue;
    for (int32_t k = 0; k < static_cast<int32_t>(n.types.size()); ++k) {
      Value b{id, k};
      std::vector<std::pair<int, Value>> found;
      double u = roundoff(g_.type(b).dtype);
      double near = 2 * 64 * u * std::max(print(b).magnitude, 1e-300) + 1e-12;
      auto it = std::ranges::lower_bound(calls, std::pair(print(b).sum - near, Value{}));
      for (; print(b).known && it != calls.end() && it->first <= print(b).sum + near; ++it)
        if (close(print(it->second), print(b), u)) {
          bool alike = g_.node(it->second.node).op == n.op;
          found.emplace_back(alike ? 0 : 1, it->second);
        }
      for (size_t o = 0; o < pair_.b.size(); ++o)
        if (pair_.b[o] == b && (!print(b).known || !print(pair_.a[o]).known))
          found.emplace_back(-1, pair_.a[o]);
      if (!print(b).known && static_cast<size_t>(k) < n.names.size())
        if (auto same = by_name.find(n.names[static_cast<size_t>(k)]); same != by_name.end())
          if (!print(same->second).known) found.emplace_back(0, same->second);
      std::ranges::sort(found);
      if (found.size() > kCandidates) found.resize(kCandidates);
      for (auto& [order, a] : found) suggest(b, a);
    }
  }
  return {};
}

Status Sweeper::take(const std::vector<Merge>& merges) {
  for (const Merge& m : merges) {
    auto exists = [&](Value v, bool b) {
      return v.node >= 0 && v.node < g_.id_bound() && g_.contains(v.node) && is_b(v) == b &&
             v.output >= 0 && static_cast<size_t>(v.output) < g_.node(v.node).types.size();
    };
    bool of_a = m.kind == Merge::Proof && exists(m.b, false);  // an output of the second is that
    if (!exists(m.a, false) || !(of_a || exists(m.b, true)))
      return error("a merge of values that are not there");
    if (m.kind == Merge::Proof) {
      if (m.numbers == Numbers::Explained && !options_.constants)
        return error("a number that is rounded, where none may be");
      ways_[m.b].push_back({m.a, m.reach, m.numbers});
      continue;
    }
    bool both =
        constant_[static_cast<size_t>(m.a.node)] && constant_[static_cast<size_t>(m.b.node)];
    if (!both || g_.type(m.a).dtype != g_.type(m.b).dtype)
      return error("a merge of constants that are none");
    ASSIGN_OR_RETURN(auto d, deviation(g_, m.a, m.b, stop_));
    if (!d || !d->explained()) return error("a constant that rounding does not explain");
    if (d->deviation > 0 && !options_.constants)
      return error("a constant that is rounded, where none may be");
    note_constant(m.b, m.a, *d);
  }
  return {};
}

/// What the calls read from elsewhere and is no constant.
std::set<Value> Sweeper::frontier_of(const std::vector<int32_t>& calls) const {
  std::set<int32_t> inside(calls.begin(), calls.end());
  std::set<Value> frontier;
  for (int32_t id : calls)
    for (Value v : operands_[static_cast<size_t>(id)])
      if (inside.count(v.node) == 0 && g_.node(v.node).kind != NodeKind::Constant)
        frontier.insert(v);
  return frontier;
}

std::optional<Window> Sweeper::window(Value b, const Way& way) const {
  const Cut cut{g_, operands_, number_, pair_.first_b, &shifted_, &sizes_.known()};
  std::set<Value> expanded;
  auto ends = [&](Value v) {
    return !is_b(v) && !pair_.is_derived(v.node) && expanded.count(v) == 0;
  };
  if (!is_b(b) && way.reach > Reach::Frontier) expanded.insert(b);
  auto right = cone(cut, b, ends, options_.most_calls);
  int further = way.reach == Reach::Wider ? 1 : way.reach == Reach::Widest ? 3 : 0;
  for (int k = 0; right && k < further; ++k) {
    for (Value v : frontier_of(*right)) expanded.insert(v);
    right = cone(cut, b, ends, options_.most_calls);
  }
  if (!right) return std::nullopt;
  std::set<Value> inputs = frontier_of(*right);
  if (right->empty()) inputs.insert(b);
  auto left = cone(
      cut, way.a,
      [&](Value v) {
        return v != way.a && (inputs.count(v) > 0 || (way.reach == Reach::Shared && is_shared(v)));
      },
      options_.most_calls);
  if (!left) return std::nullopt;
  return make_window(cut, way.a, b, *std::move(left), *std::move(right), way.numbers);
}

/// Looks for a way to show that b is one of the first model's values. What is not judged yet
/// becomes a task, and counts as shown in this pass.
void Sweeper::merge(Value b, const Value* only) {
  auto ways = ways_.find(b);
  if (ways == ways_.end()) return;
  Ways task;
  std::set<std::string> tried;
  std::optional<Open> open;
  for (const Way& way : ways->second) {
    if (only != nullptr && way.a != *only) continue;
    auto w = window(b, way);
    if (!w || (way.numbers == Numbers::Explained && w->explained.empty())) continue;
    if (!tried.insert(w->key).second) continue;
    auto known = judged_.find(w->key);
    if (known == judged_.end() && final_) continue;
    if (known == judged_.end()) {
      if (task.windows.empty()) name(b, way.a);
      task.windows.push_back(*std::move(w));
      continue;
    }
    if (!task.windows.empty()) continue;  // others are tried first
    if (is_for_all_sizes(known->second.verdict.kind)) {
      name(b, way.a);
      merges_.push_back({Merge::Proof, b, way.a, way.reach, way.numbers, w->key, w->text, {}});
      known->second.window.left = w->left;  // earlier sweeps were of other graphs
      known->second.window.right = w->right;
      return;
    }
    if (!open) open = {b, way.a, w->left, w->right, w->text, known->second.verdict.detail};
  }
  if (task.windows.empty()) {
    if (open) open_.push_back(*std::move(open));
    return;
  }
  bool planned =
      std::ranges::all_of(task.windows, [&](const Window& w) { return planned_.count(w.key) > 0; });
  for (const Window& w : task.windows) planned_.insert(w.key);
  if (!planned) tasks_.push_back(std::move(task));
}

/// An output of the second model may be a value of the first that is not the output there.
void Sweeper::merge_output(size_t k) {
  Value a = pair_.a[k], b = named(pair_.b[k]);
  if (is_b(b) || b == a || joined_.count({b, a}) > 0) return;
  auto known = ways_.find(b);
  bool suggested = known != ways_.end() &&
                   std::ranges::any_of(known->second, [&](const Way& w) { return w.a == a; });
  if (guessing_ && !suggested) suggest(b, a);
  merge(b, &a);
}

/// A node of the first model that stands for no other one of the second yet.
int32_t Sweeper::take_impure(const Node& n, const std::vector<Value>& operands) {
  auto [begin, end] = impure_.equal_range(n.content);
  for (auto it = begin; it != end; ++it) {
    const Node& other = g_.node(it->second);
    bool fits = same_opaque(other, n) && n.types.size() <= other.types.size() &&
                operands_[static_cast<size_t>(it->second)] == operands;
    if (fits && taken_.insert(it->second).second) return it->second;
  }
  return -1;
}

/// What computes with sizes comes before it is known what these are.
Value Sweeper::named_now(Value v) {
  const Node& n = g_.node(v.node);
  if (!is_b(v) || !n.sizes || names_.count(v) > 0) return named(v);
  if (auto leaf = sizes_.rewritten(n))
    if (int32_t same = known_->find(*leaf, {}); same >= 0 && same != v.node) {
      Value twin = named({same, v.output});
      if (!is_b(twin)) name(v, twin);
    }
  return named(v);
}

void Sweeper::visit(int32_t id) {
  const std::optional<Node> rewritten = sizes_.rewritten(g_.node(id));
  const Node& n = rewritten ? *rewritten : g_.node(id);
  auto& operands = operands_[static_cast<size_t>(id)] = n.inputs;
  for (Value& v : operands) v = named_now(v);
  for (int32_t k = 0; k < static_cast<int32_t>(n.types.size()); ++k)
    if (auto it = constants_.find({id, k}); it != constants_.end()) {
      name({id, k}, it->second.a);
      merges_.push_back(it->second);
    }
  if (int32_t same = is_impure(n) ? take_impure(n, operands) : known_->find(n, operands);
      same >= 0) {
    size_t outputs = std::min(n.types.size(), g_.node(same).types.size());
    for (int32_t k = 0; k < static_cast<int32_t>(outputs); ++k)
      if (names_.count({id, k}) == 0) {
        Value twin = named({same, k});
        if (is_b(twin))
          names_[{id, k}] = twin;
        else
          name({id, k}, twin);
      }
    return;
  }
  known_->add(id, operands);
  if (n.kind != NodeKind::Call || constant_[static_cast<size_t>(id)]) return;
  for (int32_t k = 0; k < static_cast<int32_t>(n.types.size()); ++k) merge({id, k});
}

void Sweeper::pass() {
  known_.emplace(base_);
  names_.clear();
  joined_.clear();
  taken_ = taken_at_start_;
  merges_.clear();
  open_.clear();
  tasks_.clear();
  planned_.clear();
  shared_ = shared_at_start_;
  sizes_.clear();
  for (int32_t id : order_)
    if (id >= pair_.first_b) visit(id);
  for (size_t k = 0; k < pair_.a.size(); ++k) merge_output(k);
}

void Sweeper::run() {
  for (int k = 0; k < kMostPasses && !stop_.must_end() && !enough_failures(); ++k) {
    pass();
    if (tasks_.empty() && !sizes_.contradicted()) return;
    failures_ +=
        judge(tasks_, judged_, {options_.threads, options_.effort, options_.most_failures}, stop_);
  }
  final_ = true;  // what is not shown by now stays open
  do pass();
  while (sizes_.contradicted());
}

SweepReport Sweeper::report() {
  SweepReport r;
  // A value rests on rounding where something that it is computed from does.
  std::vector<char> by_proof(static_cast<size_t>(g_.id_bound()), 0), rounded = by_proof;
  std::map<Value, const Merge*> merged;
  for (const Merge& m : merges_)
    if (is_b(m.b)) merged[m.b] = &m;
  auto rounds = [&](const Merge& m) {
    return m.kind == Merge::Constant ? m.deviation.deviation > 0
                                     : !judged_.at(m.key).window.explained.empty();
  };
  for (int32_t id : order_) {
    if (id < pair_.first_b) continue;
    auto k = static_cast<size_t>(id);
    for (Value v : g_.node(id).inputs) {
      by_proof[k] |= by_proof[static_cast<size_t>(v.node)];
      rounded[k] |= rounded[static_cast<size_t>(v.node)];
    }
    for (int32_t o = 0; o < static_cast<int32_t>(g_.node(id).types.size()); ++o) {
      auto it = merged.find({id, o});
      if (it == merged.end()) continue;
      by_proof[k] = 1;
      if (rounds(*it->second)) rounded[k] = 1;
    }
  }
  // Sizes that were found may be anywhere: what they follow from counts for all outputs.
  bool sized = !sizes_.reasons().empty(), rounded_sizes = false;
  for (Value v : sizes_.reasons())
    rounded_sizes = rounded_sizes || rounded[static_cast<size_t>(v.node)] != 0;
  for (size_t k = 0; k < pair_.a.size(); ++k) {
    auto node = static_cast<size_t>(pair_.b[k].node);
    bool equal = equal_outputs(k), proof = by_proof[node] != 0 || sized,
         rounding = rounded[node] != 0 || rounded_sizes;
    for (const Merge& m : merges_)
      if (!is_b(m.b) && m.a == pair_.a[k] && m.b == named(pair_.b[k]))
        proof = true, rounding = rounding || rounds(m);
    r.outputs.push_back(!equal     ? SweepReport::Unproved
                        : rounding ? SweepReport::Rounded
                        : proof    ? SweepReport::Windows
                                   : SweepReport::Structure);
  }
  for (int32_t id : order_) {
    if (id < pair_.first_b || names_.count({id, 0}) > 0) continue;
    const auto& operands = operands_[static_cast<size_t>(id)];
    if (std::ranges::none_of(operands, [&](Value v) { return is_b(v); })) r.apart.push_back(id);
  }
  for (const Merge& m : merges_)
    if (m.kind == Merge::Proof) ++judged_.at(m.key).count;
  r.merges = std::move(merges_);
  r.windows = std::move(judged_);
  r.open = std::move(open_);
  return r;
}

}  // namespace

Result<SweepReport> sweep(const Pair& pair, const std::vector<std::vector<Fingerprint>>& prints,
                          std::map<std::string, Judged> judged, const SweepOptions& options,
                          const Stop& stop) {
  Sweeper sweeper(pair, options, stop);
  sweeper.know(std::move(judged));
  RETURN_IF_ERROR(sweeper.start());
  RETURN_IF_ERROR(sweeper.guess(prints));
  sweeper.run();
  return sweeper.report();
}

Result<SweepReport> check_merges(const Pair& pair, const std::vector<Merge>& merges,
                                 const SweepOptions& options, const Stop& stop) {
  Sweeper sweeper(pair, options, stop);
  RETURN_IF_ERROR(sweeper.start());
  RETURN_IF_ERROR(sweeper.take(merges));
  sweeper.run();
  return sweeper.report();
}

}  // namespace regraft::verify
