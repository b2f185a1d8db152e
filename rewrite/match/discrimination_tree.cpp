#include "rewrite/match/discrimination_tree.h"

#include <algorithm>

#include "base/check.h"
#include "ir/rule/pattern.h"

namespace regraft::rewrite {

namespace {

constexpr size_t kFew = 16;  ///< readers that are looked at in their own order

bool has_variable(const std::vector<std::string>& variables, size_t k) {
  return k < variables.size() && !variables[k].empty();
}

/// The numbers that attribute k of a pattern node demands; empty: none.
std::vector<int64_t> demanded(const PatternNode& node, size_t k) {
  const IntAttr& attr = node.op->ints[k];
  if (has_variable(node.list_vars, k) || axis_term(node, k)) return {};
  std::vector<int64_t> numbers;
  if (node.attrs.ints[k].empty() && attr.fallback) return {*attr.fallback};
  for (const Poly& p : node.attrs.ints[k])
    numbers.push_back(p.is_constant() ? p.constant() : kNoNumber);
  return numbers;
}

}  // namespace

/// Adds the left side of one rule to a tree, starting at one of its outputs.
class Compiler {
 public:
  Compiler(DiscriminationTree::Tree& tree, const CompiledRule& rule, int32_t number)
      : tree_(tree),
        lhs_(rule.rule.lhs),
        number_(number),
        entered_(lhs_.nodes.size(), -1),
        registers_(rule.rule.variables.size(), -1) {}

  void run(size_t first_output) {
    PatternRef root = lhs_.outputs[first_output];
    registers_used_ = 1;
    enter(root, 0);
    for (PatternRef out : lhs_.outputs)
      if (entered_[static_cast<size_t>(out.node)] < 0) enter_other(out);
    tree_.branches[static_cast<size_t>(at_)].accepts.push_back({number_, entered_, registers_});
  }

 private:
  using Step = DiscriminationTree::Step;

  void emit(Step step) {
    auto& next = at_ < 0 ? tree_.roots[step.op] : tree_.branches[static_cast<size_t>(at_)].next;
    for (const DiscriminationTree::Next& n : next)
      if (tree_.branches[static_cast<size_t>(n.branch)].step == step) {
        at_ = n.branch;
        return;
      }
    at_ = static_cast<int32_t>(tree_.branches.size());
    next.push_back({at_, step.kind == Step::Enter ? step.reg : -1, step.op});
    tree_.branches.push_back({std::move(step), {}, {}, {}});
  }

  void enter(PatternRef ref, int32_t reg) {
    auto index = static_cast<size_t>(ref.node);
    const PatternNode& node = lhs_.nodes[index];
    Step step;
    step.kind = node.inputs.empty() ? Step::Maker : Step::Enter;
    step.reg = reg;
    step.op = node.op;
    step.arity = static_cast<int32_t>(node.inputs.size());
    step.output = ref.output;
    emit(step);
    entered_[index] = entered_count_++;
    if (!node.inputs.empty()) compare_attributes(node, entered_[index]);
    int32_t base = registers_used_;
    registers_used_ += step.arity;
    CHECK(registers_used_ < static_cast<int32_t>(DiscriminationTree::kMaxRegisters));
    for (size_t k = 0; k < node.inputs.size(); ++k)
      bind(node.inputs[k], base + static_cast<int32_t>(k));
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      PatternRef r = node.inputs[k];
      if (is_variable(r)) continue;
      int32_t operand = base + static_cast<int32_t>(k);
      if (entered_[static_cast<size_t>(r.node)] < 0)
        enter(r, operand);
      else
        same_node(r, operand);
    }
  }

  void bind(PatternRef r, int32_t reg) {
    if (!is_variable(r)) return;
    int32_t& bound = registers_[static_cast<size_t>(variable_of(r))];
    if (bound < 0) {
      bound = reg;
      return;
    }
    Step step;
    step.kind = Step::SameValue;
    step.reg = reg;
    step.other = bound;
    emit(step);
  }

  void same_node(PatternRef r, int32_t reg) {
    Step step;
    step.kind = Step::SameNode;
    step.reg = reg;
    step.other = entered_[static_cast<size_t>(r.node)];
    step.output = r.output;
    emit(step);
  }

  void compare_attributes(const PatternNode& node, int32_t entered) {
    for (size_t k = 0; k < node.op->ints.size(); ++k) {
      Step step;
      step.kind = Step::Numbers;
      step.numbers = demanded(node, k);
      bool pointless = std::all_of(step.numbers.begin(), step.numbers.end(),
                                   [](int64_t n) { return n == kNoNumber; });
      if (pointless) continue;
      step.other = entered;
      step.attr = static_cast<int32_t>(k);
      step.any_length = node.attrs.ints[k].empty();
      emit(step);
    }
    for (size_t k = 0; k < node.op->reals.size(); ++k) {
      if (has_variable(node.real_vars, k) || node.attrs.reals[k].symbol) continue;
      Step step;
      step.kind = Step::Reals;
      step.other = entered;
      step.attr = static_cast<int32_t>(k);
      step.real = node.attrs.reals[k].value;
      emit(step);
    }
  }

  /// The way from something that is placed up to `ref`: the register of the start, or the entered
  /// node (`node`), and the operators passed, that of `ref` last.
  struct Way {
    int32_t reg = -1, node = -1;
    std::vector<const OpDef*> climb;
  };
  std::optional<Way> way_to(PatternRef ref) const {
    std::optional<Way> best;
    const PatternNode& node = lhs_.nodes[static_cast<size_t>(ref.node)];
    for (PatternRef r : node.inputs) {
      std::optional<Way> way;
      if (is_variable(r)) {
        int32_t reg = registers_[static_cast<size_t>(variable_of(r))];
        if (reg >= 0) way = Way{reg, -1, {}};
      } else if (int32_t entered = entered_[static_cast<size_t>(r.node)]; entered >= 0) {
        way = Way{-1, entered, {}};
      } else {
        way = way_to(r);
      }
      if (!way) continue;
      way->climb.push_back(node.op);
      if (!best || way->climb.size() < best->climb.size()) best = way;
    }
    return best;
  }

  void enter_other(PatternRef out) {
    Step step;
    step.kind = Step::Other;
    step.op = lhs_.nodes[static_cast<size_t>(out.node)].op;
    step.output = out.output;
    auto way = way_to(out);
    step.reg = way ? way->reg : -1;
    step.other = way ? way->node : -1;
    if (way) step.climb = way->climb;
    emit(step);
    auto& rules = tree_.branches[static_cast<size_t>(at_)].rules;
    if (rules.empty() || rules.back() != number_) rules.push_back(number_);
    enter(out, registers_used_++);
  }

  DiscriminationTree::Tree& tree_;
  const Pattern& lhs_;
  int32_t number_;
  int32_t at_ = -1, registers_used_ = 0, entered_count_ = 0;
  std::vector<int32_t> entered_, registers_;
};

/// One run of a tree at one root.
class Runner {
 public:
  /// `among`: the only nodes that other outputs may be, if there are any.
  Runner(const LiveGraph& g, const DiscriminationTree::Tree& tree, const PlaceLimits& limits,
         std::span<const int32_t> among, const VisitPlace& visit)
      : g_(g), tree_(tree), limits_(limits), among_(among), visit_(visit) {}
  /// What nearly fits is visited as well.
  void tolerate(const VisitNear& near) { near_ = &near; }

  /// Returns how often a limit ended it.
  uint64_t run(int32_t root) {
    auto it = tree_.roots.find(g_.slot(root).op);
    if (it == tree_.roots.end()) return 0;
    root_ = root;
    used_ = 1;
    regs_[0] = {root, 0};
    for (const DiscriminationTree::Next& n : it->second) {
      regs_[0].output = branch(n.branch).step.output;
      step(n.branch);
    }
    return left_out_;
  }

 private:
  using Step = DiscriminationTree::Step;
  const DiscriminationTree::Branch& branch(int32_t k) const {
    return tree_.branches[static_cast<size_t>(k)];
  }
  Value reg(int32_t k) const { return regs_[static_cast<size_t>(k)]; }

  void follow(int32_t k) {
    const DiscriminationTree::Branch& b = branch(k);
    for (const DiscriminationTree::Accept& a : b.accepts) accept(a);
    for (const DiscriminationTree::Next& n : b.next)
      if (n.reg < 0 || g_.slot(reg(n.reg).node).op == n.op) step(n.branch);
  }

  void step(int32_t k) {
    const Step& s = branch(k).step;
    switch (s.kind) {
      case Step::Enter:
        enter(k, s);
        break;
      case Step::Maker:
        enter_maker(k, s);
        break;
      case Step::SameNode:
        compared(k, reg(s.reg) == Value{nodes_[static_cast<size_t>(s.other)], s.output});
        break;
      case Step::SameValue:
        compared(k, reg(s.reg) == reg(s.other));
        break;
      case Step::Numbers:
        compared(k, numbers_fit(s));
        break;
      case Step::Reals:
        compared(k, form_of(s).attrs.reals[static_cast<size_t>(s.attr)].value == s.real);
        break;
      case Step::Other:
        others(k, s);
        break;
    }
  }

  /// One comparison may fail where that is tolerated.
  void compared(int32_t k, bool equal) {
    if (equal) return follow(k);
    if (!near_ || gap_) return;
    gap_ = &branch(k).step;
    follow(k);
    gap_ = nullptr;
  }

  const Form& form_of(const Step& s) const {
    return g_.interner().form(g_.slot(nodes_[static_cast<size_t>(s.other)]).form);
  }

  bool numbers_fit(const Step& s) const {
    const Form& form = form_of(s);
    auto attr = static_cast<size_t>(s.attr);
    const std::vector<int64_t>& have = form.numbers[attr];
    int64_t rank = 0;
    if (form.op->ints[attr].kind == IntKind::Axis)
      rank = g_.interner().rank(g_.type(g_.slot(nodes_[static_cast<size_t>(s.other)]).inputs[0]));
    auto fits = [rank](int64_t want, int64_t number) {
      return want == kNoNumber || number == (want < 0 ? want + rank : want);
    };
    if (s.any_length)
      return std::all_of(have.begin(), have.end(),
                         [&](int64_t number) { return fits(s.numbers[0], number); });
    return std::equal(s.numbers.begin(), s.numbers.end(), have.begin(), have.end(), fits);
  }

  bool entered(int32_t id) const {
    return std::find(nodes_.begin(), nodes_.begin() + count_, id) != nodes_.begin() + count_;
  }

  void enter(int32_t k, const Step& s) {
    Value v = reg(s.reg);
    if (v.output != s.output) return;
    const LiveGraph::Slot& slot = g_.slot(v.node);
    if (slot.op != s.op || slot.kind != NodeKind::Call) return;
    if (static_cast<int32_t>(slot.inputs.size()) != s.arity || entered(v.node)) return;
    nodes_[static_cast<size_t>(count_++)] = v.node;
    auto base = static_cast<size_t>(used_);
    std::copy(slot.inputs.begin(), slot.inputs.end(), regs_.begin() + used_);
    used_ += s.arity;
    follow(k);
    if (s.op->commutative && s.arity >= 2 && regs_[base] != regs_[base + 1]) {
      std::swap(regs_[base], regs_[base + 1]);
      follow(k);
    }
    used_ -= s.arity;
    --count_;
  }

  void enter_maker(int32_t k, const Step& s) {
    Value v = reg(s.reg);
    const LiveGraph::Slot& slot = g_.slot(v.node);
    bool made = slot.kind == NodeKind::Call && slot.inputs.empty();
    bool fits = made ? slot.op == s.op : slot.data >= 0;  // one constant may be several
    if (v.output != s.output || !fits) return;
    nodes_[static_cast<size_t>(count_++)] = v.node;
    follow(k);
    --count_;
  }

  void others(int32_t k, const Step& s) {
    std::vector<int32_t> candidates = readers(s);
    auto place = static_cast<size_t>(used_++);
    bool outermost = depth_++ == 0;
    if (outermost) tries_ = limits_.tries;
    for (int32_t id : candidates) {
      if (tries_-- <= 0 || !open(branch(k))) {
        left_out_ += outermost;
        break;
      }
      regs_[place] = {id, s.output};
      follow(k);
    }
    --depth_;
    --used_;
  }

  /// What may be the output that `s` looks for. Of many, those behind the root come first: each
  /// root then has others than the one before it.
  std::vector<int32_t> readers(const Step& s) const {
    std::vector<int32_t> found;
    if (s.climb.empty()) {
      g_.for_calls(*s.op, [&](int32_t id) { found.push_back(id); });
    } else {
      found = {s.reg >= 0 ? reg(s.reg).node : nodes_[static_cast<size_t>(s.other)]};
      for (const OpDef* op : s.climb) found = users(found, op);
    }
    if (!among_.empty())
      std::erase_if(found, [&](int32_t id) { return std::ranges::count(among_, id) == 0; });
    if (found.size() > kFew) {
      std::ranges::sort(found);
      std::rotate(found.begin(), std::upper_bound(found.begin(), found.end(), root_), found.end());
    }
    return found;
  }

  /// A rule that passes there has not had its share of places.
  bool open(const DiscriminationTree::Branch& b) const {
    return std::ranges::any_of(b.rules, [&](int32_t rule) {
      auto tally = tallies_.find(rule);
      return tally == tallies_.end() ||
             (tally->second.useful < limits_.useful && tally->second.useless < limits_.useless);
    });
  }

  std::vector<int32_t> users(const std::vector<int32_t>& of, const OpDef* op) const {
    std::vector<int32_t> found;
    for (int32_t id : of)
      g_.for_uses(id, [&](int32_t user, int32_t) {
        if (g_.slot(user).op == op) found.push_back(user);
      });
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  void accept(const DiscriminationTree::Accept& a) {
    for (size_t k = 0; k < a.entered.size(); ++k)
      place_nodes_[k] = nodes_[static_cast<size_t>(a.entered[k])];
    for (size_t v = 0; v < a.registers.size(); ++v) {
      if (a.registers[v] < 0) return;  // a variable that no call reads
      place_variables_[v] = reg(a.registers[v]);
    }
    const Place place{a.rule,
                      {place_nodes_.data(), a.entered.size()},
                      {place_variables_.data(), a.registers.size()}};
    bool useful = near_ ? visit_near(place, a) : visit_(place);
    if (depth_ == 0) return;
    Tally& tally = tallies_[a.rule];
    ++(useful ? tally.useful : tally.useless);
  }

  bool visit_near(const Place& place, const DiscriminationTree::Accept& a) const {
    Gap gap;
    bool attribute = gap_ && (gap_->kind == Step::Numbers || gap_->kind == Step::Reals);
    if (attribute) {
      auto node = std::ranges::find(a.entered, gap_->other) - a.entered.begin();
      gap.node = static_cast<int32_t>(node);
      const Form& form = form_of(*gap_);
      auto ints = static_cast<int32_t>(form.attrs.ints.size());
      gap.part = gap_->attr + (gap_->kind == Step::Reals ? ints : 0);
    }
    (*near_)(place, gap_ ? &gap : nullptr);
    return true;
  }

  struct Tally {
    int32_t useful = 0, useless = 0;
  };

  const LiveGraph& g_;
  const DiscriminationTree::Tree& tree_;
  const PlaceLimits& limits_;
  std::span<const int32_t> among_;
  const VisitPlace& visit_;
  const VisitNear* near_ = nullptr;
  const Step* gap_ = nullptr;  ///< that did not hold on the way here
  std::array<Value, DiscriminationTree::kMaxRegisters> regs_, place_variables_;
  std::array<int32_t, DiscriminationTree::kMaxRegisters> nodes_, place_nodes_;
  int32_t root_ = -1, used_ = 0, count_ = 0;
  int32_t depth_ = 0, tries_ = 0;               // of outputs that are not the root
  std::unordered_map<int32_t, Tally> tallies_;  // by rule
  uint64_t left_out_ = 0;
};

DiscriminationTree::DiscriminationTree(const std::deque<CompiledRule>& rules) {
  for (size_t k = 0; k < rules.size(); ++k) {
    const Pattern& lhs = rules[k].rule.lhs;
    auto number = static_cast<int32_t>(k);
    Compiler(first_, rules[k], number).run(0);
    for (size_t out = 1; out < lhs.outputs.size(); ++out) {
      auto before = lhs.outputs.begin() + static_cast<std::ptrdiff_t>(out);
      bool repeated = std::any_of(lhs.outputs.begin(), before,
                                  [&](PatternRef r) { return r.node == lhs.outputs[out].node; });
      if (!repeated) Compiler(joint_, rules[k], number).run(out);
    }
    add_ascents(lhs);
  }
}

bool DiscriminationTree::fits(const Pattern& lhs) {
  size_t registers = lhs.outputs.size() + 1;
  for (const PatternNode& n : lhs.nodes) registers += n.inputs.size();
  return registers < kMaxRegisters && lhs.nodes.size() < kMaxRegisters;
}

uint64_t DiscriminationTree::match(const LiveGraph& g, int32_t root, const PlaceLimits& limits,
                                   const VisitPlace& visit) const {
  return Runner(g, first_, limits, {}, visit).run(root);
}

uint64_t DiscriminationTree::match_joint(const LiveGraph& g, int32_t root,
                                         const PlaceLimits& limits, const VisitPlace& visit) const {
  return Runner(g, joint_, limits, {}, visit).run(root);
}

void DiscriminationTree::match_nearly(const LiveGraph& g, int32_t root, const PlaceLimits& limits,
                                      const VisitNear& visit) const {
  const VisitPlace none;
  Runner runner(g, first_, limits, {}, none);
  runner.tolerate(visit);
  runner.run(root);
}

void DiscriminationTree::match_among(const LiveGraph& g, int32_t root,
                                     std::span<const int32_t> nodes,
                                     const VisitPlace& visit) const {
  Runner(g, first_, PlaceLimits(), nodes, visit).run(root);
}

void DiscriminationTree::add_ascents(const Pattern& lhs) {
  for (size_t k = 0; k < lhs.nodes.size(); ++k) add_ascent(lhs, static_cast<int32_t>(k), 0);
}

/// Adds the ways from pattern node `node` up, behind the way that `ascent` stands for.
void DiscriminationTree::add_ascent(const Pattern& lhs, int32_t node, int32_t ascent) {
  const OpDef* op = lhs.nodes[static_cast<size_t>(node)].op;
  auto [it, fresh] =
      ascents_[static_cast<size_t>(ascent)].up.emplace(op, static_cast<int32_t>(ascents_.size()));
  int32_t here = it->second;
  if (fresh) ascents_.emplace_back();
  for (PatternRef out : lhs.outputs)
    if (out.node == node) ascents_[static_cast<size_t>(here)].output = true;
  for (size_t k = 0; k < lhs.nodes.size(); ++k)
    for (PatternRef r : lhs.nodes[k].inputs)
      if (r.node == node) add_ascent(lhs, static_cast<int32_t>(k), here);
}

void DiscriminationTree::outputs_above(const LiveGraph& g, int32_t id,
                                       std::vector<int32_t>& roots) const {
  climb(g, id, 0, roots);
}

void DiscriminationTree::climb(const LiveGraph& g, int32_t id, int32_t ascent,
                               std::vector<int32_t>& roots) const {
  const auto& up = ascents_[static_cast<size_t>(ascent)].up;
  auto it = up.find(g.slot(id).op);
  if (it == up.end()) return;
  const Ascent& here = ascents_[static_cast<size_t>(it->second)];
  if (here.output) roots.push_back(id);
  if (here.up.empty()) return;
  g.for_uses(id, [&](int32_t user, int32_t) { climb(g, user, it->second, roots); });
}

}  // namespace regraft::rewrite
