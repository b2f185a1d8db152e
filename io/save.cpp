#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include "io/proto.h"
#include "io/tensors.h"

namespace regraft::io {
namespace {

namespace fs = std::filesystem;
namespace pb = google::protobuf::io;
constexpr int64_t kExternalFrom = 1025;  // bytes; smaller tensors stay in the model
constexpr int64_t kProtobufLimit = std::numeric_limits<int>::max();

std::string system_error() { return std::strerror(errno); }

int64_t bytes_of(const Constant& c) { return c.count() * static_cast<int64_t>(size_of(c.dtype())); }

/// A file that is written beside its target, and vanishes unless it is moved there.
class Temporary {
 public:
  explicit Temporary(std::string target)
      : target_(std::move(target)), path_(fmt::format("{}.{}.tmp", target_, ::getpid())) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (fd_ >= 0) ::close(fd_);
    if (exists_) ::unlink(path_.c_str());
  }
  Status open() {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    exists_ = fd_ >= 0;
    return exists_ ? Status{} : failed();
  }
  Status write(const void* data, size_t size) {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
      ssize_t n = ::write(fd_, at, size);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return failed();
      at += n;
      size -= static_cast<size_t>(n);
    }
    return {};
  }
  Status close() {
    int fd = std::exchange(fd_, -1);
    return ::close(fd) == 0 ? Status{} : failed();
  }
  Status move_to_target() {
    if (::rename(path_.c_str(), target_.c_str()) != 0) return failed();
    exists_ = false;
    return {};
  }
  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  const std::string& target() const { return target_; }
  Error failed() const {
    return error(fmt::format("cannot write '{}': {}", target_, system_error()));
  }

 private:
  std::string target_, path_;
  int fd_ = -1;
  bool exists_ = false;
};

/// The data file of the written model: tensors one after the other, aligned so that they can be
/// mapped.
class DataFile {
 public:
  explicit DataFile(const std::string& target)
      : file_(target), name_(fs::path(target).filename().string()) {}

  Status append(onnx::TensorProto& tensor, const std::vector<std::byte>& bytes) {
    RETURN_IF_ERROR(align(static_cast<int64_t>(bytes.size())));
    int64_t offset = size_;
    RETURN_IF_ERROR(write(bytes.data(), bytes.size()));
    refer(tensor, offset, static_cast<int64_t>(bytes.size()));
    return {};
  }
  /// Copies a range of another file; the same range twice is copied once.
  Status append(onnx::TensorProto& tensor, const Place& place) {
    auto [known, is_new] = copied_.emplace(std::tuple(place.file, place.offset, place.length), 0);
    if (is_new) {
      RETURN_IF_ERROR(align(place.length));
      known->second = size_;
      RETURN_IF_ERROR(copy(place));
    }
    refer(tensor, known->second, place.length);
    return {};
  }
  Temporary& file() { return file_; }

 private:
  Status write(const void* data, size_t size) {
    size_ += static_cast<int64_t>(size);
    return file_.write(data, size);
  }
  Status align(int64_t length) {
    if (!file_.is_open()) RETURN_IF_ERROR(file_.open());
    int64_t step = length >= (1 << 20) ? 4096 : 64;
    std::vector<char> zeros(static_cast<size_t>((step - size_ % step) % step), 0);
    return write(zeros.data(), zeros.size());
  }
  Status copy(const Place& place) {
    std::ifstream in(place.file, std::ios::binary);
    in.seekg(place.offset);
    std::vector<char> block(size_t{1} << 22);
    for (int64_t left = place.length; left > 0;) {
      auto step = std::min<int64_t>(left, static_cast<int64_t>(block.size()));
      in.read(block.data(), step);
      if (!in) return error(fmt::format("cannot read '{}'", place.file));
      RETURN_IF_ERROR(write(block.data(), static_cast<size_t>(step)));
      left -= step;
    }
    return {};
  }
  void refer(onnx::TensorProto& tensor, int64_t offset, int64_t length) const {
    tensor.clear_raw_data();
    tensor.clear_float_data();
    tensor.clear_double_data();
    tensor.clear_int32_data();
    tensor.clear_int64_data();
    tensor.clear_uint64_data();
    tensor.clear_external_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    auto add = [&](const char* key, std::string value) {
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(std::move(value));
    };
    add("location", name_);
    add("offset", std::to_string(offset));
    add("length", std::to_string(length));
  }

  Temporary file_;
  std::string name_;
  int64_t size_ = 0;
  std::map<std::tuple<std::string, int64_t, int64_t>, int64_t> copied_;
};

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

/// Canonical paths of the files that the model's tensors lie in.
std::set<std::string> source_files(Draft& draft, const std::string& folder) {
  std::set<std::string> files;
  TensorVisitor note = [&](onnx::TensorProto& t, const std::string&) -> Status {
    if (!is_external(t)) return {};
    if (auto place = locate(t, folder)) files.insert(place->file);
    return {};
  };
  auto& list = *draft.proto.mutable_graph()->mutable_initializer();
  for (auto& t : list) (void)note(t, "");
  (void)visit_rest(draft.proto, note);
  return files;
}

/// "<path>.data", or with a number when the model that is read has its own data there.
std::string data_path(const std::string& path, const std::set<std::string>& sources) {
  for (int n = 0;; ++n) {
    std::string candidate = n == 0 ? path + ".data" : fmt::format("{}.{}.data", path, n);
    std::error_code failure;
    std::string canonical = fs::weakly_canonical(candidate, failure).string();
    if (failure || sources.count(canonical) == 0) return candidate;
  }
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

Status write_model(Draft& draft, Temporary& file) {
  if (inline_size(draft) > kProtobufLimit) {
    return error("the model exceeds 2 GB even without its weights");
  }
  RETURN_IF_ERROR(file.open());
  pb::FileOutputStream stream(file.fd(), 1 << 20);
  bool written = false;
  {
    pb::CodedOutputStream coded(&stream);
    RETURN_IF_ERROR(Writer(draft, coded).run());
    written = !coded.HadError();
  }
  written = stream.Flush() && written;
  if (!written) {
    errno = stream.GetErrno();
    return file.failed();
  }
  return file.close();
}

Status write_files(Draft& draft, const Model& model, const std::string& path, int64_t limit) {
  bool too_large = inline_size(draft) > std::min(limit, kProtobufLimit);
  DataFile data(data_path(path, source_files(draft, model.folder)));
  if (model.external || too_large) {
    int64_t from = too_large ? kExternalFrom : std::numeric_limits<int64_t>::max();
    RETURN_IF_ERROR(externalise(draft, model.folder, data, from));
  } else {
    RETURN_IF_ERROR(fill_attributes(draft));
  }
  Temporary file(path);
  RETURN_IF_ERROR(write_model(draft, file));
  bool has_data = data.file().is_open();
  if (has_data) {
    RETURN_IF_ERROR(data.file().close());
    RETURN_IF_ERROR(data.file().move_to_target());
  }
  auto moved = file.move_to_target();
  if (!moved && has_data) ::unlink(data.file().target().c_str());
  return moved;
}

int64_t elements(const onnx::TensorProto& t) {
  int64_t n = 1;
  for (int64_t d : t.dims()) n *= d;
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

std::string type_name(const onnx::NodeProto& node) {
  return is_default_domain(node.domain()) ? node.op_type() : node.domain() + ":" + node.op_type();
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

Status save(const Imported& original, const Graph& optimised, const std::string& path,
            const SaveOptions& options) {
  auto draft = raise(original, optimised);
  if (!draft) return error(fmt::format("{}: {}", path, draft.error().message));
  auto written = write_files(*draft, *original.model, path, options.inline_limit);
  if (!written) return error(fmt::format("{}: {}", path, written.error().message));
  return {};
}

Result<std::string> serialise(const Imported& original, const Graph& optimised) {
  ASSIGN_OR_RETURN(Draft draft, raise(original, optimised));
  if (original.model->external || inline_size(draft) > kProtobufLimit) {
    return error(
        fmt::format("{}: needs external data, so a file to write to", original.model->name));
  }
  for (const auto& p : draft.pending) RETURN_IF_ERROR(fill_inline(p));
  return draft.proto.SerializeAsString();
}

Summary summarise(const Imported& original, const Graph& optimised) {
  const Model& model = *original.model;
  auto draft = raise(original, optimised);
  Summary s;
  if (draft) {
    for (const auto& node : draft->proto.graph().node()) {
      ++s.operators[type_name(node)];
      s.parameters += elements(node);
    }
    for (const auto& t : draft->proto.graph().initializer()) s.parameters += elements(t);
    s.bytes = inline_size(*draft) + external_size(*draft, model.folder);
  } else {
    s = summarise_graph(model, optimised);
  }
  s.opset = model.opset;
  return s;
}

}  // namespace regraft::io
