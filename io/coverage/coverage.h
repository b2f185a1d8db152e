#pragma once
// What the import made of each node of a file: understood, or carried and why.
#include <string>
#include <string_view>
#include <vector>

#include "io/model.h"

namespace regraft::io {

/// Why a node is opaque; where several hold, the last of them in this order.
enum class Reason : uint8_t {
  None,         ///< it is not opaque
  UnknownType,  ///< no operator of the registry is imported from this ONNX type
  NotReal,      ///< of an operator on real numbers; or it computes integers that sizes do not tell
  NoType,       ///< the element type of an operand is not known
  NoShape,      ///< the shape of an operand is not known
  Empty,        ///< an operand has no elements
  Form,         ///< its attributes, or inputs that are no constants, cannot be expressed
  OpenSizes,    ///< sizes that must be equal are not known to be, so one may be 1
};
/// "unknown operator", ...; empty for None.
std::string_view to_string(Reason r);

struct NodeCoverage {
  std::string name;         ///< of the node, or of its first output that has one
  int32_t id = -1;          ///< in the graph; -1: it is not there
  std::string type;         ///< "domain:Type" if foreign
  bool live = false;        ///< the outputs of the file need it, or it may have side effects
  bool understood = false;  ///< a call, a constant, or nothing that the graph needs any more
  Reason reason = Reason::None;
  int inner = 0;  ///< nodes in its bodies, which nothing looks into
};

/// One answer for each node of the file's main graph, in its order. The graph is as it was
/// imported.
std::vector<NodeCoverage> coverage(const Imported& m);

}  // namespace regraft::io
