#include "gen/generalise/hypothesis.h"

#include <algorithm>

namespace regraft::gen {
namespace {

constexpr int64_t kMostElements = 400;         // of a leaf or a result, if the witness has less
constexpr int64_t kMostRightElements = 6'400;  // makes no difference to well-formedness
constexpr int kNearAttempts = 100;
constexpr int kDrawAttempts = 40;
constexpr int kSampleAttempts = 400;
constexpr int kAloneAttempts = 60;

int64_t elements_of(const std::vector<int64_t>& shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

std::string number_symbol_name(size_t k) { return "n" + std::to_string(k); }

/// A number 1 of a shape that an attribute spells out.
bool is_spelt_one(const Side& left, const NumberPlace& n) {
  const OpDef& op = *left.calls[static_cast<size_t>(n.call)].label->op;
  return n.witness == 1 && op.ints[n.attr].length == Length::Any;
}

enum class Ones : uint8_t { Open, Fixed };

/// The left side as both sides of a rule, every number a variable of its own.
TemplatePair open_pair(const Side& left, TermId lhs, Ones ones) {
  TemplatePair p;
  p.lhs = p.rhs = lhs;
  for (size_t k = 0; k < left.numbers.size(); ++k) {
    const NumberPlace& n = left.numbers[k];
    bool fixed = ones == Ones::Fixed && is_spelt_one(left, n);
    Form& form = p.plan[{Part::Left, left.calls[static_cast<size_t>(n.call)].id, n.attr}];
    Poly open = Poly::symbol(p.pool->named("?" + number_symbol_name(k)));
    form.numbers.push_back(fixed ? Poly(1) : std::move(open));
  }
  return p;
}

}  // namespace

std::optional<HypothesisTester> HypothesisTester::make(const Bank& bank, TermId lhs, TermId rhs,
                                                       uint64_t seed) {
  HypothesisTester e;
  e.rng_ = Rng(seed);
  e.compare_ = bank.compare();
  e.leaves_ = rule_leaves(bank, lhs);
  e.most_elements_ = kMostElements;
  for (TermId leaf : e.leaves_)
    e.most_elements_ = std::max(e.most_elements_, 2 * elements_of(bank.node(leaf).shape));
  e.left_ = side_of(bank, lhs, e.leaves_);
  e.right_ = side_of(bank, rhs, e.leaves_);
  if (!e.choose_signature(bank, lhs)) return std::nullopt;
  return e;
}

/// All extents may be anything, or those of 1 that the witness does not broadcast.
bool HypothesisTester::choose_signature(const Bank& bank, TermId lhs) {
  Signature any, ones;
  for (TermId leaf : leaves_) {
    const auto& shape = bank.node(leaf).shape;
    std::string word;
    for (int64_t d : shape) word += d == 1 ? '1' : 'n';
    any.push_back(shape.empty() ? "-" : std::string(shape.size(), 'n'));
    ones.push_back(shape.empty() ? "-" : word);
  }
  bool spelt = std::any_of(left_.numbers.begin(), left_.numbers.end(),
                           [&](const NumberPlace& n) { return is_spelt_one(left_, n); });
  for (Ones numbers : {Ones::Open, Ones::Fixed}) {
    if (numbers == Ones::Fixed && !spelt) continue;
    TemplatePair open = open_pair(left_, lhs, numbers);
    if (instantiate_left(bank, open, any)) return true;
    if (!instantiate_left(bank, open, ones)) continue;
    for (std::string& word : ones)
      for (char& letter : word) {
        if (letter != '1') continue;
        letter = 'n';
        if (!instantiate_left(bank, open, ones)) letter = '1';
      }
    return instantiate_left(bank, open, ones);
  }
  return false;
}

bool HypothesisTester::instantiate_left(const Bank& bank, const TemplatePair& open,
                                        const Signature& signature) {
  Rule rule = to_rule(bank, open);
  rule.rhs = rule.lhs;
  auto instance = instantiate(rule, signature);
  if (!instance) return false;
  instance_ = std::make_shared<RuleInstance>(*std::move(instance));
  symbols_.clear();
  space_symbols_.clear();
  for (size_t v = 0; v < leaves_.size(); ++v) {
    const auto& sizes = instance_->sizes[v];
    const auto& shape = bank.node(leaves_[v]).shape;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (!sizes[d]) continue;
      symbols_.push_back({*sizes[d], leaves_[v], static_cast<int>(d), -1, shape[d], false});
      space_symbols_.push_back(extent_symbol(*sizes[d], sizes.size(), d));
    }
  }
  first_number_ = static_cast<int>(symbols_.size());
  for (size_t k = 0; k < left_.numbers.size(); ++k) {
    Var v = instance_->lhs.pool().named(number_symbol_name(k));
    const NumberPlace& n = left_.numbers[k];
    const Form& form =
        open.plan.at({Part::Left, left_.calls[static_cast<size_t>(n.call)].id, n.attr});
    bool fixed = form.numbers[n.index].is_constant();
    symbols_.push_back({v, -1, 0, static_cast<int>(k), n.witness, fixed});
    space_symbols_.push_back({v});
  }
  witness_.clear();
  index_.clear();
  for (size_t k = 0; k < symbols_.size(); ++k) {
    witness_.push_back(symbols_[k].witness);
    if (index_.size() <= symbols_[k].var->id) index_.resize(symbols_[k].var->id + 1, -1);
    index_[symbols_[k].var->id] = static_cast<int>(k);
  }
  signature_ = signature;
  auto s = sample_at(witness_);
  if (!s) return false;
  witness_shape_ = std::move(s->shape);
  witness_shapes_ = std::move(s->shapes);
  return Space(space_symbols_, instance_->requires_lhs).contains(witness_);
}

int HypothesisTester::size_symbol(size_t leaf, size_t axis) const {
  for (size_t k = 0; k < symbols_.size(); ++k)
    if (symbols_[k].leaf == leaves_[leaf] && symbols_[k].axis == static_cast<int>(axis) &&
        symbols_[k].is_size())
      return static_cast<int>(k);
  return -1;
}

Substitution HypothesisTester::given(const Hypothesis& h) const {
  Substitution r;
  for (size_t k = 0; k < symbols_.size(); ++k)
    if (!same(h.left[k], Poly::symbol(symbols_[k].var))) r[symbols_[k].var] = h.left[k];
  return r;
}

Space HypothesisTester::space(const Hypothesis& h) const {
  return {space_symbols_, instance_->requires_lhs, given(h)};
}

Substitution HypothesisTester::by_sizes(const Hypothesis& h) const {
  Substitution r;
  Conjunction conditions = substitute(instance_->requires_lhs, given(h));
  auto is_sizes = [&](const Poly& p) {
    return std::all_of(p.terms().begin(), p.terms().end(), [&](const Poly::Term& t) {
      return std::all_of(t.monomial.begin(), t.monomial.end(),
                         [&](Var w) { return !w->numerator && index_of(w) < first_number_; });
    });
  };
  auto solve = [&](const PairSymbol& s) {
    for (const Formula& f : conditions) {
      Poly p;
      if (f.kind != Formula::Zero || !solve_for(f.poly, s.var, p) || !is_sizes(p)) continue;
      conditions = substitute(conditions, {{s.var, p}});
      r[s.var] = std::move(p);
      return true;
    }
    return false;
  };
  for (bool again = true; again;) {
    again = false;
    for (size_t k = static_cast<size_t>(first_number_); k < symbols_.size(); ++k)
      if (r.count(symbols_[k].var) == 0 && same(h.left[k], Poly::symbol(symbols_[k].var)))
        again = solve(symbols_[k]) || again;
  }
  return r;
}

std::optional<Sample> HypothesisTester::sample_at(Point p) {
  Sample s;
  s.point = std::move(p);
  size_t next = 0;
  for (size_t v = 0; v < leaves_.size(); ++v) {
    s.shapes.emplace_back();
    for (char letter : signature_[v]) {
      if (letter == '-') continue;
      s.shapes.back().push_back(letter == '1' ? 1 : s.point[next++]);
    }
    if (elements_of(s.shapes.back()) > most_elements_) return std::nullopt;
  }
  std::vector<int64_t> numbers(s.point.begin() + first_number_, s.point.end());
  auto shape = shape_of(left_, s.shapes, numbers);
  if (!shape || elements_of(*shape) > most_elements_) return std::nullopt;
  s.shape = *std::move(shape);
  s.key = rng_.next();
  return s;
}

/// Every axis of the leaves and the result that is longer than 1 in the witness is so in the
/// sample; short ones hide strides and the like.
bool HypothesisTester::is_rich(const Sample& s) const {
  auto rich = [](const std::vector<int64_t>& shape, const std::vector<int64_t>& witness) {
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] == 1 && witness[d] > 1) return false;
    return true;
  };
  for (size_t v = 0; v < leaves_.size(); ++v)
    if (!rich(s.shapes[v], witness_shapes_[v])) return false;
  return rich(s.shape, witness_shape_);
}

std::vector<Sample> HypothesisTester::samples(const Space& space, const std::vector<int>& moving,
                                              int count) {
  std::vector<Sample> r;
  auto wanted = static_cast<size_t>(count);
  auto take = [&](std::optional<Point> p, bool rich) {
    auto s = p ? sample_at(*std::move(p)) : std::nullopt;
    if (s && (!rich || is_rich(*s))) r.push_back(*std::move(s));
  };
  for (int k = 0; !moving.empty() && k < kNearAttempts && r.size() < (wanted + 1) / 2; ++k) {
    auto p = space.near(rng_, witness_, moving, static_cast<size_t>(k % 4), Space::Others::All);
    if (p && has_moved(*p, moving)) take(std::move(p), k < kNearAttempts / 2);
  }
  if (!moving.empty() && r.empty()) return r;
  for (int k = 0; k < 3 * count && r.size() < wanted; ++k) {
    auto extents = k % 2 == 0 ? Extents::Apart : Extents::Aligned;
    take(space.draw(rng_, extents, kDrawAttempts), r.size() < 2 * wanted / 3 && k < 2 * count);
  }
  return r;
}

bool HypothesisTester::move_alone(const Space& space, const std::vector<int>& symbols) {
  for (int k = 0; k < kAloneAttempts; ++k) {
    auto p =
        space.near(rng_, witness_, symbols, static_cast<size_t>(k % 3), Space::Others::Extents);
    auto s = p && has_moved(*p, symbols) ? sample_at(*std::move(p)) : std::nullopt;
    if (s && is_rich(*s)) return true;
  }
  return false;
}

bool HypothesisTester::can_move(const Space& space, int symbol, Axes axes) {
  for (int k = 0; k < kNearAttempts; ++k) {
    auto p = space.near(rng_, witness_, {symbol}, static_cast<size_t>(k % 4), Space::Others::All);
    auto s = p && has_moved(*p, {symbol}) ? sample_at(*std::move(p)) : std::nullopt;
    if (s && (axes == Axes::Any || is_rich(*s))) return true;
  }
  return false;
}

Hypothesis HypothesisTester::closed(Hypothesis h, Axes axes) {
  for (size_t k = static_cast<size_t>(first_number_); k < symbols_.size(); ++k) {
    const PairSymbol& s = symbols_[k];
    if (!same(h.left[k], Poly::symbol(s.var))) continue;
    if (can_move(space(h), static_cast<int>(k), axes)) continue;
    for (auto* side : {&h.left, &h.right})
      for (Poly& p : *side) p = substitute(p, {{s.var, Poly(s.witness)}});
  }
  return h;
}

bool HypothesisTester::has_moved(const Point& p, const std::vector<int>& symbols) const {
  return std::any_of(symbols.begin(), symbols.end(), [&](int k) {
    return p[static_cast<size_t>(k)] != witness_[static_cast<size_t>(k)];
  });
}

std::vector<Sample> HypothesisTester::samples_apart(const Space& space,
                                                    const std::vector<std::pair<int, int>>& pairs,
                                                    int count) {
  std::vector<Sample> r;
  std::vector<int> moving;
  for (auto [a, b] : pairs) moving.insert(moving.end(), {a, b});
  for (int k = 0; k < kSampleAttempts && r.size() < static_cast<size_t>(count); ++k) {
    auto p = space.near(rng_, witness_, moving, static_cast<size_t>(k % 5), Space::Others::All);
    bool differs =
        p && std::any_of(pairs.begin(), pairs.end(), [&](auto pair) {
          return (*p)[static_cast<size_t>(pair.first)] != (*p)[static_cast<size_t>(pair.second)];
        });
    auto s = differs ? sample_at(*std::move(p)) : std::nullopt;
    if (s && is_rich(*s)) r.push_back(*std::move(s));
  }
  return r;
}

int64_t HypothesisTester::value(const Poly& p, const Point& at) const {
  int64_t sum = p.constant();
  for (const auto& [monomial, coefficient] : p.terms()) {
    int64_t product = coefficient;
    for (Var v : monomial) product *= at[static_cast<size_t>(index_[v->id])];
    sum += product;
  }
  return sum;
}

bool HypothesisTester::is_composed(const Poly& p) const {
  int variables = 0;
  for (const auto& term : p.terms())
    for (Var v : term.monomial) variables += index_of(v) >= first_number_;
  return variables > 1;
}

std::vector<int64_t> HypothesisTester::right_numbers(const Hypothesis& h, const Sample& s) const {
  std::vector<int64_t> numbers;
  for (const Poly& p : h.right) numbers.push_back(value(p, s.point));
  return numbers;
}

bool HypothesisTester::same_shape(const Hypothesis& h, const Sample& s) const {
  auto shape = shape_of(right_, s.shapes, right_numbers(h, s));
  return shape ? *shape == s.shape : leaves_out_;
}

bool HypothesisTester::agrees(const Hypothesis& h, Sample& s) const {
  if (!same_shape(h, s)) return false;
  if (!s.values) {
    Rng rng(s.key);
    std::vector<Array<Residue>> leaves;
    for (size_t k = 0; k < s.shapes.size(); ++k)
      leaves.push_back(is_truth(left_, k)      ? random_truths(rng, s.shapes[k])
                       : is_positive(left_, k) ? random_positive(rng, s.shapes[k])
                                               : random_array(rng, s.shapes[k]));
    s.values = std::make_shared<SideValues>(std::move(leaves), s.key);
    std::vector<int64_t> given(s.point.begin() + first_number_, s.point.end());
    s.value = s.values->value(left_, given, most_elements_);
    if (s.value) leave_out_infinite(*s.value);
  }
  if (!s.value) return true;
  const std::vector<int64_t> numbers = right_numbers(h, s);
  // Whether it is well-formed shows in the whole of it.
  if (leaves_out_ && !s.values->value(right_, numbers, kMostRightElements)) return true;
  auto differs = s.values->differs(*s.value, right_, numbers, kMostRightElements, compare_);
  return differs && !*differs;
}

std::optional<Sample> HypothesisTester::refuting(const Hypothesis& h, const Space& space,
                                                 std::vector<Sample>& samples) {
  for (Sample& s : remembered_)
    if (space.contains(s.point) && !agrees(h, s)) return s;
  for (Sample& s : samples) {
    if (!agrees(h, s)) return s;
    for (int k : space.free()) {
      if (space_symbols_[static_cast<size_t>(k)].axis < 0) continue;
      for (int64_t more : {1, 2}) {  // strides may hide one
        auto p = space.with(s.point, k, s.point[static_cast<size_t>(k)] + more);
        auto near = p ? sample_at(*std::move(p)) : std::nullopt;
        if (near && !same_shape(h, *near)) return near;
      }
    }
  }
  return std::nullopt;
}

}  // namespace regraft::gen
