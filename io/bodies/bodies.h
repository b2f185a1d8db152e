#pragma once
// Bodies of If, Loop and Scan as models of their own, and back into the models that they are in.
#include <string>
#include <vector>

#include "io/model.h"

namespace regraft::io {

/// A body of a model: the node by its origin, and the attribute that holds the body.
struct BodyPlace {
  int32_t node = 0;
  std::string attribute;
  auto operator<=>(const BodyPlace&) const = default;
};
/// The bodies of the model's nodes of type If, Loop and Scan, without those inside other bodies, in
/// the order of the file.
std::vector<BodyPlace> body_places(const Imported& outer);
/// "then_branch of node 3 'a' (If)". REQUIRES: one of body_places(outer).
std::string describe(const Imported& outer, const BodyPlace& place);

/// Nodes in the bodies of all nodes, those inside other bodies included.
int64_t nodes_in_bodies(const Imported& model);

/// What a body reads from outside. REQUIRES: one of body_places(outer).
struct Capture {
  std::string name;
  Value value;  ///< in the outer graph
};
std::vector<Capture> captures(const Imported& outer, const BodyPlace& place);

/// An input that stands for a value outside of the body, with the type that it has there.
struct OuterInput {
  std::string name;
  TensorType type;
};
/// The body as a model. Its inputs are the body's formal ones, of which nothing is known but what
/// the body declares, and then `inputs`, or what it captures that is no constant; captured
/// constants are constants. Values that are new in it get names that the whole model has not, and
/// no other body gets. An Error: there is no such body, it is none that can be a graph, or it
/// captures a value that is no constant and not among the `inputs`.
Result<Imported> body_model(const Imported& outer, const BodyPlace& place);
Result<Imported> body_model(const Imported& outer, const BodyPlace& place,
                            const std::vector<OuterInput>& inputs);

/// A graph that was made from a body's.
struct NewBody {
  BodyPlace place;
  Imported base;  ///< the body as body_model gives it, or with_bodies of that
  Graph graph;    ///< made from the base's
};
/// The same model with these bodies in the place of the old ones. It shares its tensors with
/// `outer`; what only the old bodies read is not written. An Error: a graph has no form in ONNX at
/// the model's opset, or a constant cannot be read.
Result<Imported> with_bodies(const Imported& outer, const std::vector<NewBody>& bodies);
/// Is it written as the body that stands there? An Error as above.
Result<bool> is_same_body(const Imported& outer, const NewBody& body);

}  // namespace regraft::io
