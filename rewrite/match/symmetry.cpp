#include "rewrite/match/symmetry.h"

#include <algorithm>
#include <functional>

#include "base/hash.h"

namespace regraft::rewrite {

namespace {

constexpr size_t kMaxSymmetries = 120;

/// Maps the left side onto itself in every way that keeps the right side.
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
    for (size_t other = 0; other < outputs.size(); ++other) {
      outputs_.resize(k);
      outputs_.push_back(other);
      match(outputs[k], outputs[other], [&] { place_output(k + 1); });
    }
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
    if (std::any_of(found_.begin(), found_.end(), same)) return;
    if (keeps_attributes() && keeps_right_side()) found_.push_back(map_);
  }

  bool keeps_attributes() const {
    const auto& nodes = rule_.lhs.nodes;
    for (size_t j = 0; j < nodes.size(); ++j)
      if (attributes(nodes[j], true) !=
          attributes(nodes[static_cast<size_t>(map_.nodes[j])], false))
        return false;
    return true;
  }

  bool keeps_right_side() const {
    auto before = right_side(false), after = right_side(true);
    for (size_t k = 0; k < after.size(); ++k)
      if (after[k] != before[outputs_[k]]) return false;
    return true;
  }

  int32_t image(int variable, bool exchanged) const {
    return exchanged ? map_.variables[static_cast<size_t>(variable)] : variable;
  }

  /// Sizes of variables are those of the ones whose part they take.
  uint64_t attributes(const PatternNode& n, bool exchanged) const {
    Substitution sizes;
    for (const auto& list : n.attrs.ints)
      for (const Poly& p : list) add_sizes(p, exchanged, sizes);
    Attrs<Poly> attrs = substitute(n.attrs, sizes);
    uint64_t h = hash(attrs);
    for (const auto* names : {&n.list_vars, &n.real_vars})
      for (const std::string& name : *names) h = combine(h, hash_text(name));
    for (const auto& term : n.axes) h = combine(h, hash_text(term ? to_string(*term) : ""));
    return h;
  }

  void add_sizes(const Poly& p, bool exchanged, Substitution& sizes) const {
    for (const auto& [monomial, coefficient] : p.terms())
      for (Var v : monomial) {
        if (v->numerator) add_sizes(*v->numerator, exchanged, sizes);
        if (v->denominator) add_sizes(*v->denominator, exchanged, sizes);
        if (v->numerator) continue;
        auto name = size_name(*v);
        auto at = size_at_axis(*v);
        if (!name && !at) continue;
        const auto& all = rule_.variables;
        const std::string& own = name ? name->variable : at->variable;
        auto place = std::find(all.begin(), all.end(), own) - all.begin();
        const auto& other = all[static_cast<size_t>(image(static_cast<int>(place), exchanged))];
        std::string axis = name ? "." + std::to_string(name->axis) : ".?" + at->axis;
        sizes[v] = Poly::symbol(rule_.pool->named(other + axis, v->min));
      }
  }

  /// A hash of each output.
  std::vector<uint64_t> right_side(bool exchanged) const {
    std::vector<uint64_t> hashes;
    auto hash_of = [&](PatternRef r) {
      return is_variable(r)
                 ? mix(static_cast<uint64_t>(image(variable_of(r), exchanged)))
                 : combine(hashes[static_cast<size_t>(r.node)], static_cast<uint64_t>(r.output));
    };
    for (const PatternNode& n : rule_.rhs.nodes) {
      uint64_t h = combine(hash_text(n.op->name), attributes(n, exchanged));
      std::vector<uint64_t> operands;
      for (PatternRef r : n.inputs) operands.push_back(hash_of(r));
      if (n.op->commutative && operands.size() >= 2 && operands[1] < operands[0])
        std::swap(operands[0], operands[1]);
      for (uint64_t operand : operands) h = combine(h, operand);
      hashes.push_back(h);
    }
    std::vector<uint64_t> outputs;
    for (PatternRef r : rule_.rhs.outputs) outputs.push_back(hash_of(r));
    return outputs;
  }

  const Rule& rule_;
  Symmetry map_;
  std::vector<size_t> outputs_;  // output k of the left side takes the part of outputs_[k]
  std::vector<Symmetry> found_;
};

}  // namespace

std::vector<Symmetry> symmetries(const Rule& rule) { return SelfMatcher(rule).run(); }

}  // namespace regraft::rewrite
