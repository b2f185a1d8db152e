// Computed shapes: known on import, written in few nodes.
#include "tests/io/models.h"

namespace regraft::io::test {
namespace {

/// Adds an int64 initialiser and returns its name.
std::string constant(onnx::GraphProto& g, const std::string& name,
                     const std::vector<int64_t>& values, bool scalar = false) {
  *g.add_initializer() = ints(name, values);
  if (scalar) g.mutable_initializer(g.initializer_size() - 1)->clear_dims();
  return name;
}

void set_int(onnx::NodeProto& node, const std::string& name, int64_t value) {
  auto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(onnx::AttributeProto::INT);
  a.set_i(value);
}

void set_text(onnx::NodeProto& node, const std::string& name, const std::string& value) {
  auto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(onnx::AttributeProto::STRING);
  a.set_s(value);
}

std::string shape_of(const Imported& m, int output = 0) {
  return to_string(m.graph.type(m.graph.outputs()[static_cast<size_t>(output)]));
}

int count(const onnx::ModelProto& m, const std::string& type) {
  int n = 0;
  for (const auto& node : m.graph().node()) n += node.op_type() == type;
  return n;
}

onnx::ModelProto written(const Imported& m) {
  auto bytes = serialise(m, m.graph);
  EXPECT_TRUE(bytes) << bytes.error().message;
  onnx::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromString(*bytes));
  return proto;
}

/// x[batch,seq,12] -> Shape, Gather 0 and 1, Concat with 3 and 4 -> Reshape -> y
onnx::ModelProto heads(const Strings& dims) {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", dims);
  *g.add_output() = value("y", {"", "", "", ""});
  constant(g, "zero", {0});
  constant(g, "one", {1});
  constant(g, "tail", {3, 4});
  add_node(g, "Shape", {"x"}, {"s"});
  add_node(g, "Gather", {"s", "zero"}, {"b"});
  add_node(g, "Gather", {"s", "one"}, {"n"});
  set_int(add_node(g, "Concat", {"b", "n", "tail"}, {"target"}), "axis", 0);
  add_node(g, "Reshape", {"x", "target"}, {"y"});
  return m;
}

TEST(Shapes, TargetsOfReshapeAreKnown) {
  auto m = import(heads({"batch", "seq", "12"}));
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(shape_of(*m), "float32[batch,seq,3,4]");
  EXPECT_EQ(m->graph.node(m->graph.outputs()[0].node).kind, NodeKind::Call);
}

TEST(Shapes, TheirComputationVanishesWhereZeroSaysIt) {
  auto m = import(heads({"batch", "seq", "12"}));
  auto proto = written(*m);
  EXPECT_EQ(proto.graph().node_size(), 1);
  auto again = import(proto);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(shape_of(*again), "float32[batch,seq,3,4]");
}

TEST(Shapes, StaticOnesAreConstants) {
  auto m = import(heads({"2", "5", "12"}));
  EXPECT_EQ(shape_of(*m), "float32[2,5,3,4]");
  EXPECT_EQ(written(*m).graph().node_size(), 1);
}

/// y = Expand(x, [2 * batch, seq / 2 + 1, 1]): computed once, though two nodes compute it.
onnx::ModelProto expanded() {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"batch", "seq"});
  *g.add_input() = value("v", {"1", "1", "7"});
  for (const char* k : {"a", "b"}) {
    std::string n(k);
    *g.add_output() = value("y" + n, {"", "", ""});
    constant(g, "zero" + n, {0});
    constant(g, "one" + n, {1});
    constant(g, "two" + n, {2});
    add_node(g, "Shape", {"x"}, {"s" + n});
    add_node(g, "Gather", {"s" + n, "zero" + n}, {"batch" + n});
    add_node(g, "Gather", {"s" + n, "one" + n}, {"seq" + n});
    add_node(g, "Mul", {"batch" + n, "two" + n}, {"twice" + n});
    add_node(g, "Div", {"seq" + n, "two" + n}, {"half" + n});
    add_node(g, "Add", {"half" + n, "one" + n}, {"more" + n});
    set_int(add_node(g, "Concat", {"twice" + n, "more" + n, "one" + n}, {"target" + n}), "axis", 0);
    add_node(g, "Expand", {"v", "target" + n}, {"y" + n});
  }
  return m;
}

TEST(Shapes, ArithmeticOnSizesIsKnownAndComputedOnce) {
  auto m = import(expanded());
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(shape_of(*m), shape_of(*m, 1));
  EXPECT_EQ((*m->graph.type(m->graph.outputs()[0]).shape)[2].constant(), 7);
  auto proto = written(*m);
  EXPECT_EQ(count(proto, "Expand"), 1);  // the two are one
  EXPECT_EQ(count(proto, "Concat"), 1);
  EXPECT_EQ(count(proto, "Div"), 1);
  EXPECT_EQ(count(proto, "Shape"), 2);  // one for each size
  auto again = import(proto);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(structurally_equal(m->graph, again->graph));
}

TEST(Shapes, GraphOutputsKeepTheirNames) {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"batch", "3"});
  *g.add_output() = value("s", {"2"}, onnx::TensorProto::INT64);
  add_node(g, "Shape", {"x"}, {"s"});
  auto imported = import(m);
  ASSERT_TRUE(imported) << imported.error().message;
  auto proto = written(*imported);
  ASSERT_GE(proto.graph().node_size(), 1);
  EXPECT_EQ(proto.graph().node(proto.graph().node_size() - 1).output(0), "s");
}

TEST(Shapes, ConditionsOnSizesAreDecidedWhereTheyCanBe) {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"batch", "3"});
  *g.add_input() = value("v", {"1", "1"});
  *g.add_output() = value("y", {"", ""});
  constant(g, "minus", {-1, -1});
  constant(g, "ones", {1, 1});
  add_node(g, "Shape", {"x"}, {"s"});
  add_node(g, "Equal", {"s", "minus"}, {"unknown"});
  add_node(g, "Where", {"unknown", "ones", "s"}, {"target"});
  add_node(g, "Expand", {"v", "target"}, {"y"});
  auto imported = import(m);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(shape_of(*imported), "float32[batch,3]");
  EXPECT_EQ(count(written(*imported), "Equal"), 0);
}

/// y = if rank(x) == 2 then Relu(x) else Neg(x), as exporters write it
TEST(Shapes, BranchesThatAreAlwaysTakenAreInlined) {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"batch", "3"});
  *g.add_output() = value("y", {"batch", "3"});
  constant(g, "two", {2});
  add_node(g, "Shape", {"x"}, {"s"});
  add_node(g, "Size", {"s"}, {"rank"});
  add_node(g, "Equal", {"rank", "two"}, {"is_matrix"});
  auto& choice = add_node(g, "If", {"is_matrix"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& a = *choice.add_attribute();
    a.set_name(branch);
    a.set_type(onnx::AttributeProto::GRAPH);
    std::string type = std::string(branch) == "then_branch" ? "Relu" : "Neg";
    add_node(*a.mutable_g(), type, {"x"}, {"inner_" + type});
    *a.mutable_g()->add_output() = value("inner_" + type, {"batch", "3"});
  }
  auto imported = import(m);
  ASSERT_TRUE(imported) << imported.error().message;
  auto proto = written(*imported);
  ASSERT_EQ(proto.graph().node_size(), 1);
  EXPECT_EQ(proto.graph().node(0).op_type(), "Relu");
  EXPECT_EQ(proto.graph().node(0).output(0), "y");
}

/// Positions of a sequence: Range(0, seq, 1) -> Mul -> Add -> y, all integers.
onnx::ModelProto positions() {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"batch", "seq"});
  *g.add_output() = value("y", {""}, onnx::TensorProto::INT64);
  *g.add_output() = value("z", {"batch", "seq"});
  for (const char* name : {"zero", "one"})
    constant(g, name, {name == std::string("one") ? 1 : 0}, true);
  constant(g, "two", {2});
  add_node(g, "Shape", {"x"}, {"s"});
  set_int(add_node(g, "Gather", {"s", "one"}, {"n"}), "axis", 0);
  add_node(g, "Range", {"zero", "n", "one"}, {"r"});
  add_node(g, "Mul", {"r", "two"}, {"m"});
  add_node(g, "Add", {"m", "r"}, {"y"});
  add_node(g, "Relu", {"x"}, {"z"});
  return m;
}

TEST(Shapes, IntegersOfOpenLengthAreCalls) {
  auto m = import(positions());
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(shape_of(*m), "int64[seq]");
  const Node& sum = m->graph.node(m->graph.outputs()[0].node);
  ASSERT_EQ(sum.kind, NodeKind::Call);
  const Node& range = m->graph.node(sum.inputs[1].node);
  ASSERT_EQ(range.kind, NodeKind::Call);
  EXPECT_EQ(range.op->name, "range");
  EXPECT_EQ(to_string(range.attrs.ints[0][0]), "seq");
}

TEST(Shapes, ARangeIsWrittenAnew) {
  auto m = import(positions());
  ASSERT_TRUE(m) << m.error().message;
  for (int32_t id = 0; id < m->graph.id_bound(); ++id) {
    if (!m->graph.contains(id) || m->graph.node(id).kind != NodeKind::Call) continue;
    Node n = m->graph.node(id);
    n.origin = -1;
    m->graph.replace_node(id, std::move(n));
  }
  auto proto = written(*m);
  EXPECT_EQ(count(proto, "Range"), 1);
  auto again = import(proto);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(shape_of(*again), "int64[seq]");
  EXPECT_EQ(again->graph.node(again->graph.outputs()[0].node).kind, NodeKind::Call);
}

/// The rows of x[n, 8], padded to a multiple of 7: Reshape(Pad(x), [-1, 7, 8]). The target's end is
/// joined to an empty slice of it.
onnx::ModelProto rows_in_windows() {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"n", "8"});
  *g.add_output() = value("y", {"", "", ""});
  constant(g, "zero", {0});
  constant(g, "one", {1});
  constant(g, "seven", {7});
  constant(g, "begins", {0, 0});
  constant(g, "window", {7, 8});
  constant(g, "minus", {-1});
  constant(g, "far", {INT64_MAX});
  constant(g, "first", {INT64_MIN});
  constant(g, "two", {2});
  add_node(g, "Shape", {"x"}, {"s"});
  add_node(g, "Slice", {"s", "first", "minus"}, {"n"});
  add_node(g, "Mod", {"n", "seven"}, {"over"});
  add_node(g, "Sub", {"seven", "over"}, {"left"});
  add_node(g, "Mod", {"left", "seven"}, {"more"});
  set_int(add_node(g, "Concat", {"begins", "more", "zero"}, {"pads"}), "axis", 0);
  add_node(g, "Pad", {"x", "pads"}, {"p"});
  add_node(g, "Slice", {"s", "two", "far", "zero", "one"}, {"none"});
  set_int(add_node(g, "Concat", {"minus", "window", "none"}, {"target"}), "axis", 0);
  add_node(g, "Reshape", {"p", "target"}, {"y"});
  return m;
}

TEST(Shapes, RoundingUpToAMultipleIsKnown) {
  auto m = import(rows_in_windows());
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(shape_of(*m), "float32[floor(n+6/7),7,8]");
  EXPECT_EQ(m->graph.node(m->graph.outputs()[0].node).kind, NodeKind::Call);
}

TEST(Shapes, AWindowNeedsItsRows) {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"1", "3", "n", "8"});
  *g.add_output() = value("y", {"", "", "", ""});
  *g.add_initializer() = floats("w", {2, 3, 5, 1}, std::vector<float>(30, 1));
  constant(g, "start", {3});
  constant(g, "axis", {2});
  constant(g, "far", {INT64_MAX});
  add_node(g, "Conv", {"x", "w"}, {"c"});
  add_node(g, "Slice", {"x", "start", "far", "axis"}, {"y"});  // of at least 5 rows
  *g.add_output() = value("c", {"", "", "", ""});
  auto imported = import(m);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(shape_of(*imported), "float32[1,3,n-3,8]");
  Var n = imported->graph.pool().named("n");
  EXPECT_EQ(n->min, 5);
  EXPECT_FALSE(n->may_be_zero);
}

TEST(Shapes, WhatASliceLeavesMayBeEmpty) {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"n", "8"});
  *g.add_output() = value("y", {"", ""});
  constant(g, "start", {0});
  constant(g, "end", {-3});
  add_node(g, "Slice", {"x", "start", "end"}, {"y"});
  auto imported = import(m);
  ASSERT_TRUE(imported) << imported.error().message;
  Var n = imported->graph.pool().named("n");
  EXPECT_EQ(n->min, 1);
  EXPECT_TRUE(n->may_be_zero);
}

/// h = RNN of x[4,b,3] with an initial state: `value` in the shape [1, b, 2].
onnx::ModelProto recurrent(float initial) {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"4", "b", "3"});
  *g.add_input() = value("w", {"1", "2", "3"});
  *g.add_input() = value("r", {"1", "2", "2"});
  *g.add_output() = value("h", {"", "", "", ""});
  constant(g, "one", {1});
  constant(g, "two", {2});
  add_node(g, "Shape", {"x"}, {"s"});
  set_int(add_node(g, "Gather", {"s", "one"}, {"b"}), "axis", 0);
  set_int(add_node(g, "Concat", {"one", "b", "two"}, {"shape"}), "axis", 0);
  auto& a = *add_node(g, "ConstantOfShape", {"shape"}, {"state"}).add_attribute();
  a.set_name("value");
  a.set_type(onnx::AttributeProto::TENSOR);
  a.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  a.mutable_t()->add_dims(1);
  a.mutable_t()->add_float_data(initial);
  set_int(add_node(g, "RNN", {"x", "w", "r", "", "", "state"}, {"h"}), "hidden_size", 2);
  return m;
}

TEST(Shapes, ScalesThatAreJoinedAreKnown) {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"batch", "8", "4", "4"});
  *g.add_output() = value("y", {"", "", "", ""});
  *g.add_initializer() = floats("ones", {2}, {1, 1});
  *g.add_initializer() = floats("twos", {2}, {2, 2});
  set_int(add_node(g, "Concat", {"ones", "twos"}, {"scales"}), "axis", 0);
  auto& resize = add_node(g, "Resize", {"x", "", "scales"}, {"y"});
  set_text(resize, "coordinate_transformation_mode", "asymmetric");
  set_text(resize, "nearest_mode", "floor");
  auto found = import(m);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(shape_of(*found), "float32[batch,8,8,8]");
  EXPECT_EQ(found->graph.node(found->graph.outputs()[0].node).kind, NodeKind::Call);
}

TEST(Shapes, AStateOfZerosIsNone) {
  auto zeros = import(recurrent(0)), ones = import(recurrent(1));
  ASSERT_TRUE(zeros && ones);
  EXPECT_EQ(count(written(*zeros), "ConstantOfShape"), 0);
  EXPECT_EQ(count(written(*ones), "ConstantOfShape"), 1);
}

TEST(Shapes, WhatNobodyCanKnowStaysComputed) {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"batch", "3"});
  *g.add_output() = value("y", {"", ""});
  add_node(g, "NonZero", {"x"}, {"places"});
  add_node(g, "Shape", {"places"}, {"target"});
  add_node(g, "Expand", {"x", "target"}, {"y"});
  auto imported = import(m);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(count(written(*imported), "Shape"), 1);
  EXPECT_EQ(count(written(*imported), "NonZero"), 1);
}

}  // namespace
}  // namespace regraft::io::test
