#include "ir/ops/define.h"

namespace regraft::ops {

// out[i] = x[begins + i * steps], with one begin, size and step for each axis
struct Slice {
  static constexpr std::string_view name = "slice";
  static constexpr std::string_view onnx[] = {"Slice"};
  static constexpr Work work = Work::Movement;
  static constexpr std::span<const TypeSupport> types = kMovement;
  static constexpr auto typed = &one_type;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"begins", Length::Rank, 0, false, IntKind::Offset},
                                     {"sizes", Length::Rank, std::nullopt},
                                     {"steps", Length::Rank, 1}};
  OP_SHAPES {
    using I = typename A::Index;
    for (size_t d = 0; d < in[0].size(); ++d) {
      const auto &begin = at.ints[0][d], &size = at.ints[1][d], &step = at.ints[2][d];
      if constexpr (std::is_same_v<I, int64_t>)  // an axis that is taken whole may be empty
        if (begin == 0 && step == 1 && size == in[0][d]) continue;
      auto last = begin + (size - I(1)) * step;
      alg.require(I(1) <= size);
      for (const auto& p : {begin, last}) {
        alg.require(I(0) <= p);
        alg.require(p < in[0][d]);
      }
    }
    return Shapes<A>{at.ints[1]};
  }
  OP_ELEMENT {
    Indices<typename A::Index> j;
    for (size_t d = 0; d < i.size(); ++d) j.push_back(at.ints[0][d] + i[d] * at.ints[2][d]);
    return alg.read(in[0], j);
  }
  // starts, ends, axes, steps: attributes before opset 10, then inputs.
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto rank = rank_of(n, 0);
    if (!rank) return std::nullopt;
    std::optional<std::vector<Poly>> part[4];
    const char* names[] = {"starts", "ends", "axes", "steps"};
    for (size_t k = 0; k < 4; ++k) {
      bool given = k + 1 < n.inputs.size() && n.inputs[k + 1].present;
      if (given)
        part[k] = n.sizes(k + 1);
      else if (const auto* attr = n.ints(names[k]))
        part[k] = polys(*attr);
      if (given && !part[k]) return std::nullopt;
    }
    if (!part[0] || !part[1] || part[0]->size() != part[1]->size()) return std::nullopt;
    const Shape& x = *n.inputs[0].type.shape;
    Attrs<Poly> at{{std::vector<Poly>(x.size(), Poly(0)), x, std::vector<Poly>(x.size(), Poly(1))},
                   {}};
    for (size_t k = 0; k < part[0]->size(); ++k) {
      auto number = [&](size_t list, int64_t missing, int64_t wrong) {
        if (!part[list]) return missing;
        bool fits = part[list]->size() == part[0]->size() && (*part[list])[k].is_constant();
        return fits ? (*part[list])[k].constant() : wrong;
      };
      int64_t axis = number(2, static_cast<int64_t>(k), 99), step = number(3, 1, 0);
      if (!axis_fits(axis, *rank) || step == 0) return std::nullopt;
      if (!cut(at, x, static_cast<size_t>(axis_of(axis, *rank)), (*part[0])[k], (*part[1])[k],
               step))
        return std::nullopt;
    }
    return OnnxImport{at, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    std::vector<Poly> starts, ends;
    std::vector<int64_t> axes, steps;
    for (size_t d = 0; d < at.ints[0].size(); ++d) {
      const Poly &begin = at.ints[0][d], &size = at.ints[1][d], &whole = (*in[0].shape)[d];
      if (same(size, whole) && begin.is_zero()) continue;
      ASSIGN_OR_RETURN(auto step, numbers("slice", {at.ints[2][d]}));
      axes.push_back(static_cast<int64_t>(d));
      starts.push_back(begin);
      ends.push_back(end_of(begin, size, step[0], whole));
      steps.push_back(step[0]);
    }
    if (axes.empty() && !at.ints[0].empty())  // all of the first axis
      axes = {0}, starts = {Poly(0)}, ends = {Poly(INT64_MAX)}, steps = {1};
    OnnxExport r;
    r.type = "Slice";
    r.inputs = operand_inputs(1);
    if (opset < 10) {
      if (std::any_of(steps.begin(), steps.end(), [](int64_t s) { return s != 1; }))
        return error("slice with steps needs opset 10");
      ASSIGN_OR_RETURN(auto first, numbers("slice", starts));
      ASSIGN_OR_RETURN(auto last, numbers("slice", ends));
      r.attrs = {
          {"starts", ints_attr(first)}, {"ends", ints_attr(last)}, {"axes", ints_attr(axes)}};
      return r;
    }
    for (const auto& v : {starts, ends}) {
      ASSIGN_OR_RETURN(auto input, size_input("slice", v));
      r.inputs.push_back(std::move(input));
    }
    for (const auto& v : {axes, steps}) r.inputs.push_back(int_input(v));
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{4, 5}}, {{{1, 0}, {2, 5}, {1, 1}}, {}}},
            {{{6, 5}}, {{{0, 4}, {3, 3}, {2, -1}}, {}}}};
  }

 private:
  /// What ONNX is told: numbers where they say it.
  static Poly end_of(const Poly& begin, const Poly& size, int64_t step, const Poly& whole) {
    if (step == 1 && !size.is_constant()) {
      Poly end = begin + size, left = end - whole;
      if (left.is_zero()) return Poly(INT64_MAX);
      return left.is_constant() && left.constant() < 0 ? left : end;
    }
    Poly end = begin + (size - Poly(1)) * Poly(step) + Poly(step > 0 ? 1 : -1);
    return end.is_constant() && end.constant() < 0 ? Poly(INT64_MIN + 1) : end;
  }
  /// A bound of an axis of n elements, from the front; nullopt: it is not known to lie inside. A
  /// computed one is taken not to go beyond a table, an axis of a given size: a model that runs
  /// takes no more of it than there is.
  static std::optional<Poly> bound(const Poly& p, const Poly& n) {
    if (p.is_constant() && p.constant() >= INT32_MAX) return n;
    Poly from_front = p.is_constant() && p.constant() < 0 ? n + p : p;
    if (never_negative(from_front - n)) return n;
    const bool table = n.is_constant() && !p.is_constant();
    const bool inside = never_negative(from_front) && (table || never_negative(n - from_front));
    return inside ? std::optional(from_front) : std::nullopt;
  }
  /// Applies (start, end) to axis d with step 1, where they or the axis are no numbers.
  static bool cut_symbolic(Attrs<Poly>& at, const Shape& x, size_t d, const Poly& start,
                           const Poly& end) {
    auto from = bound(start, x[d]), to = bound(end, x[d]);
    if (!from || !to) return false;
    Poly size = *to - *from;
    if (!never_negative(size) || size.is_zero()) return false;
    at.ints[0][d] = *from;
    at.ints[1][d] = size;
    return true;
  }
  /// Applies one (start, end, step) to axis d; false when it is not known what it takes, or empty.
  static bool cut(Attrs<Poly>& at, const Shape& x, size_t d, const Poly& first, const Poly& last,
                  int64_t step) {
    if (!x[d].is_constant() || !first.is_constant() || !last.is_constant())
      return step == 1 && cut_symbolic(at, x, d, first, last);
    int64_t start = first.constant(), end = last.constant();
    int64_t n = x[d].constant();
    step = std::clamp(step, -n - 1, n + 1);  // further is outside as well
    auto from_end = [&](int64_t p) { return p < 0 ? p + n : p; };
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
    start = std::clamp(from_end(std::max(start, -n - 1)), low, high);
    end = std::clamp(end < -n ? int64_t{-1} : from_end(end), low, high);
    int64_t size = step > 0 ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
    if (size < 1) return false;
    at.ints[0][d] = Poly(start);
    at.ints[1][d] = Poly(size);
    at.ints[2][d] = Poly(step);
    return true;
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(slice, Slice)
