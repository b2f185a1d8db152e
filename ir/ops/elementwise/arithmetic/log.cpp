#include "ir/ops/elementwise/elementwise.h"

namespace regraft::ops {

// out[i] = log(x[i])
struct Log : Elementwise<Fn::Log> {
  static constexpr std::string_view name = "log";
  static constexpr std::string_view onnx[] = {"Log"};
};

}  // namespace regraft::ops
REGRAFT_DEFINE(log, Log)
