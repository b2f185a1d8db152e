#include "ir/ops/define.h"

namespace regraft::ops {

// Reverses the first `lengths[b]` elements along the time axis, where b is the position on the
// batch axis: out[.. t .. b ..] = x[.. lengths[b] - 1 - t .. b ..] for t < lengths[b], else x there
struct ReverseSequence {
  static constexpr std::string_view name = "reverse-sequence";
  static constexpr std::string_view onnx[] = {"ReverseSequence"};
  static constexpr Work work = Work::Movement;
  static constexpr auto typed = &one_type;
  static constexpr int arity = 1;
  static constexpr IntAttr ints[] = {{"batch_axis", Length::One, 1, true, IntKind::Axis},
                                     {"time_axis", Length::One, 0, true, IntKind::Axis},
                                     {"lengths", Length::Any, std::nullopt}};
  static constexpr TypeSupport types[] = {
      {DType::F32, 10, 10}, {DType::F16, 10, 10}, {DType::F64, 10, 10}, {DType::BF16, 28, kNever},
      {DType::I64, 10, 10}, {DType::I32, 10, 10}, {DType::Bool, 10, 10}};
  static constexpr size_t kMaxLengths = 4096;
  OP_SHAPES {
    using I = typename A::Index;
    const auto& x = in[0];
    int64_t batch = fixed(at.ints[0][0]), time = fixed(at.ints[1][0]);
    if (x.size() < 2 || batch < 0 || batch > 1 || time != 1 - batch)
      return error("reverse-sequence: batch and time are not the first two axes");
    alg.require(x[static_cast<size_t>(batch)] == I(static_cast<int64_t>(at.ints[2].size())));
    for (const I& length : at.ints[2]) {
      alg.require(I(0) <= length);
      alg.require(length <= x[static_cast<size_t>(time)]);
    }
    return Shapes<A>{x};
  }
  OP_ELEMENT {
    using I = typename A::Index;
    auto batch = static_cast<size_t>(fixed(at.ints[0][0])), time = 1 - batch;
    const I& size = in[0].dim(static_cast<int>(time));
    I length = alg.lookup(at.ints[2], i[batch], size + I(1));
    return alg.select(
        i[time] < length,
        [&] { return alg.read(in[0], with(i, static_cast<int>(time), length - I(1) - i[time])); },
        [&] { return alg.read(in[0], i); });
  }
  static std::optional<OnnxImport> from_onnx(const OnnxNode& n) {
    auto lengths = n.constant_ints(1);
    if (!lengths || lengths->empty() || lengths->size() > kMaxLengths) return std::nullopt;
    return OnnxImport{
        {{{Poly(n.integer("batch_axis", 1))}, {Poly(n.integer("time_axis", 0))}, polys(*lengths)},
         {}},
        {0}};
  }
  static Result<OnnxExport> to_onnx(const Attrs<Poly>& at, const std::vector<TensorType>&, int) {
    OnnxExport r;
    r.type = "ReverseSequence";
    r.attrs["batch_axis"] = int_attr(fixed(at.ints[0][0]));
    r.attrs["time_axis"] = int_attr(fixed(at.ints[1][0]));
    r.inputs = operand_inputs(1);
    ASSIGN_OR_RETURN(auto lengths, numbers("lengths", at.ints[2]));
    r.inputs.push_back(int_input(lengths));
    return r;
  }
  static std::vector<Sample> samples() {
    return {{{{4, 3}}, {{{1}, {0}, {2, 4, 1}}, {}}}, {{{2, 3, 2}}, {{{0}, {1}, {3, 2}}, {}}}};
  }
};

}  // namespace regraft::ops
REGRAFT_DEFINE(reverse_sequence, ReverseSequence)
