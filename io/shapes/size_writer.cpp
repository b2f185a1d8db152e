#include "io/shapes/size_writer.h"

#include "base/check.h"
#include "ir/ops/define.h"

namespace regraft::io {
namespace {

constexpr int kShapeHasRange = 15;  // the opset from which Shape takes start and end

class SizeDigest {
 public:
  explicit SizeDigest(const Graph& g) : axes_(input_axes(g)) {}
  Digest run(const SizeTensor& t) {
    sha_.text("sizes").number(static_cast<uint64_t>(t.dtype)).number(t.dims.size());
    for (int64_t d : t.dims) sha_.number(static_cast<uint64_t>(d));
    for (const SizeElement& e : t.elements) {
      add(e.value);
      sha_.number(static_cast<uint64_t>(e.divisor));
    }
    return sha_.finish();
  }

 private:
  void add(const Poly& p) {
    sha_.number(static_cast<uint64_t>(p.constant())).number(p.terms().size());
    for (const auto& [monomial, coefficient] : p.terms()) {
      sha_.number(static_cast<uint64_t>(coefficient)).number(monomial.size());
      for (Var v : monomial) add(v);
    }
  }
  void add(Var v) {
    if (v->kind == SymbolKind::Quotient) {
      sha_.text("quotient");
      add(*v->numerator);
      add(*v->denominator);
      return;
    }
    const InputAxis& at = axes_.at(v);
    sha_.text("input").number(at.input).number(at.axis);
  }

  std::map<Var, InputAxis, SymbolLess> axes_;
  Sha256 sha_;
};

}  // namespace

std::map<Var, InputAxis, SymbolLess> input_axes(const Graph& g) {
  std::map<Var, InputAxis, SymbolLess> axes;
  for (size_t k = 0; k < g.inputs().size(); ++k) {
    const auto& shape = g.type(g.inputs()[k]).shape;
    for (size_t d = 0; shape && d < shape->size(); ++d)
      if (Var v = symbol_of((*shape)[d])) axes.try_emplace(v, InputAxis{k, d});
  }
  return axes;
}

Digest digest_of(const SizeTensor& t, const Graph& g) { return SizeDigest(g).run(t); }

std::string SizeWriter::number(int64_t n) { return target_.constant(Constant::of_ints({1}, {n})); }

std::string SizeWriter::shape(size_t input) {
  auto [it, fresh] = shapes_.try_emplace(input);
  if (fresh) it->second = target_.add({"Shape", {target_.input(input)}, {}});
  return it->second;
}

std::string SizeWriter::size(Var v) {
  InputAxis at = axes_.at(v);
  auto axis = static_cast<int64_t>(at.axis);
  if (opset_ >= kShapeHasRange)
    return target_.add({"Shape",
                        {target_.input(at.input)},
                        {{"start", ops::int_attr(axis)}, {"end", ops::int_attr(axis + 1)}}});
  return target_.add({"Gather", {shape(at.input), number(axis)}, {}});
}

std::string SizeWriter::symbol(Var v) {
  if (v->kind == SymbolKind::Size) return size(v);
  CHECK(v->kind == SymbolKind::Quotient);
  return target_.add({"Div", {scalar(*v->numerator), scalar(*v->denominator)}, {}});
}

std::string SizeWriter::power_product(const Monomial& m) {
  std::string product = scalar(Poly::symbol(m[0]));
  for (size_t k = 1; k < m.size(); ++k)
    product = target_.add({"Mul", {product, scalar(Poly::symbol(m[k]))}, {}});
  return product;
}

std::string SizeWriter::computed(const Poly& p) {
  if (p.is_constant()) return number(p.constant());
  if (Var v = symbol_of(p)) return symbol(v);
  std::string total;
  for (const auto& [monomial, coefficient] : p.terms()) {
    std::string term = power_product(monomial);
    if (coefficient != 1) term = target_.add({"Mul", {term, number(coefficient)}, {}});
    total = total.empty() ? term : target_.add({"Add", {total, term}, {}});
  }
  if (p.constant() != 0) total = target_.add({"Add", {total, number(p.constant())}, {}});
  return total;
}

/// 1-D with one element.
std::string SizeWriter::scalar(const Poly& p) {
  if (auto it = scalars_.find(p); it != scalars_.end()) return it->second;
  std::string name = computed(p);
  return scalars_[p] = name;
}

size_t SizeWriter::run(const std::vector<Poly>& sizes, size_t k) const {
  Var first = symbol_of(sizes[k]);
  if (!first || !axes_.contains(first)) return 0;
  InputAxis at = axes_.at(first);
  size_t n = 1;
  for (; k + n < sizes.size(); ++n) {
    Var next = symbol_of(sizes[k + n]);
    if (!next || !axes_.contains(next)) break;
    InputAxis there = axes_.at(next);
    if (there.input != at.input || there.axis != at.axis + n) break;
  }
  return n;
}

/// sizes[first .. first+count-1], all numbers, or axes of one input, or one size.
std::string SizeWriter::part(const std::vector<Poly>& sizes, size_t first, size_t count) {
  if (sizes[first].is_constant()) {
    std::vector<int64_t> numbers;
    for (size_t k = first; k < first + count; ++k) numbers.push_back(sizes[k].constant());
    return target_.constant(Constant::of_ints({static_cast<int64_t>(count)}, numbers));
  }
  if (count == 1) return scalar(sizes[first]);
  InputAxis at = axes_.at(symbol_of(sizes[first]));
  auto start = static_cast<int64_t>(at.axis), end = start + static_cast<int64_t>(count);
  return target_.add({"Shape",
                      {target_.input(at.input)},
                      {{"start", ops::int_attr(start)}, {"end", ops::int_attr(end)}}});
}

std::string SizeWriter::write(const std::vector<Poly>& sizes) {
  std::string key;
  for (const Poly& p : sizes) key += to_string(p) + ",";
  if (auto it = lists_.find(key); it != lists_.end()) return it->second;
  std::vector<std::string> parts;
  for (size_t k = 0; k < sizes.size();) {
    size_t count = 1;
    if (sizes[k].is_constant())
      while (k + count < sizes.size() && sizes[k + count].is_constant()) ++count;
    else if (opset_ >= kShapeHasRange)
      count = std::max<size_t>(1, run(sizes, k));
    parts.push_back(part(sizes, k, count));
    k += count;
  }
  std::string name =
      parts.size() == 1 ? parts[0] : target_.add({"Concat", parts, {{"axis", ops::int_attr(0)}}});
  return lists_[key] = name;
}

std::string SizeWriter::write(const SizeTensor& t) {
  std::vector<Poly> sizes;
  for (const SizeElement& e : t.elements) sizes.push_back(e.value);
  std::string name = write(sizes);
  if (t.dims.size() != 1) {
    auto rank = static_cast<int64_t>(t.dims.size());
    name =
        target_.add({"Reshape", {name, target_.constant(Constant::of_ints({rank}, t.dims))}, {}});
  }
  if (t.dtype != DType::I64)
    name = target_.add({"Cast", {name}, {{"to", ops::int_attr(static_cast<int64_t>(t.dtype))}}});
  return name;
}

}  // namespace regraft::io
