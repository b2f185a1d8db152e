// External data: the tensors of a graph say where their bytes lie, in a folder that has files,
// links out of it, and things that are no files.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/hash.h"
#include "io/proto.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/models.h"
#include "tests/fuzz/mutate_message.h"

namespace regraft {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSaved = 8;  // one input in so many is saved: that waits for the disk

std::string pattern(size_t size) {
  std::string s(size, '\0');
  for (size_t k = 0; k < size; ++k) s[k] = static_cast<char>(k * 37 + k / 256);
  return s;
}

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Folders of this process: the model's, with what is in it, and one beside that it must not see.
class Folders {
 public:
  Folders() : root_(fs::temp_directory_path() / ("regraft-fuzz-" + std::to_string(::getpid()))) {
    fs::create_directories(model() / "sub");
    fs::create_directories(root_ / "secret");
    write(root_ / "secret/key", "secret bytes of somebody else");
    write(model() / "data", pattern(4096));
    write(model() / "sub/data", pattern(100));
    write(model() / "empty", "");
    fs::create_symlink("data", model() / "link");
    fs::create_symlink("loop", model() / "loop");
    fs::create_symlink("../secret/key", model() / "leak");
    fs::create_directory_symlink("../secret", model() / "leaks");
    ::mkfifo((model() / "pipe").c_str(), 0600);
    fs::create_directories(root_ / "out");
  }
  ~Folders() { fs::remove_all(root_); }
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;
  fs::path model() const { return root_ / "model"; }
  fs::path out() const { return root_ / "out"; }

 private:
  fs::path root_;
};

const Folders& folders() {
  static const Folders folders;
  return folders;
}

/// What the program reads of an external tensor stands in one of the files that it may read.
void check_bytes(const onnx::TensorProto& t, const Constant& c) {
  auto bytes = c.bytes();
  if (!bytes) return fuzz::check_message(bytes.error());
  static const std::string all = pattern(4096);
  std::string_view read(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  if (t.has_segment()) read.remove_prefix(3 * sizeof(int64_t));  // the type and the part
  CLAIM(all.find(read) != std::string::npos, "bytes from elsewhere");
}

/// The graph's constants by name.
std::map<std::string, std::shared_ptr<const Constant>> constants(const Graph& g) {
  std::map<std::string, std::shared_ptr<const Constant>> found;
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (!g.contains(id) || !g.node(id).constant || g.node(id).names.empty()) continue;
    found[g.node(id).names[0]] = g.node(id).constant;
  }
  return found;
}

void check_data(const io::Imported& imported) {
  auto all = constants(imported.graph);
  for (const auto& t : imported.model->initialisers) {
    bool its = t->data_location() == onnx::TensorProto::EXTERNAL && all.count(t->name()) > 0;
    if (its) check_bytes(*t, *all.at(t->name()));
  }
}

/// What each output is computed from; null where that is no constant. Not by name: tensors of the
/// same bytes are one constant, and which of their names it bears is free.
std::vector<std::shared_ptr<const Constant>> behind_outputs(const Graph& g) {
  std::vector<std::shared_ptr<const Constant>> found;
  for (Value v : g.outputs()) {
    const Node& node = g.node(v.node);
    found.push_back(node.inputs.empty() ? node.constant : g.node(node.inputs[0].node).constant);
  }
  return found;
}

/// Saving moves large tensors to a data file; what is loaded from there is what was saved.
void save(const io::Imported& imported) {
  std::string path = (folders().out() / "m.onnx").string();
  auto saved = io::save(imported, imported.graph, path, {.inline_limit = 200});
  if (!saved) return fuzz::check_message(saved.error());
  auto again = io::load(path);
  CLAIM(again.has_value(), again.error().message);
  auto before = behind_outputs(imported.graph), after = behind_outputs(again->graph);
  CLAIM(before.size() == after.size(), "another number of outputs");
  for (size_t k = 0; k < before.size(); ++k) {
    std::string where = "output " + std::to_string(k);
    CLAIM((before[k] == nullptr) == (after[k] == nullptr), where);
    if (!before[k]) continue;
    auto was = before[k]->bytes(), is = after[k]->bytes();
    CLAIM(was.has_value() == is.has_value(), where);
    CLAIM(!was || *was == *is, where);
  }
}

onnx::TensorProto tensor(const std::string& name, int64_t count, const std::string& location) {
  onnx::TensorProto t;
  t.set_name(name);
  t.set_data_type(onnx::TensorProto::FLOAT);
  t.add_dims(count);
  t.set_data_location(onnx::TensorProto::EXTERNAL);
  auto add = [&](const char* key, const std::string& value) {
    auto& entry = *t.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", location);
  add("offset", "64");
  add("length", std::to_string(4 * count));
  return t;
}

/// Each initialiser in a sum of its own.
onnx::ModelProto model(const onnx::GraphProto& tensors) {
  onnx::ModelProto m;
  m.set_ir_version(8);
  m.add_opset_import()->set_version(13);
  *m.mutable_graph() = tensors;
  for (const auto& t : tensors.initializer()) {
    auto& node = *m.mutable_graph()->add_node();
    node.set_op_type("Relu");
    node.add_input(t.name());
    node.add_output(t.name() + "_y");
    m.mutable_graph()->add_output()->set_name(t.name() + "_y");
  }
  return m;
}

void read(std::string_view bytes) {
  onnx::GraphProto tensors;
  if (!tensors.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  auto imported = io::parse(model(tensors).SerializeAsString(), "file", folders().model().string());
  if (!imported) return fuzz::check_message(imported.error());
  check_data(*imported);
  if (hash_text(bytes) % kSaved == 0) save(*imported);
}

const std::vector<std::string> kWords = {"location",
                                         "offset",
                                         "length",
                                         "checksum",
                                         "data",
                                         "sub/data",
                                         "./data",
                                         "sub/../data",
                                         "empty",
                                         "link",
                                         "loop",
                                         "leak",
                                         "leaks",
                                         "leaks/key",
                                         "pipe",
                                         "../secret/key",
                                         ".",
                                         "..",
                                         "/etc/passwd",
                                         "0",
                                         "4096",
                                         "4095",
                                         "18446744073709551615",
                                         "9223372036854775807",
                                         "-1",
                                         "99999999999999999999",
                                         "0x10",
                                         " 1",
                                         "1e3"};

}  // namespace

std::vector<fuzz::Seed> fuzz::seeds() {
  std::vector<Seed> seeds;
  for (const char* file : {"data", "sub/data", "link", "leak", "leaks/key", "pipe", "loop"}) {
    onnx::GraphProto g;
    *g.add_initializer() = tensor("a", 9, file);
    *g.add_initializer() = tensor("b", 300, "data");
    std::string name(file);
    std::replace(name.begin(), name.end(), '/', '-');
    seeds.emplace_back(name, g.SerializeAsString());
  }
  return seeds;
}

}  // namespace regraft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  regraft::read(regraft::fuzz::text_of(data, size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  static onnx::GraphProto tensors;
  return regraft::fuzz::mutate_bytes(tensors, data, size, most, regraft::kWords, seed);
}
