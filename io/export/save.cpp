#include <algorithm>
#include <cerrno>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include "base/files/output_file.h"
#include "io/data_file.h"
#include "io/proto.h"
#include "io/tensors.h"

namespace regraft::io {
namespace {

namespace pb = google::protobuf::io;
constexpr int64_t kExternalFrom = 1025;  // bytes; smaller tensors stay in the model
constexpr int64_t kProtobufLimit = std::numeric_limits<int>::max();

int64_t bytes_of(const Constant& c) { return c.count() * static_cast<int64_t>(size_of(c.dtype())); }

Status fill_inline(const Draft::Pending& p) {
  ASSIGN_OR_RETURN(std::vector<std::byte> bytes, p.data->bytes());
  p.tensor->set_raw_data(bytes.data(), bytes.size());
  return {};
}

/// New constants that are attributes of nodes; initialisers stay pending.
Status fill_attributes(Draft& draft) {
  const auto& list = draft.proto.graph().initializer();
  std::unordered_set<const onnx::TensorProto*> initialisers;
  for (const auto& t : list) initialisers.insert(&t);
  for (const auto& p : draft.pending)
    if (initialisers.count(p.tensor) == 0) RETURN_IF_ERROR(fill_inline(p));
  std::erase_if(draft.pending, [&](const auto& p) { return initialisers.count(p.tensor) == 0; });
  return {};
}

int64_t inline_size(const Draft& draft) {
  auto size = static_cast<int64_t>(draft.proto.ByteSizeLong());
  constexpr int64_t kHeader = 16;
  for (const auto& p : draft.pending) size += bytes_of(*p.data) + kHeader;
  return size;
}

/// Every tensor outside the list of initialisers.
Status visit_rest(onnx::ModelProto& proto, const TensorVisitor& visit) {
  auto& nodes = *proto.mutable_graph()->mutable_node();
  for (int k = 0; k < nodes.size(); ++k) {
    RETURN_IF_ERROR(visit_tensors(nodes[k], describe(nodes[k], static_cast<size_t>(k)), visit));
  }
  return visit_tensors(proto, visit);
}

/// Moves to the data file: all that was external, new constants, and with `from` bytes or more also
/// initialisers that were in the model.
Status externalise(Draft& draft, const std::string& folder, DataFile& data, int64_t from) {
  std::unordered_set<const onnx::TensorProto*> pending;
  for (const auto& p : draft.pending) pending.insert(p.tensor);
  TensorVisitor relocate = [&](onnx::TensorProto& t, const std::string& where) -> Status {
    if (!is_external(t)) return {};
    auto place = locate(t, folder);
    if (!place) return error(fmt::format("{} {}", where, place.error().message));
    return data.append(t, *place);
  };
  const auto& initialisers = draft.proto.graph().initializer();
  for (int k = 0; k < initialisers.size(); ++k) {
    const auto& t = initialisers[k];
    if (pending.count(&t) > 0) continue;
    if (is_external(t)) {
      RETURN_IF_ERROR(
          relocate(*draft.own_initialiser(k), fmt::format("initialiser '{}'", t.name())));
    } else if (static_cast<int64_t>(t.ByteSizeLong()) >= from && t.string_data_size() == 0) {
      std::vector<std::byte> bytes = inline_bytes(t);
      if (static_cast<int64_t>(bytes.size()) < from) continue;
      RETURN_IF_ERROR(data.append(*draft.own_initialiser(k), bytes));
    }
  }
  RETURN_IF_ERROR(visit_rest(draft.proto, relocate));
  for (const auto& p : draft.pending) {
    if (bytes_of(*p.data) < kExternalFrom) {
      RETURN_IF_ERROR(fill_inline(p));
      continue;
    }
    ASSIGN_OR_RETURN(std::vector<std::byte> bytes, p.data->bytes());
    RETURN_IF_ERROR(data.append(*p.tensor, bytes));
  }
  draft.pending.clear();
  return {};
}

/// Brings in what lies in other files.
Status internalise(Draft& draft, const std::string& folder) {
  TensorVisitor bring = [&](onnx::TensorProto& t, const std::string& where) -> Status {
    if (!is_external(t)) return {};
    auto place = locate(t, folder);
    if (!place) return error(fmt::format("{} {}", where, place.error().message));
    std::string data;
    data.reserve(static_cast<size_t>(place->length));
    RETURN_IF_ERROR(read_place(*place, [&](std::span<const std::byte> part) {
      data.append(reinterpret_cast<const char*>(part.data()), part.size());
    }));
    t.clear_external_data();
    t.clear_data_location();
    t.set_raw_data(std::move(data));
    return {};
  };
  const auto& initialisers = draft.proto.graph().initializer();
  for (int k = 0; k < initialisers.size(); ++k)
    if (is_external(initialisers[k]))
      RETURN_IF_ERROR(bring(*draft.own_initialiser(k),
                            fmt::format("initialiser '{}'", initialisers[k].name())));
  return visit_rest(draft.proto, bring);
}

/// Writes a draft so that the data of one new initialiser at a time is in memory: the fields of the
/// model, then its graph, whose initialisers come last, in their order.
class Writer {
 public:
  Writer(Draft& draft, pb::CodedOutputStream& out) : proto_(draft.proto), out_(out) {
    out_.SetSerializationDeterministic(true);
    for (const auto& p : draft.pending) pending_[p.tensor] = p.data.get();
    initialisers_.Swap(proto_.mutable_graph()->mutable_initializer());
    graph_.reset(proto_.release_graph());
  }
  ~Writer() {
    graph_->mutable_initializer()->Swap(&initialisers_);
    proto_.set_allocated_graph(graph_.release());
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// An Error when data cannot be read. Errors of the stream are the stream's to tell.
  Status run() {
    size_t size = graph_->ByteSizeLong();
    for (const auto& t : initialisers_) size += field_size(tensor_size(t));
    (void)proto_.SerializeToCodedStream(&out_);
    begin(onnx::ModelProto::kGraphFieldNumber, size);
    (void)graph_->SerializeToCodedStream(&out_);
    for (const auto& t : initialisers_) RETURN_IF_ERROR(write(t));
    return {};
  }

 private:
  static constexpr size_t kTagSize = 1;
  static size_t field_size(size_t content) {
    return kTagSize + pb::CodedOutputStream::VarintSize64(content) + content;
  }
  size_t tensor_size(const onnx::TensorProto& t) const {
    auto p = pending_.find(&t);
    size_t size = t.ByteSizeLong();
    return p == pending_.end() ? size
                               : size + field_size(static_cast<size_t>(bytes_of(*p->second)));
  }
  void begin(int field, size_t size) {
    constexpr int kBytes = 2;  // the wire type of a message or bytes
    out_.WriteTag(static_cast<uint32_t>(field << 3 | kBytes));
    out_.WriteVarint64(size);
  }
  Status write(const onnx::TensorProto& t) {
    begin(onnx::GraphProto::kInitializerFieldNumber, tensor_size(t));
    (void)t.SerializeToCodedStream(&out_);
    auto p = pending_.find(&t);
    if (p == pending_.end()) return {};
    ASSIGN_OR_RETURN(std::vector<std::byte> bytes, p->second->bytes());
    begin(onnx::TensorProto::kRawDataFieldNumber, bytes.size());
    out_.WriteRaw(bytes.data(), static_cast<int>(bytes.size()));
    return {};
  }

  onnx::ModelProto& proto_;
  pb::CodedOutputStream& out_;
  std::map<const onnx::TensorProto*, const Constant*> pending_;
  google::protobuf::RepeatedPtrField<onnx::TensorProto> initialisers_;
  std::unique_ptr<onnx::GraphProto> graph_;
};

Status write_model(Draft& draft, OutputFile& file) {
  if (inline_size(draft) > kProtobufLimit)
    return error(file.path() + ": the model exceeds 2 GB even without its weights");
  pb::FileOutputStream stream(file.descriptor(), 1 << 20);
  bool written = false;
  {
    pb::CodedOutputStream coded(&stream);
    RETURN_IF_ERROR(Writer(draft, coded).run());
    written = !coded.HadError();
  }
  written = stream.Flush() && written;
  if (written) return {};
  errno = stream.GetErrno();
  return file.failed();
}

int64_t elements(const onnx::TensorProto& t) {
  if (std::find(t.dims().begin(), t.dims().end(), 0) != t.dims().end()) return 0;
  int64_t n = 1;
  for (int64_t d : t.dims()) n *= d;  // within bounds: the import looked at it
  return n;
}

int64_t elements(const onnx::NodeProto& node) {
  int64_t n = 0;
  if (node.op_type() != "Constant" || !is_default_domain(node.domain())) return n;
  for (const auto& a : node.attribute()) {
    if (a.has_t()) n += elements(a.t());
    n += a.floats_size() + a.ints_size() + a.strings_size() +
         (a.has_f() || a.has_i() || a.has_s() ? 1 : 0);
  }
  return n;
}

int64_t external_size(Draft& draft, const std::string& folder) {
  std::set<std::tuple<std::string, int64_t, int64_t>> places;
  TensorVisitor note = [&](onnx::TensorProto& t, const std::string&) -> Status {
    if (!is_external(t)) return {};
    if (auto p = locate(t, folder)) places.emplace(p->file, p->offset, p->length);
    return {};
  };
  auto& list = *draft.proto.mutable_graph()->mutable_initializer();
  for (auto& t : list) (void)note(t, "");
  (void)visit_rest(draft.proto, note);
  int64_t total = 0;
  for (const auto& place : places) total += std::get<2>(place);
  return total;
}

/// For a graph that cannot be written: what its nodes are called here.
Summary summarise_graph(const Model& model, const Graph& g) {
  Summary s;
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id)) continue;
    const Node& node = g.node(id);
    if (node.kind == NodeKind::Constant) s.parameters += node.constant->count();
    if (node.kind == NodeKind::Call)
      ++s.operators[std::string(node.op->onnx.empty() ? node.op->name : node.op->onnx[0])];
    if (node.kind == NodeKind::Opaque && node.origin >= 0 && model.is_node(node.origin)) {
      ++s.operators[type_name(*model.nodes[static_cast<size_t>(node.origin)])];
    }
  }
  return s;
}

}  // namespace

struct Exported::State {
  const Imported& original;
  Draft draft;
};

Exported::Exported(std::unique_ptr<State> state) : state_(std::move(state)) {}
Exported::Exported(Exported&&) noexcept = default;
Exported& Exported::operator=(Exported&&) noexcept = default;
Exported::~Exported() = default;

Result<Exported> Exported::of(const Imported& original, const Graph& optimised) {
  ASSIGN_OR_RETURN(Draft draft, export_graph(original, optimised));
  return Exported(std::make_unique<State>(State{original, std::move(draft)}));
}

Summary Exported::summary() {
  const Model& model = *state_->original.model;
  Draft& draft = state_->draft;
  Summary s;
  for (const auto& node : draft.proto.graph().node()) {
    ++s.operators[type_name(node)];
    s.parameters += elements(node);
  }
  for (const auto& t : draft.proto.graph().initializer()) s.parameters += elements(t);
  s.bytes = inline_size(draft) + external_size(draft, model.folder);
  s.opset = model.opset;
  return s;
}

struct ModelOutput::State {
  OutputFile file;
  std::optional<DataFile> data;
  std::set<std::string> keep;  ///< canonical paths of data that is another model's
};

ModelOutput::ModelOutput(std::unique_ptr<State> state) : state_(std::move(state)) {}
ModelOutput::ModelOutput(ModelOutput&&) noexcept = default;
ModelOutput& ModelOutput::operator=(ModelOutput&&) noexcept = default;
ModelOutput::~ModelOutput() = default;

Result<ModelOutput> ModelOutput::open(const std::string& path) {
  auto state = std::make_unique<State>();
  ASSIGN_OR_RETURN(state->file, OutputFile::open(path));
  return ModelOutput(std::move(state));
}

Status ModelOutput::write(const Imported& original, const Graph& optimised,
                          const SaveOptions& options) {
  auto made = Exported::of(original, optimised);
  if (!made) return error(state_->file.path() + ": " + made.error().message);
  return write(*std::move(made), options);
}

Status ModelOutput::write(Exported made, const SaveOptions& options) {
  State& s = *state_;
  const Imported& original = made.state_->original;
  const Model& model = *original.model;
  Draft* draft = &made.state_->draft;
  auto prefixed = [&](const Error& e) { return error(s.file.path() + ": " + e.message); };
  bool too_large = inline_size(*draft) > std::min(options.inline_limit, kProtobufLimit);
  if (identity_of(model.name) != identity_of(s.file.path()))
    for (std::string& file : data_files(original)) s.keep.insert(std::move(file));
  if (!model.external && !too_large) {
    if (auto filled = fill_attributes(*draft); !filled) return prefixed(filled.error());
    return write_model(*draft, s.file);
  }
  if (s.file.in_place()) {  // no data file can lie beside it
    if (too_large || inline_size(*draft) + external_size(*draft, model.folder) > kProtobufLimit)
      return error(s.file.path() +
                   ": the model needs a data file beside it, so a file to write to");
    if (auto filled = fill_attributes(*draft); !filled) return prefixed(filled.error());
    if (auto in = internalise(*draft, model.folder); !in) return prefixed(in.error());
    return write_model(*draft, s.file);
  }
  s.data.emplace(s.file.target());
  int64_t from = too_large ? kExternalFrom : std::numeric_limits<int64_t>::max();
  if (auto moved = externalise(*draft, model.folder, *s.data, from); !moved)
    return prefixed(moved.error());
  RETURN_IF_ERROR(s.data->finish());
  return write_model(*draft, s.file);
}

bool can_copy(const Imported& original) {
  return !original.file.empty() && !original.model->external;
}

Status ModelOutput::copy(const Imported& original) {
  State& s = *state_;
  if (identity_of(original.file) != identity_of(s.file.path()))
    for (std::string& file : data_files(original)) s.keep.insert(std::move(file));
  std::ifstream from(original.file, std::ios::binary);
  pb::FileOutputStream stream(s.file.descriptor(), 1 << 20);
  pb::CodedOutputStream coded(&stream);
  std::vector<char> block(1 << 20);
  int64_t copied = 0;
  while (from.read(block.data(), std::ssize(block)) || from.gcount() > 0) {
    coded.WriteRaw(block.data(), static_cast<int>(from.gcount()));
    copied += from.gcount();
  }
  coded.Trim();
  if (copied != original.model->file_bytes)
    return error(original.file + ": was changed while it was optimised");
  if (!coded.HadError() && stream.Flush()) return {};
  errno = stream.GetErrno();
  return s.file.failed();
}

Status ModelOutput::sync() {
  if (state_->data) RETURN_IF_ERROR(state_->data->sync());
  return state_->file.sync();
}

Status ModelOutput::commit() {
  State& s = *state_;
  RETURN_IF_ERROR(sync());
  if (s.data) RETURN_IF_ERROR(s.data->commit());
  bool may_have_data = !s.file.in_place();
  RETURN_IF_ERROR(s.file.commit());
  if (may_have_data) remove_old_data(s.file.target(), s.data ? s.data->name() : "", s.keep);
  return {};
}

Status save(const Imported& original, const Graph& optimised, const std::string& path,
            const SaveOptions& options) {
  ASSIGN_OR_RETURN(ModelOutput output, ModelOutput::open(path));
  RETURN_IF_ERROR(output.write(original, optimised, options));
  return output.commit();
}

std::vector<std::string> data_files(const Imported& original) {
  const Model& model = *original.model;
  std::set<std::string> files;
  TensorVisitor note = [&](onnx::TensorProto& t, const std::string&) -> Status {
    if (!is_external(t)) return {};
    if (auto place = locate(t, model.folder)) files.insert(place->file);
    return {};
  };
  for (const auto& t : model.initialisers) (void)note(*t, "");
  for (size_t k = 0; k < model.nodes.size(); ++k)
    (void)visit_tensors(*model.nodes[k], describe(*model.nodes[k], k), note);
  onnx::ModelProto shell = model.shell;
  (void)visit_tensors(shell, note);
  return {files.begin(), files.end()};
}

Result<std::string> serialise(const Imported& original, const Graph& optimised) {
  ASSIGN_OR_RETURN(Draft draft, export_graph(original, optimised));
  if (original.model->external || inline_size(draft) > kProtobufLimit) {
    return error(
        fmt::format("{}: needs external data, so a file to write to", original.model->name));
  }
  for (const auto& p : draft.pending) RETURN_IF_ERROR(fill_inline(p));
  return draft.proto.SerializeAsString();
}

Summary summarise(const Imported& original, const Graph& optimised) {
  if (auto made = Exported::of(original, optimised)) return made->summary();
  Summary s = summarise_graph(*original.model, optimised);
  s.opset = original.model->opset;
  return s;
}

Summary summarise(const Imported& original) {
  const Model& model = *original.model;
  bool one_file = !model.external && model.file_bytes > 0;
  Summary s;
  s.opset = model.opset;
  s.bytes = one_file ? model.file_bytes : summarise(original, original.graph).bytes;
  for (const auto& node : model.nodes) {
    ++s.operators[type_name(*node)];
    s.parameters += elements(*node);
  }
  for (const auto& t : model.initialisers) s.parameters += elements(*t);
  return s;
}

}  // namespace regraft::io
