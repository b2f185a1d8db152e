#include "rewrite/symmetry.h"

#include <algorithm>
#include <functional>

#include "base/hash.h"

namespace regraft::rewrite {

namespace {

constexpr size_t kMaxSymmetries = 120;

/// Maps the left side onto itself in every way.
class SelfMatcher {
 public:
  explicit SelfMatcher(const Rule& rule)
      : rule_(rule),
        map_{std::vector<int32_t>(rule.lhs.nodes.size(), -1),
             std::vector<int32_t>(rule.variables.size(), -1)} {}

  std::vector<Symmetry> run() {
    place_output(0);
    return std::move(found_);
  }

 private:
  using Then = std::function<void()>;

  void place_output(size_t k) {
    const auto& outputs = rule_.lhs.outputs;
    if (found_.size() >= kMaxSymmetries) return;
    if (k == outputs.size()) {
      accept();
      return;
    }
    for (PatternRef other : outputs) match(outputs[k], other, [&] { place_output(k + 1); });
  }

  /// Calls `then` for each way in which `a` takes the part of `b`.
  void match(PatternRef a, PatternRef b, const Then& then) {
    if (is_variable(a) != is_variable(b)) return;
    if (is_variable(a)) return bind(map_.variables, variable_of(a), variable_of(b), then);
    if (a.output != b.output) return;
    const PatternNode& x = rule_.lhs.nodes[static_cast<size_t>(a.node)];
    const PatternNode& y = rule_.lhs.nodes[static_cast<size_t>(b.node)];
    if (x.op != y.op || x.inputs.size() != y.inputs.size()) return;
    if (map_.nodes[static_cast<size_t>(a.node)] == b.node) return then();
    bind(map_.nodes, a.node, b.node, [&] {
      match_all(x.inputs, y.inputs, 0, then);
      if (!x.op->commutative || y.inputs.size() < 2) return;
      std::vector<PatternRef> commuted = y.inputs;
      std::swap(commuted[0], commuted[1]);
      match_all(x.inputs, commuted, 0, then);
    });
  }

  void match_all(const std::vector<PatternRef>& a, const std::vector<PatternRef>& b, size_t k,
                 const Then& then) {
    if (k == a.size()) return then();
    match(a[k], b[k], [&] { match_all(a, b, k + 1, then); });
  }

  void bind(std::vector<int32_t>& map, int32_t from, int32_t to, const Then& then) {
    int32_t& bound = map[static_cast<size_t>(from)];
    if (bound == to) return then();
    if (bound >= 0 || std::find(map.begin(), map.end(), to) != map.end()) return;
    bound = to;
    then();
    map[static_cast<size_t>(from)] = -1;
  }

  void accept() {
    auto identity = [](const std::vector<int32_t>& map) {
      for (size_t k = 0; k < map.size(); ++k)
        if (map[k] != static_cast<int32_t>(k)) return false;
      return true;
    };
    auto total = [](const std::vector<int32_t>& map) {
      return std::find(map.begin(), map.end(), -1) == map.end();
    };
    if (!total(map_.nodes) || !total(map_.variables)) return;
    if (identity(map_.nodes) && identity(map_.variables)) return;
    auto same = [&](const Symmetry& s) {
      return s.nodes == map_.nodes && s.variables == map_.variables;
    };
    if (keeps_right_side() && std::none_of(found_.begin(), found_.end(), same))
      found_.push_back(map_);
  }

  /// The right side is the same but for the order of operands.
  bool keeps_right_side() const {
    std::vector<int32_t> same(rule_.variables.size());
    for (size_t v = 0; v < same.size(); ++v) same[v] = static_cast<int32_t>(v);
    return right_side(same) == right_side(map_.variables);
  }

  std::vector<uint64_t> right_side(const std::vector<int32_t>& variables) const {
    std::vector<uint64_t> hashes;
    auto hash_of = [&](PatternRef r) {
      return is_variable(r)
                 ? mix(static_cast<uint64_t>(variables[static_cast<size_t>(variable_of(r))]))
                 : hashes[static_cast<size_t>(r.node)];
    };
    for (const PatternNode& n : rule_.rhs.nodes) {
      std::vector<uint64_t> operands;
      for (PatternRef r : n.inputs) operands.push_back(hash_of(r));
      std::sort(operands.begin(), operands.end());
      uint64_t h = hash_text(n.op->name);
      for (uint64_t operand : operands) h = combine(h, operand);
      hashes.push_back(h);
    }
    std::vector<uint64_t> outputs;
    for (PatternRef r : rule_.rhs.outputs) outputs.push_back(hash_of(r));
    std::sort(outputs.begin(), outputs.end());
    return outputs;
  }

  const Rule& rule_;
  Symmetry map_;
  std::vector<Symmetry> found_;
};

}  // namespace

std::vector<Symmetry> symmetries(const Rule& rule) { return SelfMatcher(rule).run(); }

}  // namespace regraft::rewrite
