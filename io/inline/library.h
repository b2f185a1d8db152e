#pragma once
// The local functions of a model. Inside io/ only.
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "io/proto.h"

namespace regraft::io {

/// Nodes and bytes that all inlined calls may make together.
constexpr int64_t kMostInlined = 200'000, kMostInlinedBytes = int64_t{1} << 28;
/// How many bodies an inlined node may lie in (what is written must be readable), and how many
/// calls.
constexpr int kDeepestBody = 24, kDeepestCall = 100;

/// A local function, and what inlining it takes.
struct Function {
  const onnx::FunctionProto* proto = nullptr;
  std::set<std::string> attributes;                      ///< that a call may give
  std::map<std::string, onnx::AttributeProto> defaults;  ///< of those that have one
  std::map<std::string, int64_t> domains;  ///< of its nodes, with the versions that it imports
  bool inlinable = false;
  // With the functions that it calls, if inlinable:
  int64_t size = 0, bytes = 0;  ///< of its nodes
  int nesting = 0, depth = 0;   ///< how deep they lie in bodies, and in calls
};

/// "" for both names of the default domain.
std::string plain_domain(const std::string& domain);

/// Which functions can be inlined: each name in it is made once, it imports its domains at the
/// model's versions, it is not too large or deep, and no call leads back to a function. Refers to
/// the model's list of functions. Thread-safe once made.
class Library {
 public:
  explicit Library(const onnx::ModelProto& model);
  /// The function that a node calls; nullptr: it is an operator.
  const Function* callee(const onnx::NodeProto& node) const;
  /// The functions that the nodes call, also from their bodies and by way of others.
  std::set<const onnx::FunctionProto*> reached(
      const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) const;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
  bool note_domains(Function& function, const std::map<std::string, int64_t>& outside) const;
  void measure_all();
  void measure(Function& function);

  std::map<Key, Function> functions_;
};

}  // namespace regraft::io
