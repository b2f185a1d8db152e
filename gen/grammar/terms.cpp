#include "gen/grammar/terms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/rng.h"

namespace regraft::gen {

constexpr int64_t kMaxElements = 4096;  // of a value

int Bank::add_label(const Label& label) {
  std::string text(label.op->name);
  for (const auto& list : label.attrs.ints) {
    text += ' ';
    for (int64_t n : list) text += std::to_string(n) + ',';
  }
  for (const Real& r : label.attrs.reals)
    text += ' ' + std::to_string(std::bit_cast<uint64_t>(r.value));
  auto [it, fresh] = label_ids_.try_emplace(std::move(text), static_cast<int>(labels_.size()));
  if (fresh) labels_.push_back(label);
  return it->second;
}

namespace {

int64_t count_of(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

constexpr size_t kFewPoints = 3;  // that say enough of a value

bool is_defined_at(std::span<const Residue> values, size_t point) {
  size_t count = values.size() / kPoints;
  return std::ranges::all_of(values.subspan(point * count, count), is_defined);
}

size_t defined_points(std::span<const Residue> values) {
  size_t n = 0;
  for (size_t point = 0; point < kPoints; ++point) n += is_defined_at(values, point);
  return n;
}

void append_signed(Rng& rng, Signs signs, size_t count, std::vector<Residue>& to) {
  for (size_t k = 0; k < count; ++k) {
    Residue x = random_residue(rng);
    if (signs != Signs::Mixed) x.r = signs == Signs::Plus ? std::abs(x.r) : -std::abs(x.r);
    to.push_back(x);
  }
}

/// Random elements, one point after another. At the first half of the points each has both signs;
/// at the others all have one, so that no maximum of many elements passes for positive. At every
/// other point they are small, for the order of exponentials.
std::vector<Residue> random_elements(Rng rng, size_t count) {
  constexpr size_t kMixed = kPoints / 2;
  std::vector<Residue> data;
  for (size_t k = 0; k < count * kMixed; ++k) data.push_back(random_residue(rng));
  for (size_t k = 0; k < count; ++k) {
    size_t first = rng.below(kMixed), second = (first + 1 + rng.below(kMixed - 1)) % kMixed;
    double& r = data[second * count + k].r;
    r = std::copysign(r, -data[first * count + k].r);
  }
  for (size_t point = kMixed; point < kPoints; ++point)
    append_signed(rng, rng.below(2) ? Signs::Plus : Signs::Minus, count, data);
  constexpr double kSmall = 1.0 / 64;  // of what a random residue is
  for (size_t point = 1; point < kPoints; point += 2)
    for (size_t k = 0; k < count; ++k) data[point * count + k].r *= kSmall;
  return data;
}

}  // namespace

Residue rooted(Residue x) {
  const double r = x.r;
  x = x * x;
  if (r < 0) x = x * residue_of(int64_t{-1});
  x.r = r;
  return x;
}

void append_random(Rng& rng, Signs signs, size_t count, std::vector<Residue>& to) {
  const size_t first = to.size();
  append_signed(rng, signs, count, to);
  for (size_t k = first; k < to.size(); ++k) to[k] = rooted(to[k]);
}

bool evaluate_points(Field& algebra, const Label& label, Tensors<Field> operands,
                     std::span<const int64_t> shape, int output, std::span<Residue> values) {
  std::vector<NumTensor<Residue>> views(operands.begin(), operands.end());
  size_t count = values.size() / kPoints;
  algebra.ok = true;
  for (size_t point = 0; point < kPoints; ++point) {
    label.op->fill_field(algebra, views, label.attrs, shape, output, 0,
                         values.subspan(point * count, count));
    for (auto& t : views) t.data += count_of({t.dims.data(), static_cast<size_t>(t.nd)});
  }
  return algebra.ok && defined_points(values) >= kFewPoints;
}

TermId Bank::leaf(const std::vector<int64_t>& shape, int number, Role role) {
  std::vector<int64_t> key = {-1, number};
  key.insert(key.end(), shape.begin(), shape.end());
  auto [it, fresh] = ids_.try_emplace(std::move(key), static_cast<TermId>(nodes_.size()));
  if (!fresh) return it->second;
  TermNode n;
  n.shape = shape;
  nodes_.push_back(std::move(n));
  blind_.push_back(mix(shape.size()));
  uint64_t key_of_leaf = combine(combine(seed_, hash_text("leaf")), static_cast<uint64_t>(number));
  for (int64_t d : shape) key_of_leaf = combine(key_of_leaf, static_cast<uint64_t>(d));
  Array<Residue> data{shape,
                      random_elements(Rng(key_of_leaf), static_cast<size_t>(count_of(shape)))};
  for (Residue& x : data.data) {
    if (role == Role::Positive) x.r = std::abs(x.r);
    x = rooted(x);
  }
  if (role == Role::Truths || role == Role::Places)
    for (Residue& x : data.data) x = algebra_.apply(Fn::Step, x);
  round(data.data);
  values_.emplace(it->second, std::move(data));
  return it->second;
}

bool Bank::is_kernel(TermId leaf) const {
  const auto& shape = node(leaf).shape;
  return shape.size() > 2 && kernels_.count({shape.begin() + 2, shape.end()}) > 0;
}

TermId Bank::call(int label, std::vector<TermId> operands, int output) {
  if (labels_[static_cast<size_t>(label)].op->commutative && operands[0] > operands[1])
    std::swap(operands[0], operands[1]);
  std::vector<int64_t> key = {label};
  key.insert(key.end(), operands.begin(), operands.end());
  int call = calls_.try_emplace(key, static_cast<int>(calls_.size())).first->second;
  key.push_back(-2 - output);
  auto [it, fresh] = ids_.try_emplace(std::move(key), static_cast<TermId>(nodes_.size()));
  if (!fresh) return it->second;
  const Label& l = labels_[static_cast<size_t>(label)];
  std::vector<uint64_t> parts;
  for (TermId t : operands) parts.push_back(blind_[static_cast<size_t>(t)]);
  if (l.op->commutative && parts[0] > parts[1]) std::swap(parts[0], parts[1]);
  uint64_t h = combine(static_cast<uint64_t>(label) + 1000, static_cast<uint64_t>(output));
  for (uint64_t p : parts) h = combine(h, p);
  blind_.push_back(h);
  TermNode n;
  n.label = label;
  n.output = output;
  n.call = call;
  n.operands = std::move(operands);
  nodes_.push_back(std::move(n));
  return it->second;
}

std::optional<Array<Residue>> Bank::computed(TermId t) {
  TermNode n = node(t);
  Shapes<Field> in;
  std::vector<const Array<Residue>*> operands;
  for (TermId o : n.operands) {
    operands.push_back(value(o));
    if (!operands.back()) return std::nullopt;
    in.push_back(operands.back()->shape);
  }
  const Label& l = label(n.label);
  algebra_.ok = true;
  auto shapes = l.op->field_semantics.infer(algebra_, in, l.attrs);
  auto output = static_cast<size_t>(n.output);
  if (!shapes || !algebra_.ok || output >= shapes->size()) return std::nullopt;
  Array<Residue> r{(*shapes)[output], {}};
  int64_t count = count_of(r.shape);
  bool empty = std::any_of(r.shape.begin(), r.shape.end(), [](int64_t d) { return d < 1; });
  if (empty || count > kMaxElements) return std::nullopt;
  r.data.resize(static_cast<size_t>(count) * kPoints);
  std::vector<NumTensor<Residue>> views;
  for (const auto* a : operands) views.emplace_back(a->shape, a->data.data());
  if (!evaluate_points(algebra_, l, views, r.shape, n.output, r.data)) return std::nullopt;
  round(r.data);
  return r;
}

/// Where doubles tell values apart, residues stand for them; what is next to 0 may be it or not.
void Bank::round(std::vector<Residue>& values) const {
  constexpr double kLeast = 1e-12;
  if (compare_ == Compare::Residues) return;
  for (Residue& x : values) {
    if (x.r != 0 && std::abs(x.r) < kLeast) x.r = std::numeric_limits<double>::quiet_NaN();
    if (is_defined(x)) x = residue_of_rounded(x.r);
  }
}

const Array<Residue>* Bank::value(TermId t) {
  auto it = values_.find(t);
  if (it == values_.end()) {
    auto fresh = computed(t);
    it = values_.emplace(t, std::move(fresh)).first;
  }
  return it->second ? &*it->second : nullptr;
}

bool Bank::same_value(TermId a, TermId b) {
  if (a == b) return true;
  const auto* x = value(a);
  const auto* y = value(b);
  if (!x || !y || x->shape != y->shape) return false;
  size_t count = x->data.size() / kPoints, compared = 0;
  for (size_t point = 0; point < kPoints; ++point) {
    if (!is_defined_at(x->data, point) || !is_defined_at(y->data, point)) continue;
    ++compared;
    auto first = x->data.begin() + static_cast<ptrdiff_t>(point * count);
    auto equal = [&](Residue u, Residue v) {
      return compare_ == Compare::Residues ? u == v : nearly_equal(u.r, v.r);
    };
    if (!std::equal(first, first + static_cast<ptrdiff_t>(count),
                    y->data.begin() + static_cast<ptrdiff_t>(point * count), equal))
      return false;
  }
  return compared >= kFewPoints;
}

bool Bank::binds(TermId lhs, TermId rhs) const {
  if (node(lhs).is_leaf()) return false;
  std::set<TermId> l = leaves(lhs), r = leaves(rhs);
  return std::includes(l.begin(), l.end(), r.begin(), r.end());
}

std::set<TermId> Bank::subterms(TermId t) const {
  std::set<TermId> r;
  auto visit = [&](auto& self, TermId u) -> void {
    if (!r.insert(u).second) return;
    for (TermId o : node(u).operands) self(self, o);
  };
  visit(visit, t);
  return r;
}

std::set<TermId> Bank::leaves(TermId t) const {
  std::set<TermId> r;
  for (TermId u : subterms(t))
    if (node(u).is_leaf()) r.insert(u);
  return r;
}

size_t Bank::size(TermId t) const {
  std::set<int> calls;
  for (TermId u : subterms(t))
    if (!node(u).is_leaf()) calls.insert(node(u).call);
  return calls.size();
}

TermId Bank::replace(TermId t, const std::map<TermId, TermId>& by) {
  if (auto it = by.find(t); it != by.end()) return it->second;
  TermNode n = node(t);
  if (n.is_leaf()) return t;
  for (TermId& o : n.operands) o = replace(o, by);
  return call(n.label, n.operands, n.output);
}

uint64_t Bank::blind_hash(TermId t) const { return blind_[static_cast<size_t>(t)]; }

namespace {

/// Serialises terms with leaves named in order of first use; `swaps` decides between operands that
/// commute and look alike.
struct Writer {
  const Bank& bank;
  uint32_t swaps = 0;
  int ties = 0;
  std::vector<int64_t> out = {};
  std::map<TermId, int64_t> names = {};

  void write(TermId t) {
    const TermNode& n = bank.node(t);
    if (n.is_leaf()) {
      auto name = names.try_emplace(t, static_cast<int64_t>(names.size())).first->second;
      out.push_back(-1 - name);
      out.push_back(static_cast<int64_t>(n.shape.size()));
      return;
    }
    out.push_back(n.label);
    out.push_back(n.output);
    std::vector<TermId> operands = n.operands;
    if (bank.label(n.label).op->commutative) order(operands);
    for (TermId o : operands) write(o);
  }
  void order(std::vector<TermId>& operands) {
    uint64_t a = bank.blind_hash(operands[0]), b = bank.blind_hash(operands[1]);
    bool swap = a > b;
    if (a == b && operands[0] != operands[1]) swap = ties < 10 && (swaps >> ties++ & 1);
    if (swap) std::swap(operands[0], operands[1]);
  }
};

}  // namespace

std::vector<int64_t> directed_key(const Bank& bank, TermId lhs, TermId rhs) {
  std::vector<int64_t> best;
  for (uint32_t swaps = 0, end = 1; swaps < end; ++swaps) {
    Writer w{bank, swaps};
    w.write(lhs);
    w.out.push_back(INT64_MIN);
    w.write(rhs);
    end = uint32_t{1} << w.ties;
    if (best.empty() || w.out < best) best = std::move(w.out);
  }
  return best;
}

std::vector<int64_t> renaming_key(const Bank& bank, Pair p) {
  return std::min(directed_key(bank, p.lhs, p.rhs), directed_key(bank, p.rhs, p.lhs));
}

}  // namespace regraft::gen
