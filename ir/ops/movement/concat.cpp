#include "ir/ops/define.h"

namespace regraft::ops {

// out = the operands one after the other along the axis
struct Concat {
  static constexpr std::string_view name = "concat";
  static constexpr std::string_view onnx[] = {"Concat"};
  static constexpr Work work = Work::Movement;
  static constexpr Blocking blocking = Blocking::Joined;
  static constexpr std::string_view parts_by = "split";
  static constexpr std::span<const TypeSupport> types = kMovement;
  static constexpr auto typed = &one_type;
  static constexpr int min_arity = 1, max_arity = 4096;
  static constexpr IntAttr ints[] = {{"axis", Length::One, std::nullopt, true, IntKind::Axis}};
  OP_SHAPES {
    auto out = in[0];
    int rank = static_cast<int>(out.size());
    if (!axis_fits(fixed(at.ints[0][0]), rank)) return error("concat: no such axis");
    auto axis = static_cast<size_t>(axis_of(fixed(at.ints[0][0]), rank));
    for (size_t k = 1; k < in.size(); ++k) {
      if (in[k].size() != out.size()) return error("concat: operands of different ranks");
      for (size_t d = 0; d < out.size(); ++d)
        if (d != axis) alg.require(in[k][d] == out[d]);
      out[axis] = out[axis] + in[k][axis];
    }
    return Shapes<A>{out};
  }
  OP_ELEMENT {
    int axis = axis_of(fixed(at.ints[0][0]), in[0].rank());
    auto from = [&](auto& self, size_t k, typename A::Index begin) -> typename A::Scalar {
      typename A::Index local = i[static_cast<size_t>(axis)] - begin;
      auto here = [&] { return alg.read(in[k], with(i, axis, local)); };
      if (k + 1 == in.size()) return here();
      return alg.select(local < in[k].dim(axis), here,
                        [&] { return self(self, k + 1, begin + in[k].dim(axis)); });
    };
    return from(from, 0, typename A::Index(0));
  }
  static std::vector<Sample> samples() {
    return {{{{2, 3}, {2, 1}}, {{{1}}, {}}}, {{{1, 2}, {3, 2}, {2, 2}}, {{{-2}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(concat, Concat)
