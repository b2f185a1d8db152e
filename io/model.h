#pragma once
// ONNX in and out. The only room that knows protobuf; this header does not.
//
// What is read: opsets 7 to 26 of the default domain, any IR version. An operator that the registry
// does not know, or whose form it cannot express, becomes an opaque node. Models of other opsets
// are carried whole as opaque nodes. Calls of local functions are inlined where that is possible.
// Source of the format: onnx/onnx.proto and its IR.md.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph/graph.h"

namespace regraft::io {

/// The parsed file: all that is needed to write it back. Immutable, thread-safe.
struct Model;

/// A model and its graph. In the graph, `origin` counts the nodes of the file (with those of local
/// functions in the place of their calls), then its initialisers, then its sparse initialisers.
/// Initialisers that are also graph inputs are inputs, which a caller may override; in files before
/// IR version 4, which have no other way to declare an initialiser, they are constants.
struct Imported {
  std::shared_ptr<const Model> model;
  Graph graph;
  /// Nodes that make constants (Constant, ConstantOfShape) are written as initialisers.
  bool as_initialisers = false;
  /// onnxruntime's own operators may be written, whatever the model imported.
  bool microsoft = false;
  std::string file = {};  ///< that it was read from, whole; empty: made, or with sizes fixed
};

/// Sizes of inputs that the user knows; all that are not fixed stay as dynamic as the file has
/// them.
struct FixedSizes {
  std::map<std::string, std::vector<int64_t>> shapes;  ///< by input: a size for each axis
  std::map<std::string, int64_t> dims;                 ///< by name of a dimension
  /// What an open dimension counts as where the model is priced or timed (Symbol::typical), by
  /// name. Others count as 1 where they are the first of all inputs, the batch; as 224 in inputs of
  /// at least four axes, images; as 4096 where they are the last of real numbers, a signal; as 64
  /// elsewhere. Of several guesses for one the least counts.
  std::map<std::string, int64_t> typical;
};

/// Parses, validates and imports a file. External data is read lazily, from the model's own folder
/// only. An Error is one line that names the file and the node or tensor.
Result<Imported> load(const std::string& path, const FixedSizes& sizes = {});
/// The same from memory; external data is read from `folder`, and refused where that is empty.
/// `name` stands for the file in messages.
Result<Imported> parse(std::string_view bytes, const std::string& name,
                       const std::string& folder = {});

/// By node of the graph: whether it, a body of it or a local function that it may call draws random
/// numbers.
std::vector<char> random_nodes(const Imported& model);

/// protobuf says nothing on stderr from now on: Errors say it all.
void silence_parser();

/// A model for a graph that was built, not read; inputs are named x0, x1, .., and outputs y0,
/// y1, .. A size that is a symbol has its name. An Error when an input has a size that is neither a
/// number nor a symbol.
Result<Imported> model_of(Graph g, Opset opset);

struct Summary;

/// A graph that was made from `original.graph`, in the form in which it is written; data stays
/// where it is. Nodes that no rewrite touched leave as they came in. Both arguments must outlive
/// this.
class Exported {
 public:
  /// An Error when a call has no form at the model's opset.
  static Result<Exported> of(const Imported& original, const Graph& optimised);
  Exported(Exported&&) noexcept;
  Exported& operator=(Exported&&) noexcept;
  ~Exported();
  Summary summary();

 private:
  friend class ModelOutput;
  struct State;
  explicit Exported(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

struct SaveOptions {
  /// Above this size of the file, tensors move to a data file beside it (protobuf's own limit).
  int64_t inline_limit = (int64_t{1} << 31) - 1;
};
/// A model on its way to a file: see OutputFile. External data goes to "<file>.<digits of its
/// content>.data" beside it, a new name for new data. So the file never names data that is not
/// there, whatever ends the process; the data files of that form that the file had before go last.
/// Written in place, there is no data file: data comes in, up to 2 GB. Not thread-safe.
class ModelOutput {
 public:
  static Result<ModelOutput> open(const std::string& path);
  ModelOutput(ModelOutput&&) noexcept;
  ModelOutput& operator=(ModelOutput&&) noexcept;
  ~ModelOutput();
  Status write(Exported model, const SaveOptions& options = {});
  /// The same of `optimised`.
  Status write(const Imported& original, const Graph& optimised, const SaveOptions& options = {});
  /// Writes the file that the model was read from, byte for byte. REQUIRES: can_copy(original). An
  /// Error when it has another size by now.
  Status copy(const Imported& original);
  /// Brings all to the disk.
  Status sync();
  /// sync(), then the data takes its place, and after it the model.
  Status commit();

 private:
  struct State;
  explicit ModelOutput(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};
/// Is the model one file, which can be copied?
bool can_copy(const Imported& original);
/// Opens, writes and commits: a failure leaves what was there.
Status save(const Imported& original, const Graph& optimised, const std::string& path,
            const SaveOptions& options = {});
/// Canonical paths of the files that the model's external data lies in.
std::vector<std::string> data_files(const Imported& original);
/// The same of a file that is not imported; none if it cannot be read.
std::vector<std::string> data_files(const std::string& path);
/// The file as bytes. An Error when it needs external data.
Result<std::string> serialise(const Imported& original, const Graph& optimised);

/// What saving `optimised` and loading it gives: the form in which models are compared. Nothing is
/// written, and no data is copied.
Result<Imported> reimport(const Imported& original, const Graph& optimised);
/// Digest of a model's content: of its graph (digest_of in ir/graph/content.h) and of the defaults
/// of its inputs, wherever their data lies. An Error: data cannot be read.
Result<Digest> digest_of(const Imported& model);

/// What a model consists of, as it would be written.
struct Summary {
  std::map<std::string, int>
      operators;           ///< nodes of the main graph by type ("domain:Type" if foreign)
  int64_t parameters = 0;  ///< elements of initialisers and constants of the main graph
  int64_t bytes = 0;       ///< of all files; 0 when the graph cannot be written
  Opset opset = {};        ///< 0: the default domain is not imported
};
Summary summarise(const Imported& original, const Graph& optimised);
/// What the file itself consists of.
Summary summarise(const Imported& original);

}  // namespace regraft::io
