#include "verify/model/origins.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/check.h"
#include "base/hash.h"
#include "ir/graph/graph.h"

namespace regraft::verify {
namespace {

using Dims = std::vector<int64_t>;
using Bytes = std::vector<std::byte>;

constexpr int64_t kLeast = 2;           ///< elements of a constant that is looked for
constexpr size_t kMostAxes = 4;         ///< of a constant whose axes are permuted
constexpr int64_t kIdentity = 1 << 22;  ///< elements of a matrix that is compared with an identity

int64_t count_of(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

/// The same for the same elements in any order.
uint64_t hash_of_elements(const Bytes& bytes, size_t width) {
  uint64_t h = 0;
  for (size_t k = 0; k + width <= bytes.size(); k += width) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + k, std::min(width, sizeof word));
    h += mix(word + 1);
  }
  return h;
}

/// A constant of the first model.
struct Source {
  int32_t id = -1;
  const Constant* data = nullptr;
  uint64_t elements = 0;
  Bytes row, column;  ///< how it begins; of a matrix how its transpose does
};
constexpr int64_t kBegin = 8;  ///< elements

/// Element by element, where `from` has the axes `perm` in that order; checks some at first.
bool equal_permuted(const Bytes& to, const Bytes& from, const Dims& dims,
                    const std::vector<int>& perm, size_t width) {
  size_t rank = dims.size();
  Dims strides(rank, 1), moved(rank), step(rank);
  for (size_t d = rank; d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  for (size_t d = 0; d < rank; ++d) {
    moved[d] = dims[static_cast<size_t>(perm[d])];
    step[d] = strides[static_cast<size_t>(perm[d])];
  }
  auto place = [&](int64_t n) {
    int64_t at = 0;
    for (size_t d = rank; d-- > 0; n /= moved[d]) at += n % moved[d] * step[d];
    return static_cast<size_t>(at);
  };
  auto same_at = [&](int64_t n) {
    return std::memcmp(to.data() + static_cast<size_t>(n) * width, from.data() + place(n) * width,
                       width) == 0;
  };
  int64_t count = count_of(dims);
  for (int64_t k = 1; k <= 16; ++k)
    if (!same_at(count * k / 17)) return false;
  for (int64_t n = 0; n < count; ++n)
    if (!same_at(n)) return false;
  return true;
}

/// Where a tensor of dims `part` lies in one of dims `whole` from `offset` on along `axis`.
bool equal_part(const Bytes& whole, const Dims& dims, const Bytes& part, size_t axis,
                int64_t offset, int64_t extent, size_t width) {
  int64_t inner = 1, outer = 1;
  for (size_t d = axis + 1; d < dims.size(); ++d) inner *= dims[d];
  for (size_t d = 0; d < axis; ++d) outer *= dims[d];
  auto row = static_cast<size_t>(inner * extent) * width;
  for (int64_t o = 0; o < outer; ++o) {
    auto from = static_cast<size_t>((o * dims[axis] + offset) * inner) * width;
    if (std::memcmp(whole.data() + from, part.data() + static_cast<size_t>(o) * row, row) != 0)
      return false;
  }
  return true;
}

bool equal_but(const Dims& a, const Dims& b, size_t axis) {
  if (a.size() != b.size()) return false;
  for (size_t d = 0; d < a.size(); ++d)
    if (d != axis && a[d] != b[d]) return false;
  return true;
}

class Finder {
 public:
  explicit Finder(Pair& pair) : pair_(pair), g_(pair.graph) {}

  Status run() {
    ASSIGN_OR_RETURN(auto order, topological_order(g_));
    std::vector<int32_t> wanted;
    for (int32_t id : order) {
      const Node& n = g_.node(id);
      if (n.kind != NodeKind::Constant || size_of(n.constant->dtype()) == 0) continue;
      if (n.constant->count() < kLeast) continue;
      if (is_square(*n.constant)) {
        ASSIGN_OR_RETURN(bool identity, is_identity(*n.constant));
        if (identity) become_identity(id);
        if (identity) continue;
      }
      if (id >= pair_.first_b)
        wanted.push_back(id);
      else
        sources_.push_back({id, n.constant.get(), 0, {}, {}});
    }
    for (int32_t id : wanted) RETURN_IF_ERROR(find(id));
    return {};
  }

 private:
  Status find(int32_t id) {
    RETURN_IF_ERROR(know_sources());
    ASSIGN_OR_RETURN(Bytes bytes, g_.node(id).constant->bytes());
    ASSIGN_OR_RETURN(bool moved, find_moved(id, bytes));
    if (moved) return {};
    ASSIGN_OR_RETURN(bool part, find_part(id, bytes));
    if (part) return {};
    return find_joined(id, bytes);
  }

  static bool is_square(const Constant& c) {
    return c.dims().size() == 2 && c.dims()[0] == c.dims()[1] && is_real(c.dtype()) &&
           c.count() <= kIdentity;
  }
  static Result<bool> is_identity(const Constant& c) {
    ASSIGN_OR_RETURN(auto data, c.reals());
    int64_t n = c.dims()[0];
    for (int64_t k = 0; k < n * n; ++k)
      if (data[static_cast<size_t>(k)] != (k / n == k % n ? 1 : 0)) return false;
    return true;
  }
  void become_identity(int32_t id) {
    Attrs<Poly> at{{{Poly(g_.node(id).constant->dims()[0])}}, {}};
    become(id, "identity-matrix", {}, std::move(at));
  }

  /// The node becomes this call; its type stays.
  void become(int32_t id, const char* op, std::vector<Value> operands, Attrs<Poly> attrs) {
    Node n = g_.node(id);
    n.kind = NodeKind::Call;
    n.op = find_op(op);
    n.attrs = std::move(attrs);
    n.inputs = std::move(operands);
    n.constant = nullptr;
    g_.replace_node(id, std::move(n));
  }
  Value call(const char* op, Value operand, Attrs<Poly> attrs) {
    auto id = g_.add_call(*find_op(op), {operand}, std::move(attrs));
    CHECK(id);
    return {*id, 0};
  }
  static std::vector<Poly> polys(const Dims& dims) { return {dims.begin(), dims.end()}; }

  Status know_sources() {
    if (known_) return {};
    known_ = true;
    for (Source& s : sources_) {
      ASSIGN_OR_RETURN(Bytes bytes, s.data->bytes());
      size_t width = size_of(s.data->dtype());
      s.elements = hash_of_elements(bytes, width);
      const Dims& dims = s.data->dims();
      auto begin = [&](int64_t n, int64_t step) {
        Bytes some;
        for (int64_t k = 0; k < std::min(n, kBegin); ++k)
          for (size_t b = 0; b < width; ++b)
            some.push_back(bytes[static_cast<size_t>(k * step) * width + b]);
        return some;
      };
      if (!dims.empty()) s.row = begin(dims.back(), 1);
      if (dims.size() == 2) s.column = begin(dims[0], dims[1]);
      by_elements_[{s.data->count(), s.elements}].push_back(&s);
    }
    return {};
  }

  Result<bool> find_moved(int32_t id, const Bytes& bytes) {
    const std::shared_ptr<const Constant> c = g_.node(id).constant;
    size_t width = size_of(c->dtype());
    auto it = by_elements_.find({c->count(), hash_of_elements(bytes, width)});
    if (it == by_elements_.end()) return false;
    for (const Source* s : it->second) {
      if (s->data->dtype() != c->dtype()) continue;
      ASSIGN_OR_RETURN(Bytes from, s->data->bytes());
      Value source{s->id, 0};
      Attrs<Poly> reshape{{polys(c->dims())}, {}};
      if (from == bytes) {
        become(id, "reshape", {source}, std::move(reshape));
        return true;
      }
      const Dims& dims = s->data->dims();
      if (dims.size() > kMostAxes) continue;
      std::vector<int> perm(dims.size());
      std::iota(perm.begin(), perm.end(), 0);
      while (std::next_permutation(perm.begin(), perm.end())) {
        if (!equal_permuted(bytes, from, dims, perm, width)) continue;
        Attrs<Poly> at{{{perm.begin(), perm.end()}}, {}};
        Dims moved;
        for (int p : perm) moved.push_back(dims[static_cast<size_t>(p)]);
        if (moved == c->dims())
          become(id, "transpose", {source}, std::move(at));
        else
          become(id, "reshape", {call("transpose", source, std::move(at))}, std::move(reshape));
        return true;
      }
    }
    return false;
  }

  Result<bool> find_part(int32_t id, const Bytes& bytes) {
    const std::shared_ptr<const Constant> c = g_.node(id).constant;
    const Dims& dims = c->dims();
    size_t width = size_of(c->dtype());
    for (const Source& s : sources_) {
      if (s.data->dtype() != c->dtype() || s.data->count() <= c->count()) continue;
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        const Dims& whole = s.data->dims();
        if (!equal_but(whole, dims, axis) || whole[axis] % dims[axis] != 0) continue;
        ASSIGN_OR_RETURN(Bytes from, s.data->bytes());
        for (int64_t offset = 0; offset < whole[axis]; offset += dims[axis]) {
          if (!equal_part(from, whole, bytes, axis, offset, dims[axis], width)) continue;
          std::vector<Poly> begins(dims.size(), Poly(0)), steps(dims.size(), Poly(1));
          begins[axis] = Poly(offset);
          become(id, "slice", {{s.id, 0}}, {{begins, polys(dims), steps}, {}});
          return true;
        }
      }
    }
    return false;
  }

  Status find_joined(int32_t id, const Bytes& bytes) {
    const std::shared_ptr<const Constant> c = g_.node(id).constant;
    const Dims& dims = c->dims();
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      std::vector<Value> parts;
      for (int64_t offset = 0; offset < dims[axis];) {
        ASSIGN_OR_RETURN(auto part, part_at(*c, bytes, axis, offset));
        if (!part) break;
        parts.push_back(part->first);
        offset += part->second;
        if (offset < dims[axis] || parts.size() < 2) continue;
        become(id, "concat", std::move(parts), {{{Poly(static_cast<int64_t>(axis))}}, {}});
        return {};
      }
    }
    return {};
  }

  /// The constant, or its transpose, that lies there, and its extent.
  Result<std::optional<std::pair<Value, int64_t>>> part_at(const Constant& c, const Bytes& bytes,
                                                           size_t axis, int64_t offset) {
    using Part = std::optional<std::pair<Value, int64_t>>;
    const Dims& dims = c.dims();
    size_t width = size_of(c.dtype());
    int64_t inner = 1;
    for (size_t d = axis + 1; d < dims.size(); ++d) inner *= dims[d];
    auto at = static_cast<size_t>(offset * inner) * width;
    for (const Source& s : sources_) {
      if (s.data->dtype() != c.dtype() || s.data->count() >= c.count()) continue;
      Dims part = s.data->dims();
      auto fits = [&](const Bytes& begin) {
        return equal_but(part, dims, axis) && offset + part[axis] <= dims[axis] &&
               std::memcmp(bytes.data() + at, begin.data(), begin.size()) == 0;
      };
      if (fits(s.row)) {
        ASSIGN_OR_RETURN(Bytes from, s.data->bytes());
        if (equal_part(bytes, dims, from, axis, offset, part[axis], width))
          return Part({{s.id, 0}, part[axis]});
      }
      if (part.size() != 2 || dims.size() != 2) continue;
      std::swap(part[0], part[1]);
      if (!fits(s.column)) continue;
      ASSIGN_OR_RETURN(Bytes from, s.data->bytes());
      Bytes turned(from.size());
      for (int64_t i = 0; i < part[0]; ++i)
        for (int64_t j = 0; j < part[1]; ++j)
          std::memcpy(turned.data() + static_cast<size_t>(i * part[1] + j) * width,
                      from.data() + static_cast<size_t>(j * part[0] + i) * width, width);
      if (!equal_part(bytes, dims, turned, axis, offset, part[axis], width)) continue;
      return Part({call("transpose", {s.id, 0}, {{{Poly(1), Poly(0)}}, {}}), part[axis]});
    }
    return Part();
  }

  Pair& pair_;
  Graph& g_;
  bool known_ = false;
  std::vector<Source> sources_;
  std::map<std::pair<int64_t, uint64_t>, std::vector<const Source*>> by_elements_;
};

}  // namespace

Status find_origins(Pair& pair) { return Finder(pair).run(); }

}  // namespace regraft::verify
