// ONNX models: what is read has shapes, is cleaned up, written and read again.
#include "io/proto.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/models.h"
#include "tests/fuzz/mutate_message.h"

namespace regraft {
namespace {

onnx::ValueInfoProto value(const std::string& name, const std::vector<int64_t>& dims) {
  onnx::ValueInfoProto v;
  v.set_name(name);
  auto* tensor = v.mutable_type()->mutable_tensor_type();
  tensor->set_elem_type(onnx::TensorProto::FLOAT);
  for (int64_t d : dims) {
    auto* dim = tensor->mutable_shape()->add_dim();
    if (d < 0)
      dim->set_dim_param("n");
    else
      dim->set_dim_value(d);
  }
  return v;
}

onnx::TensorProto floats(const std::string& name, const std::vector<int64_t>& dims) {
  onnx::TensorProto t;
  t.set_name(name);
  t.set_data_type(onnx::TensorProto::FLOAT);
  int64_t count = 1;
  for (int64_t d : dims) {
    t.add_dims(d);
    count *= d;
  }
  for (int64_t k = 0; k < count; ++k) t.add_float_data(0.25F * static_cast<float>(k % 7));
  return t;
}

onnx::ModelProto model(int opset) {
  onnx::ModelProto m;
  m.set_ir_version(8);
  m.add_opset_import()->set_version(opset);
  m.mutable_graph()->set_name("g");
  return m;
}

onnx::NodeProto& node(onnx::ModelProto& m, const std::string& type,
                      const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs) {
  auto& n = *m.mutable_graph()->add_node();
  n.set_op_type(type);
  for (const auto& i : inputs) n.add_input(i);
  for (const auto& o : outputs) n.add_output(o);
  return n;
}

void ints(onnx::NodeProto& n, const std::string& name, const std::vector<int64_t>& values) {
  auto& a = *n.add_attribute();
  a.set_name(name);
  a.set_type(onnx::AttributeProto::INTS);
  for (int64_t v : values) a.add_ints(v);
}

onnx::ModelProto images() {
  auto m = model(13);
  *m.mutable_graph()->add_input() = value("x", {1, 3, 8, 8});
  *m.mutable_graph()->add_output() = value("y", {1, 4, 4, 4});
  *m.mutable_graph()->add_initializer() = floats("w", {4, 3, 3, 3});
  *m.mutable_graph()->add_initializer() = floats("b", {4});
  ints(node(m, "Conv", {"x", "w", "b"}, {"c"}), "pads", {1, 1, 1, 1});
  node(m, "Relu", {"c"}, {"r"});
  auto& pool = node(m, "MaxPool", {"r"}, {"y"});
  ints(pool, "kernel_shape", {2, 2});
  ints(pool, "strides", {2, 2});
  return m;
}

onnx::ModelProto matrices() {
  auto m = model(17);
  *m.mutable_graph()->add_input() = value("x", {-1, 6});
  *m.mutable_graph()->add_output() = value("y", {-1, 4});
  for (const char* w : {"u", "v"}) *m.mutable_graph()->add_initializer() = floats(w, {6, 4});
  node(m, "Add", {"u", "v"}, {"w"});  // folded
  node(m, "MatMul", {"x", "w"}, {"p"});
  ints(node(m, "Transpose", {"p"}, {"t"}), "perm", {1, 0});
  node(m, "Softmax", {"t"}, {"s"});
  ints(node(m, "Transpose", {"s"}, {"y"}), "perm", {1, 0});
  return m;
}

onnx::ModelProto shapes() {
  auto m = model(13);
  *m.mutable_graph()->add_input() = value("x", {-1, 4});
  *m.mutable_graph()->add_output() = value("y", {-1, 2, 2});
  auto& s = *m.mutable_graph()->add_initializer();
  s.set_name("s");
  s.set_data_type(onnx::TensorProto::INT64);
  s.add_dims(3);
  for (int64_t d : {0, 2, 2}) s.add_int64_data(d);
  node(m, "Reshape", {"x", "s"}, {"r"});
  node(m, "Concat", {"r", "r"}, {"c"});
  auto& axis = *m.mutable_graph()->mutable_node(1)->add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
  axis.set_i(0);
  node(m, "Tanh", {"c"}, {"y"});
  return m;
}

onnx::ModelProto branches() {
  auto m = matrices();
  auto& choose = node(m, "If", {"condition"}, {"z"});
  auto* condition = m.mutable_graph()->add_input();
  *condition = value("condition", {});
  condition->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::BOOL);
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& a = *choose.add_attribute();
    a.set_name(name);
    a.set_type(onnx::AttributeProto::GRAPH);
    a.mutable_g()->set_name(name);
    auto& inner = *a.mutable_g()->add_node();
    inner.set_op_type("Neg");
    inner.add_input("p");
    inner.add_output("q");
    a.mutable_g()->add_output()->set_name("q");
  }
  *m.mutable_graph()->add_output() = value("z", {-1, 4});
  return m;
}

}  // namespace

std::vector<fuzz::Seed> fuzz::seeds() {
  return {{"images", images().SerializeAsString()},
          {"matrices", matrices().SerializeAsString()},
          {"shapes", shapes().SerializeAsString()},
          {"branches", branches().SerializeAsString()}};
}

}  // namespace regraft

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto imported = regraft::io::parse(regraft::fuzz::text_of(data, size), "file");
  if (imported)
    regraft::fuzz::check_model(*imported);
  else
    regraft::fuzz::check_message(imported.error());
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  static onnx::ModelProto model;
  return regraft::fuzz::mutate_bytes(model, data, size, most, regraft::fuzz::onnx_words(), seed);
}
