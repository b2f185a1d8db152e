#pragma once
// The formula of attention, which the forms of onnxruntime share.
#include <cmath>

#include "base/parallel.h"
#include "ir/ops/define.h"
#include "ir/ops/layers/dense.h"

namespace regraft::ops {

// out[b, h, s, e] = sum over t of p(t) * v[b, g, t, e], with p(t) = exp(z(t)) / sum over t of
// exp(z(t)) and z(t) = cap(scale * sum over d of q[b, h, s, d] * k[b, g, t, d]) + mask[b, h, s, t];
// g is the head of k and v that h shares with others, cap(z) is softcap * tanh(z / softcap) unless
// softcap is 0, and with causal = 1 only t <= s count. Scale 0 means 1 / sqrt(size of d).
// Operands: q, k, v, maybe mask, which is broadcast. Of rank 3 q, k and v have the heads in their
// last axis, [batch, place, head * size]: then q_heads and kv_heads say how many. The biased form
// is of rank 3 and adds a vector to the last axis of q, k and v first, one after the other.
template <bool Biased>
struct AttentionForm {
  static constexpr size_t kMask = Biased ? 4 : 3;  // the operand
  static constexpr Work work = Work::Product;
  static constexpr int min_arity = kMask, max_arity = kMask + 1;
  static constexpr IntAttr ints[] = {{"q_heads", Length::One, 0, true},
                                     {"kv_heads", Length::One, 0, true},
                                     {"causal", Length::One, 0, true}};
  static constexpr RealAttr reals[] = {{"scale", 0, true}, {"softcap", 0, true}};
  static bool is_zero(const Real& r) { return r.value == 0 && !r.symbol; }
  /// A shape as [batch, head, place, size].
  template <Algebra A, class I = typename A::Index>
  static std::array<I, 4> by_heads(A& alg, const ShapeOf<I>& s, const I& heads) {
    if (s.size() == 4) return {s[0], s[1], s[2], s[3]};
    return {s[0], heads, s[1], alg.floordiv(s[2], heads)};
  }
  template <Algebra A, class I = typename A::Index>
  static std::array<I, 4> by_heads(A& alg, const typename A::Tensor& t, const I& heads) {
    ShapeOf<I> s;
    for (int d = 0; d < t.rank(); ++d) s.push_back(t.dim(d));
    return by_heads(alg, s, heads);
  }
  OP_SHAPES {
    using I = typename A::Index;
    const I &q_heads = at.ints[0][0], &kv_heads = at.ints[1][0];
    size_t rank = in[0].size();
    bool fits = rank == 4 && !Biased ? fixed(q_heads) == 0 && fixed(kv_heads) == 0
                                     : rank == 3 && fixed(q_heads) > 0 && fixed(kv_heads) > 0;
    if (!fits || in[1].size() != rank || in[2].size() != rank)
      return error("attention: ranks of the operands, or numbers of heads, do not fit");
    auto q = by_heads(alg, in[0], q_heads), k = by_heads(alg, in[1], kv_heads),
         v = by_heads(alg, in[2], kv_heads);
    for (size_t n : {0, 1, 2})
      if (rank == 3) {
        const I& heads = n == 0 ? q_heads : kv_heads;
        alg.require(in[n][2] == heads * alg.floordiv(in[n][2], heads));
      }
    alg.require(k[0] == q[0]);
    alg.require(k[3] == q[3]);
    for (size_t d : {0, 1, 2}) alg.require(v[d] == k[d]);
    alg.require(q[1] == k[1] * alg.floordiv(q[1], k[1]));
    if constexpr (Biased) {
      if (in[3].size() != 1) return error("attention: the bias is not a vector");
      alg.require(in[3][0] == in[0][2] + in[1][2] + in[2][2]);
    }
    if (in.size() > kMask) {
      std::array<I, 4> scores = {q[0], q[1], q[2], k[2]};
      const auto& mask = in[kMask];
      if (mask.size() < 2 || mask.size() > 4) return error("attention: rank of the mask");
      for (size_t d = 1; d <= mask.size(); ++d)
        if (const I& size = mask[mask.size() - d]; !is_one(size))
          alg.require(size == scores[4 - d]);
    }
    if (rank == 4) return Shapes<A>{{q[0], q[1], q[2], v[3]}};
    return Shapes<A>{{q[0], q[2], q_heads * v[3]}};
  }
  /// What one element of the output reads.
  template <Algebra A>
  struct Reader {
    using I = typename A::Index;
    using S = typename A::Scalar;
    A& alg;
    Tensors<A> in;
    const Attrs<I>& at;
    I b, h, g, s, e, size, places;
    Reader(A& a, Tensors<A> operands, const Attrs<I>& attrs, Position<A> i)
        : alg(a), in(operands), at(attrs) {
      auto q = by_heads(alg, in[0], at.ints[0][0]), k = by_heads(alg, in[1], at.ints[1][0]),
           v = by_heads(alg, in[2], at.ints[1][0]);
      bool four = i.size() == 4;
      b = i[0];
      s = i[four ? 2 : 1];
      h = four ? i[1] : alg.floordiv(i[2], v[3]);
      e = four ? i[3] : i[2] - h * v[3];
      g = alg.floordiv(h, alg.floordiv(q[1], k[1]));
      size = q[3];
      places = k[2];
    }
    S read(size_t operand, const I& head, const I& place, const I& d, const I& width) {
      if (in[operand].rank() == 4)
        return alg.read(in[operand], std::array<I, 4>{b, head, place, d});
      I last = head * width + d;
      S x = alg.read(in[operand], std::array<I, 3>{b, place, last});
      if constexpr (!Biased) return x;
      for (size_t before = 0; before < operand; ++before) last = last + in[before].dim(2);
      return x + alg.read(in[3], std::array<I, 1>{last});
    }
    S scale() {
      if (!is_zero(at.reals[0])) return alg.real(at.reals[0]);
      return alg.apply(Fn::Recip, alg.apply(Fn::Sqrt, alg.to_scalar(size)));
    }
    S score(const I& t) {
      auto z = scale() * alg.sum(size, [&](const I& d) {
        return read(0, h, s, d, size) * read(1, g, t, d, size);
      });
      if (!is_zero(at.reals[1])) {
        auto cap = alg.real(at.reals[1]);
        z = cap * alg.apply(Fn::Tanh, z * alg.apply(Fn::Recip, cap));
      }
      if (in.size() > kMask)
        z = z + read_broadcast(alg, in[kMask], std::span<const I>(std::array<I, 4>{b, h, s, t}));
      return z;
    }
    S value(const I& t) {
      return read(2, g, t, e, alg.floordiv(in[2].dim(in[2].rank() - 1), heads_of_v()));
    }
    I heads_of_v() { return in[2].rank() == 4 ? I(1) : at.ints[1][0]; }
    /// f(t), or 0 where t does not count.
    template <class F>
    S counted(const I& t, F&& f) {
      if (fixed(at.ints[2][0]) == 0) return f();
      return alg.select(t <= s, f, [&] { return zero(alg); });
    }
  };
  OP_ELEMENT {
    using I = typename A::Index;
    Reader<A> r(alg, in, at, i);
    auto weight = [&](const I& t) { return alg.apply(Fn::Exp, r.score(t)); };
    auto total =
        alg.sum(r.places, [&](const I& t) { return r.counted(t, [&] { return weight(t); }); });
    auto sum = alg.sum(
        r.places, [&](const I& t) { return r.counted(t, [&] { return weight(t) * r.value(t); }); });
    return sum * alg.apply(Fn::Recip, total);
  }
  // With exp(z(t) - m), where m is the largest z(t); each p(t) before it is multiplied.
  OP_FLOAT_ELEMENT {
    using I = typename A::Index;
    Reader<A> r(alg, in, at, i);
    std::array<I, 1> extent = {r.places};
    bool causal = fixed(at.ints[2][0]) != 0;
    auto largest = alg.max_over(
        std::span<const I>(extent),
        [&](std::span<const I> t) { return causal ? t[0] <= r.s : I(0) <= I(0); },
        [&](std::span<const I> t) { return r.score(t[0]); });
    auto weight = [&](const I& t) { return alg.apply(Fn::Exp, minus(alg, r.score(t), largest)); };
    auto total =
        alg.sum(r.places, [&](const I& t) { return r.counted(t, [&] { return weight(t); }); });
    auto part = alg.apply(Fn::Recip, total);
    return alg.sum(r.places, [&](const I& t) {
      return r.counted(t, [&] { return weight(t) * part * r.value(t); });
    });
  }
  /// A matrix [place, size] of one head.
  struct Matrix {
    const double* data;
    int64_t stride, rows, columns;
    Matrix(const NumTensor<double>& t, int64_t heads, int64_t batch, int64_t head) {
      bool four = t.rank() == 4;
      rows = t.dim(four ? 2 : 1);
      columns = four ? t.dim(3) : t.dim(2) / heads;
      stride = four ? columns : t.dim(2);
      data = t.data + batch * t.strides[0] + head * (four ? t.strides[1] : columns);
    }
  };
  static void dense(Tensors<Reals> in, const Attrs<int64_t>& at, std::span<const int64_t> shape,
                    std::span<double> out) {
    bool four = shape.size() == 4;
    int64_t q_heads = four ? in[0].dim(1) : at.ints[0][0],
            kv_heads = four ? in[1].dim(1) : at.ints[1][0];
    NumTensor<double> result(shape, out.data());
    parallel_for(static_cast<size_t>(shape[0] * q_heads), default_threads(), [&](size_t task) {
      int64_t b = static_cast<int64_t>(task) / q_heads, h = static_cast<int64_t>(task) % q_heads;
      int64_t g = h / (q_heads / kv_heads);
      Matrix q(in[0], q_heads, b, h), k(in[1], kv_heads, b, g), v(in[2], kv_heads, b, g),
          y(result, q_heads, b, h);
      std::vector<double> turned(static_cast<size_t>(k.rows * k.columns));
      for (int64_t t = 0; t < k.rows; ++t)
        for (int64_t d = 0; d < k.columns; ++d)
          turned[static_cast<size_t>(d * k.rows + t)] = k.data[t * k.stride + d];
      constexpr int64_t kRows = 64;  // a block of work
      std::vector<double> scores(static_cast<size_t>(kRows * k.rows));
      for (int64_t first = 0; first < q.rows; first += kRows) {
        int64_t count = std::min(kRows, q.rows - first);
        multiply(q.data + first * q.stride, q.stride, turned.data(), k.rows, scores.data(), k.rows,
                 count, q.columns, k.rows);
        for (int64_t s = 0; s < count; ++s)
          weigh({scores.data() + s * k.rows, static_cast<size_t>(k.rows)}, in, at, b, h, first + s);
        multiply(scores.data(), k.rows, v.data, v.stride,
                 out.data() + (y.data - out.data()) + first * y.stride, y.stride, count, k.rows,
                 v.columns);
      }
    });
  }
  /// From products to weights, for one place of q.
  static void weigh(std::span<double> row, Tensors<Reals> in, const Attrs<int64_t>& at, int64_t b,
                    int64_t h, int64_t s) {
    bool four = in[0].rank() == 4;
    auto size = static_cast<double>(four ? in[0].dim(3) : in[0].dim(2) / at.ints[0][0]);
    double scale = is_zero(at.reals[0]) ? 1 / std::sqrt(size) : at.reals[0].value,
           cap = at.reals[1].value, total = 0;
    Reals reals;
    size_t counted = row.size();
    if (at.ints[2][0] != 0) counted = std::min(counted, static_cast<size_t>(s) + 1);
    for (size_t t = 0; t < counted; ++t) {
      row[t] *= scale;
      if (cap != 0) row[t] = cap * std::tanh(row[t] / cap);
      std::array<int64_t, 4> i = {b, h, s, static_cast<int64_t>(t)};
      if (in.size() > kMask)
        row[t] += read_broadcast(reals, in[kMask], std::span<const int64_t>(i));
    }
    double largest = *std::max_element(row.begin(), row.begin() + static_cast<int64_t>(counted));
    for (size_t t = 0; t < counted; ++t) total += row[t] = std::exp(row[t] - largest);
    for (size_t t = 0; t < row.size(); ++t) row[t] = t < counted ? row[t] / total : 0;
  }
  /// Of onnxruntime, without caches and padding: heads in the last axis, as many of k and v as of
  /// q.
  static std::optional<OnnxImport> multi_head(const OnnxNode& n) {
    if (n.inputs.size() < 3 || n.outputs != 1) return std::nullopt;
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      bool wanted = k < 3, allowed = wanted || k == 5 || (k == 3 && Biased);
      if ((wanted && rank_of(n, k) != 3) || (!allowed && n.inputs[k].present)) return std::nullopt;
    }
    const int64_t causal = n.integer("unidirectional", 0);
    if (causal != 0 && causal != 1) return std::nullopt;  // runtimes differ
    // With fewer places of q than of k onnxruntime's own operator lets the last one see all of k,
    // the standard one lets the first one see the first.
    if (causal != 0 && !same((*n.inputs[0].type.shape)[1], (*n.inputs[1].type.shape)[1]))
      return std::nullopt;
    int64_t heads = n.integer("num_heads", 0);
    OnnxImport r{{{{Poly(heads)}, {Poly(heads)}, {Poly(causal)}},
                  {{n.real("scale", 0), nullptr}, {0, nullptr}}},
                 {0, 1, 2}};
    if (Biased) {
      if (n.inputs.size() < 4 || !n.inputs[3].present) return std::nullopt;
      r.operands.push_back(3);
    }
    if (n.has("scale") && r.attrs.reals[0].value == 0) return std::nullopt;
    if (n.inputs.size() > 5 && n.inputs[5].present) r.operands.push_back(5);
    return r;
  }
  /// Does onnxruntime's own operator take it? Its mask has the size of the scores in the last two
  /// axes.
  static bool is_multi_head(const Attrs<Poly>& at, const std::vector<TensorType>& in) {
    const Shape &q = *in[0].shape, &k = *in[1].shape;
    if (q.size() != 3 || in[0].dtype != DType::F32 || !is_zero(at.reals[1])) return false;
    if (!same(at.ints[0][0], at.ints[1][0]) || !same(q[2], k[2])) return false;
    if (!at.ints[2][0].is_zero() && !same(q[1], k[1])) return false;
    if (in.size() <= kMask) return true;
    const Shape& mask = *in[kMask].shape;
    return mask.size() == 4 && same(mask[2], q[1]) && same(mask[3], k[1]);
  }
  static OnnxExport write_multi_head(const Attrs<Poly>& at, const std::vector<TensorType>& in) {
    OnnxExport r;
    r.type = "com.microsoft:MultiHeadAttention";
    r.inputs = operand_inputs(static_cast<int>(kMask));
    if (in.size() > kMask) {
      r.inputs.resize(5);
      r.inputs.push_back({static_cast<int>(kMask), nullptr});
    }
    r.attrs["num_heads"] = int_attr(fixed(at.ints[0][0]));
    if (fixed(at.ints[2][0]) != 0) r.attrs["unidirectional"] = int_attr(1);
    if (!is_zero(at.reals[0])) r.attrs["scale"].floats = {at.reals[0].value};
    return r;
  }
};

struct Attention : AttentionForm<false> {
  static constexpr std::string_view name = "attention";
  static constexpr std::string_view onnx[] = {"Attention", "com.microsoft:MultiHeadAttention"};
  static constexpr TypeSupport types[] = {
      {DType::F32, 23, 23}, {DType::F16, 23, 23}, {DType::F64, 23, 23}, {DType::BF16, 23, kNever}};
  static constexpr DType microsoft[] = {DType::F32};
  // Without caches, other outputs, masks of truth values and windows.
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    if (n.type == onnx[1]) return multi_head(n);
    auto rank = rank_of(n, 0);
    bool heads = n.has("q_num_heads") && n.has("kv_num_heads");
    if (!rank || n.outputs != 1 || n.inputs.size() < 3 || (*rank == 3) != heads ||
        n.integer("left_window_size", -1) != -1 || n.integer("right_window_size", -1) != -1)
      return std::nullopt;
    for (size_t k = 4; k < n.inputs.size(); ++k)
      if (n.inputs[k].present) return std::nullopt;
    if (n.inputs.size() > 3 && n.inputs[3].type.dtype == DType::Bool) return std::nullopt;
    auto type = static_cast<int64_t>(n.inputs[0].type.dtype);
    if (n.integer("softmax_precision", type) != type) return std::nullopt;
    const int64_t causal = n.integer("is_causal", 0);
    if (causal != 0 && causal != 1) return std::nullopt;
    OnnxImport r{{{{Poly(n.integer("q_num_heads", 0))},
                   {Poly(n.integer("kv_num_heads", 0))},
                   {Poly(causal)}},
                  {{n.real("scale", 0), nullptr}, {n.real("softcap", 0), nullptr}}},
                 {0, 1, 2}};
    if (n.has("scale") && r.attrs.reals[0].value == 0) return std::nullopt;
    if (n.inputs.size() > 3 && n.inputs[3].present) r.operands.push_back(3);
    return r;
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    Opset opset) {
    if (std::any_of(in.begin(), in.end(), [](const auto& t) { return has_zero(*t.shape); }))
      return error("Attention of nothing does not run");
    if (fixed(at.ints[2][0]) != 0 && in[0].dtype == DType::F64)
      return error("causal Attention on float64 does not run");
    if (opset.microsoft && opset.version < 23) {
      if (is_multi_head(at, in)) return write_multi_head(at, in);
      return error("MultiHeadAttention does not take these operands");
    }
    OnnxExport r;
    r.type = onnx[0];
    r.inputs = operand_inputs(static_cast<int>(in.size()));
    if (in[0].shape->size() == 3) {
      r.attrs["q_num_heads"] = int_attr(fixed(at.ints[0][0]));
      r.attrs["kv_num_heads"] = int_attr(fixed(at.ints[1][0]));
    }
    r.attrs["is_causal"] = int_attr(fixed(at.ints[2][0]));
    if (!is_zero(at.reals[0])) r.attrs["scale"].floats = {at.reals[0].value};
    if (!is_zero(at.reals[1])) r.attrs["softcap"].floats = {at.reals[1].value};
    return r;
  }
  static std::vector<Sample> samples() {
    auto with = [](double scale, double cap) {
      return std::vector<Real>{{scale, nullptr}, {cap, nullptr}};
    };
    return {{{{1, 2, 2, 4}, {1, 2, 3, 4}, {1, 2, 3, 2}}, {{{0}, {0}, {0}}, with(0, 0)}},
            {{{1, 2, 3, 2}, {1, 1, 3, 2}, {1, 1, 3, 2}, {3, 3}}, {{{0}, {0}, {1}}, with(0.5, 0)}},
            {{{2, 2, 4}, {2, 3, 2}, {2, 3, 4}}, {{{2}, {1}, {0}}, with(1, 2)}}};
  }
};

}  // namespace regraft::ops
