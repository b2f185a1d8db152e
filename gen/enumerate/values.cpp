#include "gen/enumerate/values.h"

#include <algorithm>
#include <bit>

namespace regraft::gen {
namespace {

constexpr size_t kMostFits = 1 << 24;  // that are remembered

}  // namespace

ValueGraph::ValueGraph(ShapedOps& plans, int max_size, uint64_t seed)
    : plans_(plans), max_size_(max_size), seed_(seed) {}

Operands ValueGraph::operands(Application a) const {
  Operands r;
  size_t arity = plans_.grammar().instances[static_cast<size_t>(a.instance())].operands.size();
  if (arity > 0) r.push_back(a.a());
  if (arity == 2) r.push_back(a.b());
  for (size_t k = 1; arity > 2 && k < arity; ++k) r.push_back(tuples_[a.b()][k - 1]);
  return r;
}

uint64_t ValueGraph::leaves(Application a) const {
  uint64_t all = 0;
  for (ClassId c : operands(a)) all |= leaves_[c];
  return all;
}

int ValueGraph::operand_union(Application a) const {
  std::vector<SupportList> lists;
  for (ClassId c : operands(a)) lists.push_back(supports(c));
  return smallest_union(lists);
}

bool ValueGraph::fits(int instance, const Operands& operands) const {
  auto k = static_cast<size_t>(instance);
  auto look = [&] {
    std::array<const Dims*, kMaxArity> all{};
    for (size_t o = 0; o < operands.count; ++o) all[o] = &dims(operands.ids[o]);
    return gen::fits(plans_.grammar().instances[k], std::span(all.data(), operands.count));
  };
  if (operands.count == 0 || operands.count > 2 || fits_.empty()) return look();
  size_t first = shapes_[operands.ids[0]],
         second = operands.count > 1 ? shapes_[operands.ids[1]] : 0;
  std::atomic<uint8_t>& known = fits_[(k * dims_.size() + first) * dims_.size() + second];
  if (known.load(std::memory_order_relaxed) == 0)
    known.store(look() ? 2 : 1, std::memory_order_relaxed);
  return known.load(std::memory_order_relaxed) == 2;
}

std::optional<Application> ValueGraph::application(int instance, int output,
                                                   const Operands& operands) const {
  size_t n = operands.count;
  ClassId a = n > 0 ? operands.ids[0] : kNoClass, b = n > 1 ? operands.ids[1] : kNoClass;
  if (n > 2) {
    std::array<ClassId, kMaxArity - 1> rest;
    rest.fill(kNoClass);
    std::copy(operands.begin() + 1, operands.end(), rest.begin());
    auto it = tuple_ids_.find(rest);
    if (it == tuple_ids_.end()) return std::nullopt;
    b = it->second;
  }
  if (n == 2 && plans_.label(static_cast<size_t>(instance)).op->commutative) {
    Operands mirrored = operands;
    std::swap(mirrored.ids[0], mirrored.ids[1]);
    if (fits(instance, mirrored) && (a > b || !fits(instance, operands))) std::swap(a, b);
  }
  return Application::of(instance, output, a, b);
}

std::optional<Application> ValueGraph::sibling(Application a, const OpDef* then) const {
  int k = plans_.sibling(a.instance(), then);
  if (k < 0) return std::nullopt;
  return Application::of(k, a.output(), a.a(), a.b());
}

void ValueGraph::index_applications() {
  for (ShapeId shape : shapes_)
    if (dims_.size() <= shape) dims_.resize(shape + 1, nullptr);
  for (ShapeId shape : shapes_)
    if (!dims_[shape]) dims_[shape] = &plans_.info(shape).dims;
  size_t cells = plans_.grammar().instances.size() * dims_.size() * dims_.size();
  if (cells <= kMostFits) fits_ = std::vector<std::atomic<uint8_t>>(cells);
  slots_.assign(std::bit_ceil(2 * by_application_.size() + 1), 0);
  for (size_t k = 0; k < by_application_.size(); ++k) {
    size_t slot = slot_of(by_application_[k].first);
    while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = static_cast<uint32_t>(k + 1);
  }
}

std::optional<size_t> ValueGraph::position_of(Application a) const {
  if (slots_.empty()) return std::nullopt;
  for (size_t slot = slot_of(a); slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1))
    if (by_application_[slots_[slot] - 1].first == a) return slots_[slot] - 1;
  return std::nullopt;
}

std::optional<ClassId> ValueGraph::find(Application a) const {
  auto at = position_of(a);
  return at ? std::optional(by_application_[*at].second) : std::nullopt;
}

ValueGraph::Below ValueGraph::find_below(Application a, int size) const {
  auto at = position_of(a);
  if (!at) return {};
  bool below = std::max<int>(1, node_sizes_[*at]) < size;
  return {true, below ? by_application_[*at].second : kNoClass};
}

std::span<const Application> ValueGraph::nodes(ClassId c) const {
  return {node_list_.data() + node_begin_[c], node_begin_[c + 1] - node_begin_[c]};
}

std::span<const Application> ValueGraph::nodes_below(ClassId c, int size) const {
  auto first = node_sizes_.begin() + static_cast<ptrdiff_t>(node_begin_[c]);
  auto last = node_sizes_.begin() + static_cast<ptrdiff_t>(node_begin_[c + 1]);
  auto below = std::lower_bound(first, last, size);
  return nodes(c).first(static_cast<size_t>(below - first));
}

int ValueGraph::gaps(uint64_t leaves) const {
  uint64_t filled = leaves;
  for (uint64_t before = 0; before != filled;) {
    before = filled;
    filled |= (filled & ~first_bits_) >> 1;
  }
  return std::popcount(filled & ~leaves);
}

Token ValueGraph::token_of(Application a, ClassId c) const {
  auto it = call_tokens_.find(Application{a.bits & ~(uint64_t{3} << 52)}.bits);
  return it == call_tokens_.end() ? c : it->second;
}

TermId ValueGraph::extract_within(Bank& bank, Application a, const Support& within) const {
  std::vector<TermId> terms;
  for (ClassId c : operands(a)) {
    terms.push_back(extract(bank, c, within));
    if (terms.back() < 0) return -1;
  }
  auto instance = static_cast<size_t>(a.instance());
  TermId t = bank.call(bank.add_label(plans_.label(instance)), std::move(terms), a.output());
  if (const Label* then = plans_.then(instance)) t = bank.call(bank.add_label(*then), {t});
  return t;
}

TermId ValueGraph::extract(Bank& bank, ClassId c, const Support& within) const {
  if (is_leaf(c)) return leaf_terms_[c];
  if (level(c) == 0) return extract_within(bank, first_[c], within);
  for (Application a : nodes(c)) {
    Token token = token_of(a, c);
    if (!contains(within.span(), token)) continue;
    if (TermId t = extract_within(bank, a, within.without(token)); t >= 0) return t;
  }
  return -1;
}

TermId ValueGraph::extract(Bank& bank, Application a) const {
  std::vector<SupportList> lists;
  for (ClassId c : operands(a)) lists.push_back(supports(c));
  return extract_within(bank, a, lists.empty() ? Support{} : best_union(lists));
}

TermId ValueGraph::extract(Bank& bank, ClassId c) const {
  return is_leaf(c) ? leaf_terms_[c] : extract(bank, first_[c]);
}

uint64_t ValueGraph::bytes() const {
  uint64_t per_class = sizeof(ShapeId) + 1 + 16 + sizeof(Application);
  return per_class * shapes_.capacity() + supports_.bytes() + nodes_.capacity() * 16 +
         node_list_.capacity() * 9 + by_application_.capacity() * 16 + slots_.capacity() * 4;
}

}  // namespace regraft::gen
