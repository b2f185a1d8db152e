#pragma once
// Inside io/ only: the parsed file, and what is read off protobuf messages.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <onnx/onnx.pb.h>

#include "io/model.h"

namespace regraft::io {

/// What the import remembers of one ONNX node.
struct Imprint {
  std::vector<Value> inputs;  ///< of each ONNX input, in the imported graph; node < 0: omitted
  std::vector<std::string>
      captured;               ///< outer names its bodies read; follow `inputs` in Node::inputs
  std::vector<int> operands;  ///< of a call: which ONNX inputs its operands are
  std::vector<int> results;   ///< of a call: which ONNX outputs its results are; empty: all
};

/// Of a body that is a model of its own: what it lies in.
struct Enclosing {
  std::string prefix;                        ///< of new names, unlike that of any other body
  std::unordered_set<std::string> captured;  ///< inputs and initialisers that lie outside
  bool open = false;                         ///< is_open() of the model around it
};

struct Model {
  std::string name;    ///< the path as given, for messages
  std::string folder;  ///< where external data may lie; empty: nowhere
  int64_t file_bytes = 0;
  int64_t ir_version = 0;
  Opset opset;                                          ///< 0: no default domain
  onnx::ModelProto shell;                               ///< all but the two lists that follow
  std::vector<std::unique_ptr<onnx::NodeProto>> nodes;  ///< of the main graph
  std::vector<std::shared_ptr<onnx::TensorProto>> initialisers;  ///< shared, never changed
  std::vector<Imprint> imprints;                                 ///< of each node
  std::vector<int32_t> ids;  ///< imported graph node of each origin; -1: an input stands for it
  /// Nodes (If) whose condition the import found to be the same for all inputs, and its value.
  std::map<size_t, bool> decided;
  std::vector<char> used;  ///< of each origin: something in the file reads it
  bool external = false;   ///< some tensor lies in another file
  /// The data of tensors that have none themselves: of a model that was not read from bytes.
  std::unordered_map<const onnx::TensorProto*, std::shared_ptr<const Constant>> held;
  std::shared_ptr<const Enclosing> enclosing;  ///< nullptr: it is no body
  /// All names of the file where some node has bodies, else nullptr; of a body: of the whole model.
  std::shared_ptr<const std::unordered_set<std::string>> names;

  size_t origins() const { return ids.size(); }
  bool is_node(int32_t origin) const { return static_cast<size_t>(origin) < nodes.size(); }
};

/// "node 3 'conv1' (Conv)".
std::string describe(const onnx::NodeProto& node, size_t index);
bool is_default_domain(std::string_view domain);
/// The domain of onnxruntime's own operators, which operator files know as well.
inline constexpr std::string_view kMicrosoft = "com.microsoft";
/// "domain:Type" if foreign.
std::string type_name(const onnx::NodeProto& node);
std::string type_name(const onnx::FunctionProto& function);
/// The ONNX output that result k of a node in the imported graph is; it may be beyond the last.
int output_of(const Model& model, size_t index, int k);
/// Its name, which may be empty.
std::string output_name(const Model& model, size_t index, int k);
/// The node as operators see it, with types and constants of its inputs, and sizes that the graph
/// computes by themselves. REQUIRES: its imprint has the inputs.
OnnxNode neutral_node(const Model& model, size_t index, const Graph& graph);
/// The sub-graphs in a node's attributes.
std::vector<const onnx::GraphProto*> bodies(const onnx::NodeProto& node);
/// Names that a body reads from outside, each once, in order of first use.
std::vector<std::string> free_names(const onnx::GraphProto& body);
/// Names that the node's bodies read from outside.
std::vector<std::string> captured_names(const onnx::NodeProto& node);
/// Names of values and nodes that the bodies of a node define.
std::vector<std::string> inner_names(const onnx::NodeProto& node);

using TensorVisitor = std::function<Status(onnx::TensorProto&, const std::string& where)>;
/// Every tensor in attributes, bodies included. Stops at the first Error.
Status visit_tensors(onnx::NodeProto& node, const std::string& where, const TensorVisitor& visit);
/// An input of it, or of the model that it is a body in, has an axis whose size is no number.
bool is_open(const Model& model);
/// Every tensor of the shell: sparse initialisers, functions, training information.
Status visit_tensors(onnx::ModelProto& shell, const TensorVisitor& visit);

/// Gives the inputs' axes the sizes asked for, and every axis in the model that has the same name.
/// An Error names an input or a dimension that the model has not, a rank or a size that differs.
Status fix_sizes(onnx::GraphProto& graph, const FixedSizes& sizes);
/// "node 3 'bn' (BatchNormalization)": the first standard node with known sizes that differ where
/// its operator asks for equal ones; nullopt: none was found. Bodies are not looked at.
std::optional<std::string> contradicted_node(const Model& model, const Graph& graph);
/// Sets the typical sizes of the inputs' symbols: see FixedSizes. An Error names one that no input
/// has.
Status set_typical_sizes(Graph& graph, const std::map<std::string, int64_t>& named);
/// The model and its graph, from what is in the shell. Initialisers that are already apart stay.
Result<Imported> import_model(const std::shared_ptr<Model>& model);
/// Nodes with each after those it reads; in file order where that is one. An Error: a cycle.
Result<std::vector<size_t>> schedule(const Model& model);
/// Builds the graph of a parsed, validated model and fills in its imprints.
Result<Graph> import_graph(const std::shared_ptr<Model>& model);
/// Puts what local functions consist of in the place of their calls, in bodies too, and drops those
/// that nothing calls any more. A call stays where the function calls itself, is not well formed,
/// has nodes of another operator set than the model, takes graphs as attributes, or is too large.
/// REQUIRES: the nodes are in the shell.
void inline_functions(Model& model);
/// Puts the branches that are always taken in the place of their conditions. False: there is none.
/// The graph must be built anew then.
bool inline_decided(Model& model);
/// The result of a Constant or a ConstantOfShape; nullptr: of another node, or not known.
std::shared_ptr<const Constant> known_constant(const OnnxNode& node, const onnx::NodeProto& proto,
                                               const std::shared_ptr<const Model>& owner);
/// Takes out those inputs of a node that are known to be 0 and that the operator takes for 0 where
/// they are absent. REQUIRES: its imprint has the inputs, and the graph what they come from.
void drop_zero_inputs(const Graph& graph, Model& model, size_t index);

/// A model that is ready to be written but for the data of its new constants.
/// The initialisers in `proto` are borrowed from the original model or from `made`.
class Draft {
 public:
  struct Pending {
    onnx::TensorProto* tensor;  ///< part of the message, still without data
    std::shared_ptr<const Constant> data;
  };
  Draft() = default;
  Draft(Draft&&) = default;
  Draft& operator=(Draft&&) = delete;
  ~Draft();
  void borrow_initialiser(const onnx::TensorProto& tensor);
  /// Replaces initialiser k by a private copy and returns it; `made` ones are returned as they are.
  onnx::TensorProto* own_initialiser(int k);
  /// A new initialiser without a name.
  onnx::TensorProto* make_initialiser(std::shared_ptr<const Constant> data);
  /// Empties the list of initialisers, which are none of `proto`'s own.
  void release_initialisers();
  /// Makes `tensor`, part of `proto`, hold the constant.
  void fill(onnx::TensorProto& tensor, std::shared_ptr<const Constant> data);

  onnx::ModelProto proto;
  std::vector<Pending> pending;

 private:
  std::vector<std::unique_ptr<onnx::TensorProto>> made_;
};
/// Names of values and nodes that the file uses, bodies included.
std::unordered_set<std::string> names_of(const Model& model);
/// Is the node what the import made, but for what its operands are?
bool is_untouched(const Model& model, const Graph& imported, const Node& node);
/// A call that no rewrite touched, whose target the file computes, and which needs no computation.
bool has_shorter_form(const Model& model, const Graph& imported, const Node& node);
/// Drops what the file says of values that no longer exist.
void drop_stale(onnx::GraphProto& graph, const Model& model);
/// Names output k of a node that is being written; an empty name is not written at the end.
void set_output(onnx::NodeProto& node, int k, const std::string& name);
/// Makes the model import an operator set, version 1 where it did not yet.
void import_domain(onnx::ModelProto& model, const std::string& domain);
/// What a reader of the file demands: each value is made once, before it is read.
void check_order(const onnx::GraphProto& written);
/// Turns a graph back into a model.
Result<Draft> export_graph(const Imported& original, const Graph& optimised);

}  // namespace regraft::io
