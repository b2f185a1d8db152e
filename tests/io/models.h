#pragma once
// Small models for the tests of io, made with ONNX's messages.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/proto.h"

namespace regraft::io::test {

using Strings = std::vector<std::string>;

inline onnx::ModelProto empty_model(int opset = 17, int ir_version = 8) {
  onnx::ModelProto m;
  m.set_ir_version(ir_version);
  auto* import = m.add_opset_import();
  import->set_domain("");
  import->set_version(opset);
  m.mutable_graph()->set_name("g");
  return m;
}

inline onnx::ValueInfoProto value(const std::string& name, const Strings& dims, int type = 1) {
  onnx::ValueInfoProto v;
  v.set_name(name);
  auto* tensor = v.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(type);
  tensor->mutable_shape();
  for (const auto& d : dims) {
    auto* dim = tensor->mutable_shape()->add_dim();
    bool number = !d.empty() && d.find_first_not_of("0123456789") == std::string::npos;
    if (number)
      dim->set_dim_value(std::stoll(d));
    else if (!d.empty())
      dim->set_dim_param(d);
  }
  return v;
}

/// To a graph or a function.
template <class G>
onnx::NodeProto& add_node(G& g, const std::string& type, const Strings& inputs,
                          const Strings& outputs) {
  auto& node = *g.add_node();
  node.set_op_type(type);
  node.set_name(type + "_" + outputs[0]);
  for (const auto& i : inputs) node.add_input(i);
  for (const auto& o : outputs) node.add_output(o);
  return node;
}

inline void add_ints(onnx::NodeProto& node, const std::string& name,
                     const std::vector<int64_t>& values) {
  auto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(onnx::AttributeProto::INTS);
  for (int64_t v : values) a.add_ints(v);
}

inline onnx::TensorProto floats(const std::string& name, const std::vector<int64_t>& dims,
                                const std::vector<float>& data) {
  onnx::TensorProto t;
  t.set_name(name);
  t.set_data_type(onnx::TensorProto::FLOAT);
  for (int64_t d : dims) t.add_dims(d);
  t.set_raw_data(data.data(), data.size() * sizeof(float));
  return t;
}

inline onnx::TensorProto ints(const std::string& name, const std::vector<int64_t>& data) {
  onnx::TensorProto t;
  t.set_name(name);
  t.set_data_type(onnx::TensorProto::INT64);
  t.add_dims(static_cast<int64_t>(data.size()));
  for (int64_t v : data) t.add_int64_data(v);
  return t;
}

inline void add_external(onnx::TensorProto& t, const std::string& key, const std::string& text) {
  t.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *t.add_external_data();
  entry.set_key(key);
  entry.set_value(text);
}

/// x[N,4] -> MatMul(w) -> Add(b) -> Relu -> y
inline onnx::ModelProto dense(int opset = 17, int ir_version = 8) {
  auto m = empty_model(opset, ir_version);
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"N", "4"});
  *g.add_output() = value("y", {"N", "3"});
  *g.add_initializer() = floats("w", {4, 3}, std::vector<float>(12, 0.5F));
  *g.add_initializer() = floats("b", {3}, {1, 2, 3});
  add_node(g, "MatMul", {"x", "w"}, {"h"});
  add_node(g, "Add", {"h", "b"}, {"s"});
  add_node(g, "Relu", {"s"}, {"y"});
  return m;
}

/// x -> Relu -> h -> Relu -> y
inline onnx::ModelProto relu_twice() {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"2", "3"});
  *g.add_output() = value("y", {"2", "3"});
  add_node(g, "Relu", {"x"}, {"h"});
  add_node(g, "Relu", {"h"}, {"y"});
  return m;
}

/// c -> If(c) { Neg(h) } { Identity(h) } -> z, where h = Relu(x)
inline onnx::ModelProto with_bodies() {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"2"});
  *g.add_input() = value("c", {}, onnx::TensorProto::BOOL);
  *g.add_output() = value("z", {"2"});
  add_node(g, "Relu", {"x"}, {"h0"});
  add_node(g, "Relu", {"h0"}, {"h"});
  auto& branch = add_node(g, "If", {"c"}, {"z"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& a = *branch.add_attribute();
    a.set_name(name);
    a.set_type(onnx::AttributeProto::GRAPH);
    a.mutable_g()->set_name(name);
    std::string made = std::string(name) + "_out";
    add_node(*a.mutable_g(), name[0] == 't' ? "Neg" : "Identity", {"h"}, {made});
    *a.mutable_g()->add_output() = value(made, {"2"});
  }
  return m;
}

inline Result<Imported> import(const onnx::ModelProto& m) {
  return parse(m.SerializeAsString(), "test");
}

/// Parses what serialise makes of the graph.
inline onnx::ModelProto written(const Imported& original, const Graph& g) {
  auto bytes = serialise(original, g);
  EXPECT_TRUE(bytes.has_value()) << bytes.error().message;
  onnx::ModelProto m;
  EXPECT_TRUE(bytes && m.ParseFromString(*bytes));
  return m;
}

/// Graph node of kind Call or Opaque whose first output has that name.
inline int32_t find(const Graph& g, const std::string& name) {
  for (int32_t id = 0; id < g.id_bound(); ++id) {
    if (g.contains(id) && !g.node(id).names.empty() && g.node(id).names[0] == name) return id;
  }
  ADD_FAILURE() << "no value " << name;
  return 0;
}

/// A folder of its own for each test.
class Folder : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        std::filesystem::path(::testing::TempDir()) / (std::string("regraft_io_") + test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  int files() const {
    auto all = std::filesystem::directory_iterator(folder_);
    return static_cast<int>(std::distance(begin(all), end(all)));
  }
  std::filesystem::path folder_;
};

}  // namespace regraft::io::test
