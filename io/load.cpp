#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include "base/nearest.h"
#include "base/printable.h"
#include "io/proto.h"
#include "io/tensors.h"

namespace regraft::io {
namespace {

namespace pb = google::protobuf::io;

bool parse_stream(onnx::ModelProto& proto, pb::ZeroCopyInputStream& stream) {
  pb::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  return proto.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
}

/// A file descriptor that closes itself.
struct File {
  int fd;
  explicit File(const std::string& path)
      : fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd >= 0) ::close(fd);
  }
};

const char* const kDamaged = "is not an ONNX model, or is truncated, damaged or nested too deep";

Status read_file(const std::string& path, Model& model) {
  File file(path);
  struct stat info {};
  if (file.fd < 0 || ::fstat(file.fd, &info) != 0) {
    const std::string why = std::strerror(errno);
    return error("cannot be opened: " + why + suggested_file(path));
  }
  if (!S_ISREG(info.st_mode)) return error("is not a file");
  if (info.st_size == 0) return error("is empty");
  if (info.st_size > std::numeric_limits<int>::max()) {
    return error("is larger than 2 GB, which no ONNX file can be: weights belong in external data");
  }
  model.file_bytes = info.st_size;
  constexpr int kBlock = 1 << 20;
  pb::FileInputStream stream(file.fd, kBlock);
  if (!parse_stream(model.shell, stream)) return error(kDamaged);
  return {};
}

Status read_bytes(std::string_view bytes, Model& model) {
  if (bytes.empty()) return error("is empty");
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return error("is larger than 2 GB");
  model.file_bytes = static_cast<int64_t>(bytes.size());
  pb::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  if (!parse_stream(model.shell, stream)) return error(kDamaged);
  return {};
}

template <class T>
std::vector<std::unique_ptr<T>> extract(google::protobuf::RepeatedPtrField<T>& list) {
  std::vector<T*> raw(static_cast<size_t>(list.size()));
  list.ExtractSubrange(0, list.size(), raw.data());
  std::vector<std::unique_ptr<T>> owned;
  for (T* p : raw) owned.emplace_back(p);
  return owned;
}

/// Splits the message into what Model keeps apart.
Status take_apart(Model& model) {
  if (!model.shell.has_graph()) return error("has no graph: not an ONNX model");
  for (const auto& import : model.shell.opset_import()) {
    bool sane = import.version() >= 0 && import.version() <= std::numeric_limits<int>::max();
    if (!sane)
      return error(fmt::format("imports the operator set '{}' at version {}", import.domain(),
                               import.version()));
    if (import.domain().empty() || import.domain() == "ai.onnx")
      model.opset.version = static_cast<int>(import.version());
    if (import.domain() == kMicrosoft) model.opset.microsoft = true;
  }
  model.ir_version = model.shell.ir_version();
  auto& graph = *model.shell.mutable_graph();
  model.nodes = extract(*graph.mutable_node());
  for (auto& t : extract(*graph.mutable_initializer())) model.initialisers.push_back(std::move(t));
  return {};
}

Status check_names(const Model& model) {
  std::unordered_map<std::string_view, std::string> makers;
  auto define = [&](const std::string& name, const std::string& place) -> Status {
    auto [made, fresh] = makers.emplace(name, place);
    if (fresh) return {};
    return error(fmt::format("{} makes '{}', which {} makes too", place, name, made->second));
  };
  std::unordered_map<std::string_view, char> tensors;
  auto define_tensor = [&](const std::string& name) -> Status {
    if (name.empty()) return error("has an initialiser without a name");
    if (!tensors.emplace(name, 1).second)
      return error(fmt::format("has two initialisers named '{}'", name));
    makers.emplace(name, fmt::format("initialiser '{}'", name));
    return {};
  };
  const auto& graph = model.shell.graph();
  for (const auto& v : graph.input()) {
    if (v.name().empty()) return error("has a graph input without a name");
    RETURN_IF_ERROR(define(v.name(), fmt::format("graph input '{}'", v.name())));
  }
  for (const auto& t : model.initialisers) RETURN_IF_ERROR(define_tensor(t->name()));
  for (const auto& t : graph.sparse_initializer())
    RETURN_IF_ERROR(define_tensor(t.values().name()));
  for (size_t k = 0; k < model.nodes.size(); ++k) {
    for (const auto& name : model.nodes[k]->output()) {
      if (!name.empty()) RETURN_IF_ERROR(define(name, describe(*model.nodes[k], k)));
    }
  }
  return {};
}

Status check_tensors(Model& model) {
  TensorVisitor check = [&](onnx::TensorProto& t, const std::string& where) -> Status {
    if (model.held.count(&t) > 0) return {};
    model.external = model.external || is_external(t);
    auto status = check_tensor(t, model.folder);
    if (!status) return error(fmt::format("{} {}", where, status.error().message));
    return {};
  };
  for (const auto& t : model.initialisers) {
    RETURN_IF_ERROR(check(*t, fmt::format("initialiser '{}'", t->name())));
  }
  for (size_t k = 0; k < model.nodes.size(); ++k) {
    RETURN_IF_ERROR(visit_tensors(*model.nodes[k], describe(*model.nodes[k], k), check));
  }
  return visit_tensors(model.shell, check);
}

/// What new values of its bodies may not be called.
void note_names(Model& model) {
  bool has_bodies = std::ranges::any_of(model.nodes, [](auto& n) { return !bodies(*n).empty(); });
  if (model.names || !has_bodies) return;
  std::unordered_set<std::string> names;
  for (const auto& v : model.shell.graph().input()) names.insert(v.name());
  for (const auto& t : model.shell.graph().sparse_initializer()) names.insert(t.values().name());
  for (const auto& t : model.initialisers) names.insert(t->name());
  for (const auto& node : model.nodes) {
    names.insert(node->name());
    names.insert(node->output().begin(), node->output().end());
    for (auto& inner : inner_names(*node)) names.insert(std::move(inner));
  }
  model.names = std::make_shared<const std::unordered_set<std::string>>(std::move(names));
}

/// Nothing is read yet.
std::shared_ptr<Model> model_at(const std::string& path) {
  auto model = std::make_shared<Model>();
  model->name = path;
  auto parent = std::filesystem::path(path).parent_path();
  model->folder = parent.empty() ? "." : parent.string();
  return model;
}

/// One line, whatever names the file contains.
Error located(const std::string& name, const Error& failure) {
  return error(printable(name + ": " + failure.message));
}

}  // namespace

Result<Imported> import_model(const std::shared_ptr<Model>& model) {
  if (model->shell.has_graph()) inline_functions(*model);
  RETURN_IF_ERROR(take_apart(*model));
  RETURN_IF_ERROR(check_names(*model));
  RETURN_IF_ERROR(check_tensors(*model));
  ASSIGN_OR_RETURN(Graph graph, import_graph(model));
  while (inline_decided(*model)) {
    ASSIGN_OR_RETURN(graph, import_graph(model));
  }
  note_names(*model);
  RETURN_IF_ERROR(set_typical_sizes(graph, {}));
  return Imported{model, std::move(graph)};
}

Result<Imported> load(const std::string& path, const FixedSizes& sizes) {
  auto model = model_at(path);
  if (auto status = read_file(path, *model); !status) return located(path, status.error());
  if (model->shell.has_graph())
    if (auto status = fix_sizes(*model->shell.mutable_graph(), sizes); !status)
      return located(path, status.error());
  auto imported = import_model(model);
  if (!imported) return located(path, imported.error());
  if (auto status = set_typical_sizes(imported->graph, sizes.typical); !status)
    return located(path, status.error());
  if (sizes.shapes.empty() && sizes.dims.empty()) {
    imported->file = path;
  } else if (auto node = contradicted_node(*model, imported->graph)) {
    return located(path, error(*node + " does not run at these sizes"));
  }
  return imported;
}

std::vector<std::string> data_files(const std::string& path) {
  auto model = model_at(path);
  if (!read_file(path, *model) || !take_apart(*model)) return {};
  return data_files(Imported{model, Graph()});
}

void silence_parser() { google::protobuf::SetLogHandler(nullptr); }

Result<Imported> parse(std::string_view bytes, const std::string& name, const std::string& folder) {
  auto model = std::make_shared<Model>();
  model->name = name;
  model->folder = folder;
  if (auto status = read_bytes(bytes, *model); !status) return located(name, status.error());
  auto imported = import_model(model);
  if (!imported) return located(name, imported.error());
  return imported;
}

}  // namespace regraft::io
