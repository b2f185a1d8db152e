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
    std::optional<std::vector<int64_t>> part[4];
    const char* names[] = {"starts", "ends", "axes", "steps"};
    for (size_t k = 0; k < 4; ++k) {
      bool given = k + 1 < n.inputs.size() && n.inputs[k + 1].present;
      if (given)
        part[k] = n.constant_ints(k + 1);
      else if (const auto* attr = n.ints(names[k]))
        part[k] = *attr;
      if (given && !part[k]) return std::nullopt;
    }
    if (!part[0] || !part[1] || part[0]->size() != part[1]->size()) return std::nullopt;
    const Shape& x = *n.inputs[0].type.shape;
    Attrs<Poly> at{{std::vector<Poly>(x.size(), Poly(0)), x, std::vector<Poly>(x.size(), Poly(1))},
                   {}};
    for (size_t k = 0; k < part[0]->size(); ++k) {
      int64_t axis = part[2] ? part[2]->size() == part[0]->size() ? (*part[2])[k] : 99
                             : static_cast<int64_t>(k);
      int64_t step = part[3] ? part[3]->size() == part[0]->size() ? (*part[3])[k] : 0 : 1;
      if (!axis_fits(axis, *rank) || step == 0) return std::nullopt;
      if (!cut(at, x, static_cast<size_t>(axis_of(axis, *rank)), (*part[0])[k], (*part[1])[k],
               step))
        return std::nullopt;
    }
    return OnnxImport{at, {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>& in,
                                    int opset) {
    std::vector<int64_t> starts, ends, axes, steps;
    for (size_t d = 0; d < at.ints[0].size(); ++d) {
      if (same(at.ints[1][d], (*in[0].shape)[d]) && at.ints[0][d].is_zero()) continue;
      ASSIGN_OR_RETURN(auto v, numbers("slice", {at.ints[0][d], at.ints[1][d], at.ints[2][d]}));
      int64_t end = v[0] + (v[1] - 1) * v[2] + (v[2] > 0 ? 1 : -1);
      axes.push_back(static_cast<int64_t>(d));
      starts.push_back(v[0]);
      ends.push_back(end < 0 ? INT64_MIN + 1 : end);
      steps.push_back(v[2]);
    }
    if (axes.empty() && !at.ints[0].empty())  // all of the first axis
      axes = {0}, starts = {0}, ends = {INT64_MAX}, steps = {1};
    OnnxExport r;
    r.type = "Slice";
    r.inputs = operand_inputs(1);
    if (opset < 10) {
      if (std::any_of(steps.begin(), steps.end(), [](int64_t s) { return s != 1; }))
        return error("slice with steps needs opset 10");
      r.attrs = {
          {"starts", ints_attr(starts)}, {"ends", ints_attr(ends)}, {"axes", ints_attr(axes)}};
      return r;
    }
    for (const auto& v : {starts, ends, axes, steps}) r.inputs.push_back(int_input(v));
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{4, 5}}, {{{1, 0}, {2, 5}, {1, 1}}, {}}},
            {{{6, 5}}, {{{0, 4}, {3, 3}, {2, -1}}, {}}}};
  }

 private:
  /// Applies one (start, end, step) to axis d; false when it cannot be said in numbers or is empty.
  static bool cut(Attrs<Poly>& at, const Shape& x, size_t d, int64_t start, int64_t end,
                  int64_t step) {
    if (!x[d].is_constant()) {
      if (start < 0 || step != 1 || end < INT32_MAX) return false;  // from `start` to the very end
      at.ints[0][d] = Poly(start);
      at.ints[1][d] = x[d] - Poly(start);
      return start == 0 ||
             is_one(x[d] - Poly(start));  // a longer cut needs size > start, unknown here
    }
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
