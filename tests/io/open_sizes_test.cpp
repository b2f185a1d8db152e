// Sizes that depend on which of the open ones are 1, small or 0: what is not known is not stated.
#include "tests/io/models.h"

namespace regraft::io::test {
namespace {

onnx::NodeProto& cut_shape(onnx::GraphProto& g, const std::string& x, const std::string& first) {
  auto& node = add_node(g, "Shape", {x}, {first});
  for (const auto& [name, at] : {std::pair("start", 0), std::pair("end", 1)}) {
    auto& a = *node.add_attribute();
    a.set_name(name);
    a.set_type(onnx::AttributeProto::INT);
    a.set_i(at);
  }
  return node;
}

/// The first size of what the node makes.
Result<std::string> first_size(const onnx::ModelProto& m) {
  ASSIGN_OR_RETURN(Imported imported, import(m));
  const auto& shape = imported.graph.type(imported.graph.outputs()[0]).shape;
  return shape && !shape->empty() ? to_string((*shape)[0]) : std::string("?");
}

/// y = op(a[N, ..], b[M, ..])
std::string joined(const std::string& op, const Strings& a, const Strings& b) {
  auto m = empty_model(18);
  auto& g = *m.mutable_graph();
  *g.add_input() = value("a", a);
  *g.add_input() = value("b", b);
  *g.add_output() = value("y", Strings(std::max(a.size(), b.size())));
  Strings operands{"a", "b"};
  if (op == "Where") {
    add_node(g, "Less", {"a", "b"}, {"c"});
    operands = {"c", "a", "b"};
  }
  auto& node = add_node(g, op, operands, {"y"});
  if (op == "Einsum") {
    auto& equation = *node.add_attribute();
    equation.set_name("equation");
    equation.set_type(onnx::AttributeProto::STRING);
    equation.set_s("ij,ij->ij");
  }
  auto size = first_size(m);
  return size ? *size : size.error().message;
}

TEST(OpenSizes, OfWhichOneMayBeOneSayNothingOfTheResult) {
  for (const char* op : {"Add", "Max", "Pow", "Sum", "Where", "Einsum"}) {
    std::string size = joined(op, {"N", "2"}, {"M", "2"});
    EXPECT_NE(size, "N") << op;
    EXPECT_NE(size, "M") << op;
    EXPECT_EQ(joined(op, {"N", "2"}, {"N", "2"}), "N") << op;
  }
  std::string batch = joined("MatMul", {"N", "2", "3"}, {"M", "3", "2"});
  EXPECT_NE(batch, "N");
  EXPECT_NE(batch, "M");
  EXPECT_EQ(joined("MatMul", {"N", "K"}, {"L", "2"}), "N");  // K is L, or the model does not run
  EXPECT_EQ(joined("Add", {"N", "2"}, {"1", "2"}), "N");
  EXPECT_EQ(joined("Add", {"N", "2"}, {"7", "2"}), "7");
  EXPECT_EQ(joined("PRelu", {"1", "2"}, {"3", "N", "2"}), "3");  // as onnxruntime has it
}

/// The size of x[N, 3] cut to [from, to), where both may be N less some number.
std::string cut(const std::string& from, const std::string& to) {
  auto m = empty_model(18);
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"N", "3"});
  *g.add_output() = value("y", {"", "3"});
  *g.add_initializer() = ints("zero", {0});
  *g.add_initializer() = ints("one", {1});
  *g.add_initializer() = ints("two", {2});
  cut_shape(g, "x", "N");
  add_node(g, "Sub", {"N", "one"}, {"N-1"});
  add_node(g, "Sub", {"N", "two"}, {"N-2"});
  add_node(g, "Slice", {"x", from, to, "zero"}, {"y"});
  auto size = first_size(m);
  return size ? *size : size.error().message;
}

TEST(OpenSizes, ASliceMayEndBeforeItBegins) {
  EXPECT_EQ(cut("zero", "N-1"), "N-1");
  EXPECT_EQ(cut("one", "N"), "N-1");
  EXPECT_EQ(cut("N-1", "N"), "1");
  EXPECT_NE(cut("zero", "N-2"), "N-2");  // of one row -1 is a place from the end
  EXPECT_NE(cut("N-2", "N"), "2");
  EXPECT_NE(cut("N-1", "one"), "-N+2");
}

std::string range(int64_t less) {
  auto m = empty_model(18);
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"N", "3"});
  *g.add_output() = value("y", {""}, 7);
  for (const auto& [name, number] : {std::pair("zero", int64_t{0}), {"one", 1}, {"less", less}}) {
    *g.add_initializer() = ints(name, {number});
    g.mutable_initializer(g.initializer_size() - 1)->clear_dims();
  }
  cut_shape(g, "x", "sizes");
  add_node(g, "Squeeze", {"sizes"}, {"N"});
  add_node(g, "Sub", {"N", "less"}, {"limit"});
  add_node(g, "Range", {"zero", "limit", "one"}, {"y"});
  auto size = first_size(m);
  return size ? *size : size.error().message;
}

TEST(OpenSizes, ARangeIsNoShorterThanNothing) {
  EXPECT_EQ(range(1), "N-1");
  EXPECT_NE(range(3), "N-3");
}

/// Is y = (N > bound), or (bound > N), known?
bool is_decided(int64_t bound, bool swapped) {
  auto m = empty_model(18);
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"N", "3"});
  *g.add_output() = value("y", {"1"}, 9);
  *g.add_initializer() = ints("bound", {bound});
  cut_shape(g, "x", "N");
  add_node(g, "Greater", swapped ? Strings{"bound", "N"} : Strings{"N", "bound"}, {"y"});
  auto imported = import(m);
  if (!imported) return false;
  return imported->graph.node(imported->graph.outputs()[0].node).kind == NodeKind::Constant;
}

TEST(OpenSizes, AGuardAgainstEmptyTensorsStays) {
  EXPECT_TRUE(is_decided(-1, false));
  EXPECT_FALSE(is_decided(0, false));
  EXPECT_TRUE(is_decided(-1, true));
  EXPECT_FALSE(is_decided(1, true));
}

/// Int32 product of a number with `factor`, which is a number or the size N.
NodeKind product(bool of_size, int32_t factor) {
  auto m = empty_model(18);
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"N", "3"});
  *g.add_output() = value("y", {"1"}, 6);
  auto& t = *g.add_initializer();
  t.set_name("k");
  t.set_data_type(onnx::TensorProto::INT32);
  t.add_dims(1);
  t.add_int32_data(factor);
  cut_shape(g, "x", "N");
  auto& cast = *add_node(g, "Cast", {"N"}, {"n"}).add_attribute();
  cast.set_name("to");
  cast.set_type(onnx::AttributeProto::INT);
  cast.set_i(6);
  add_node(g, "Mul", {of_size ? "n" : "k", "k"}, {"y"});
  auto imported = import(m);
  EXPECT_TRUE(imported);
  return imported->graph.node(imported->graph.outputs()[0].node).kind;
}

TEST(OpenSizes, IntegersThatWrapAroundAreLeftToTheRuntime) {
  EXPECT_EQ(product(false, 50000), NodeKind::Call);
  EXPECT_EQ(product(false, 40), NodeKind::Constant);
  auto leaf = product(true, 40), wraps = product(true, 1 << 30);
  EXPECT_NE(leaf, wraps);
}

TEST(OpenSizes, AReshapeToNothingCopiesNoSize) {
  auto m = empty_model(18);
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"A", "B", "4", "C"});
  *g.add_output() = value("y", {"", "", "", "", ""});
  *g.add_initializer() = ints("target", {0, 0, -1});
  *g.add_initializer() = ints("axes", {3, 4});
  add_node(g, "Reshape", {"x", "target"}, {"r"});
  add_node(g, "Unsqueeze", {"r", "axes"}, {"y"});
  auto imported = import(m);
  ASSERT_TRUE(imported) << imported.error().message;
  Graph graph = imported->graph;  // the two as one
  Value x = graph.inputs()[0];
  Node both = graph.node(graph.outputs()[0].node);
  both.inputs = {x};
  both.origin = -1;
  graph.set_outputs({{graph.add_node(std::move(both)), 0}});
  remove_dead(graph);
  auto bytes = serialise(*imported, graph);
  ASSERT_TRUE(bytes) << bytes.error().message;
  onnx::ModelProto written;
  ASSERT_TRUE(written.ParseFromString(*bytes));
  int64_t allowed = 0;
  for (const auto& node : written.graph().node())
    for (const auto& a : node.attribute())
      if (node.op_type() == "Reshape" && a.name() == "allowzero") allowed = a.i();
  EXPECT_EQ(allowed, 1);
}

}  // namespace
}  // namespace regraft::io::test
