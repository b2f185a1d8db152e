// What becomes a call, what stays foreign, and what the graph knows of it.
#include "tests/io/models.h"

namespace regraft::io::test {
namespace {

NodeKind kind(const Imported& m, const std::string& name) {
  return m.graph.node(find(m.graph, name)).kind;
}

TEST(Import, UnderstandsKnownOperators) {
  auto m = import(dense());
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(kind(*m, "h"), NodeKind::Call);
  EXPECT_EQ(kind(*m, "y"), NodeKind::Call);
  EXPECT_EQ(kind(*m, "w"), NodeKind::Constant);
  EXPECT_EQ(to_string(m->graph.type(m->graph.outputs()[0])), "float32[N,3]");
  EXPECT_TRUE(validate(m->graph));
}

TEST(Import, OpsetsOutsideTheRangeStayForeign) {
  for (int opset : {1, 6, 27}) {
    auto m = import(dense(opset));
    ASSERT_TRUE(m) << m.error().message;
    EXPECT_EQ(kind(*m, "h"), NodeKind::Opaque) << opset;
  }
  for (int opset : {7, 13, 26})
    EXPECT_EQ(kind(*import(dense(opset)), "h"), NodeKind::Call) << opset;
}

TEST(Import, LocalFunctionHidesTheOperatorOfItsName) {
  auto proto = dense();
  auto& f = *proto.add_functions();
  f.set_name("Relu");
  f.set_domain("");
  EXPECT_EQ(kind(*import(proto), "y"), NodeKind::Opaque);
  EXPECT_EQ(kind(*import(proto), "h"), NodeKind::Call);
}

TEST(Import, ForeignDomainStaysForeign) {
  auto proto = dense();
  proto.mutable_graph()->mutable_node(2)->set_domain("com.example");
  auto m = import(proto);
  EXPECT_EQ(kind(*m, "y"), NodeKind::Opaque);
  EXPECT_FALSE(m->graph.node(find(m->graph, "y")).pure);
}

TEST(Import, DefaultOfAnInputIsNoConstant) {
  auto proto = dense(17, 8);
  *proto.mutable_graph()->add_input() = value("w", {"4", "3"});
  EXPECT_EQ(kind(*import(proto), "w"), NodeKind::Input);
  proto.set_ir_version(3);
  auto old = import(proto);
  EXPECT_EQ(kind(*old, "w"), NodeKind::Constant);
  EXPECT_EQ(old->graph.inputs().size(), 1U);
}

TEST(Import, UsedOptionalOutputKeepsTheNodeForeign) {
  auto proto = empty_model();
  auto& g = *proto.mutable_graph();
  *g.add_input() = value("x", {"1", "2", "6", "6"});
  *g.add_output() = value("y", {"1", "2", "3", "3"});
  auto& pool = add_node(g, "MaxPool", {"x"}, {"y", "indices"});
  add_ints(pool, "kernel_shape", {2, 2});
  add_ints(pool, "strides", {2, 2});
  EXPECT_EQ(kind(*import(proto), "y"), NodeKind::Call);
  *g.add_output() = value("indices", {"1", "2", "3", "3"}, onnx::TensorProto::INT64);
  EXPECT_EQ(kind(*import(proto), "y"), NodeKind::Opaque);
}

TEST(Import, DimensionTextIsOneName) {
  auto proto = empty_model();
  auto& g = *proto.mutable_graph();
  *g.add_input() = value("x", {"2*N", "floor(h/2)", "", "4"});
  *g.add_input() = value("z", {"2*N", "floor(h/2)", "", "4"});
  *g.add_output() = value("y", {});
  add_node(g, "Relu", {"x"}, {"y"});
  auto m = import(proto);
  ASSERT_TRUE(m) << m.error().message;
  const Shape& x = m->graph.shape(m->graph.inputs()[0]);
  const Shape& z = m->graph.shape(m->graph.inputs()[1]);
  EXPECT_EQ(to_string(x[0]), "2*N");
  EXPECT_TRUE(same(x[0], z[0]));
  EXPECT_TRUE(same(x[1], z[1]));
  EXPECT_FALSE(same(x[2], z[2]));
  EXPECT_TRUE(same(x[3], Poly(4)));
}

TEST(Import, BodiesReadOuterValues) {
  auto m = import(with_bodies());
  ASSERT_TRUE(m) << m.error().message;
  const Node& branch = m->graph.node(find(m->graph, "z"));
  EXPECT_EQ(branch.kind, NodeKind::Opaque);
  EXPECT_FALSE(branch.pure);
  ASSERT_EQ(branch.inputs.size(), 2U);
  EXPECT_EQ(branch.inputs[1].node, find(m->graph, "h"));
}

TEST(Import, ForeignNodesHaveTypes) {
  auto proto = empty_model();
  auto& g = *proto.mutable_graph();
  *g.add_input() = value("x", {"N", "6"});
  *g.add_input() = value("i", {"5"}, onnx::TensorProto::INT64);
  *g.add_initializer() = ints("axes", {0});
  *g.add_output() = value("y", {});
  add_node(g, "LeakyRelu", {"x"}, {"a"});
  add_node(g, "Gather", {"a", "i"}, {"b"});
  add_node(g, "Unsqueeze", {"i", "axes"}, {"c"});
  add_node(g, "Greater", {"a", "b"}, {"d"});
  add_node(g, "ArgMax", {"x"}, {"e"});
  add_node(g, "Shape", {"x"}, {"f"});
  add_node(g, "Mystery", {"x"}, {"known"});
  *g.add_value_info() = value("known", {"N", "9"});
  add_node(g, "Enigma", {"x"}, {"y"});
  auto m = import(proto);
  ASSERT_TRUE(m) << m.error().message;
  auto type = [&](const std::string& name) {
    return to_string(m->graph.type({find(m->graph, name), 0}));
  };
  EXPECT_EQ(type("a"), "float32[N,6]");
  EXPECT_EQ(type("b"), "float32[5,6]");
  EXPECT_EQ(type("c"), "int64[1,5]");
  EXPECT_EQ(m->graph.type({find(m->graph, "d"), 0}).dtype, DType::Bool);
  EXPECT_EQ(type("e"), "int64[1,6]");
  EXPECT_EQ(type("f"), "int64[2]");
  EXPECT_EQ(type("known"), "float32[d,d]");  // as open as the input is
}

TEST(Import, RecurrentNodesHaveTheSizesOfTheirWeights) {
  for (const char* type : {"LSTM", "GRU", "RNN"}) {
    auto proto = empty_model();
    auto& g = *proto.mutable_graph();
    *g.add_input() = value("x", {"S", "N", "4"});
    *g.add_input() = value("w", {"2", "20", "4"});
    *g.add_input() = value("r", {"2", "20", "5"});
    *g.add_output() = value("y", {});
    add_node(g, type, {"x", "w", "r"}, {"all"});
    add_node(g, "Enigma", {"all"}, {"y"});
    auto m = import(proto);
    ASSERT_TRUE(m) << m.error().message;
    EXPECT_EQ(to_string(m->graph.type({find(m->graph, "all"), 0})), "float32[S,2,N,5]") << type;
  }
}

TEST(Import, StatedSizesAreBelievedWhereInputsAreFixed) {
  for (const char* rows : {"N", "3"}) {
    auto proto = empty_model();
    auto& g = *proto.mutable_graph();
    *g.add_input() = value("x", {rows, "6"});
    *g.add_output() = value("y", {});
    *g.add_value_info() = value("known", {"3", "9"});
    add_node(g, "Mystery", {"x"}, {"known"});
    add_node(g, "Enigma", {"known"}, {"y"});
    auto m = import(proto);
    ASSERT_TRUE(m) << m.error().message;
    const bool fixed = std::string(rows) == "3";
    EXPECT_EQ(to_string(m->graph.type({find(m->graph, "known"), 0})),
              fixed ? "float32[3,9]" : "float32[d,d]");
  }
}

TEST(Import, EqualForeignNodesAreOneNode) {
  auto proto = empty_model();
  auto& g = *proto.mutable_graph();
  *g.add_input() = value("x", {"2"});
  *g.add_output() = value("a", {"2"});
  *g.add_output() = value("b", {"2"});
  *g.add_output() = value("c", {"2"});
  *g.add_output() = value("r", {"2"});
  auto threshold = [&](onnx::NodeProto& node, float v) {
    auto& a = *node.add_attribute();
    a.set_name("lambd");
    a.set_type(onnx::AttributeProto::FLOAT);
    a.set_f(v);
  };
  threshold(add_node(g, "Shrink", {"x"}, {"a"}), 0.5F);
  threshold(add_node(g, "Shrink", {"x"}, {"b"}), 0.5F);
  threshold(add_node(g, "Shrink", {"x"}, {"c"}), 0.25F);
  add_node(g, "RandomNormalLike", {"x"}, {"r"});
  auto m = import(proto);
  auto made = [&](size_t k) { return m->graph.outputs()[k]; };
  auto node = [&](size_t k) { return m->graph.node(made(k).node); };
  EXPECT_TRUE(node(0).pure);
  EXPECT_EQ(made(0), made(1));
  EXPECT_NE(node(0).content, node(2).content);
  EXPECT_FALSE(node(3).pure);
}

TEST(Import, EqualCallsAreOneNodeAndOutputsKeepTheirNames) {
  auto proto = empty_model();
  auto& g = *proto.mutable_graph();
  *g.add_input() = value("x", {"2"});
  *g.add_output() = value("a", {"2"});
  *g.add_output() = value("b", {"2"});
  add_node(g, "Relu", {"x"}, {"a"});
  add_node(g, "Relu", {"x"}, {"b"});
  auto m = import(proto);
  EXPECT_EQ(m->graph.outputs()[0], m->graph.outputs()[1]);
  auto bytes = serialise(*m, m->graph);
  ASSERT_TRUE(bytes) << bytes.error().message;
  onnx::ModelProto out;
  ASSERT_TRUE(out.ParseFromString(*bytes));
  ASSERT_EQ(out.graph().node_size(), 2);
  EXPECT_EQ(out.graph().node(1).op_type(), "Identity");
}

TEST(Import, ConstantsOfEveryKind) {
  auto proto = empty_model();
  auto& g = *proto.mutable_graph();
  *g.add_input() = value("x", {"2"});
  *g.add_output() = value("y", {"2"});
  add_node(g, "Relu", {"x"}, {"y"});
  auto& listed = add_node(g, "Constant", {}, {"listed"});
  add_ints(listed, "value_ints", {4, 5});
  *g.add_initializer() = ints("dims", {2, 3});
  add_node(g, "ConstantOfShape", {"dims"}, {"zeros"});
  auto* half = g.add_initializer();
  half->set_name("half");
  half->set_data_type(onnx::TensorProto::FLOAT16);
  half->add_dims(1);
  half->add_int32_data(0x3c00);
  auto* text = g.add_initializer();
  text->set_name("text");
  text->set_data_type(onnx::TensorProto::STRING);
  text->add_dims(1);
  text->add_string_data("word");
  auto* tiny = g.add_initializer();
  tiny->set_name("int4");
  tiny->set_data_type(22);
  tiny->add_dims(3);
  tiny->set_raw_data("ab");
  auto m = import(proto);
  ASSERT_TRUE(m) << m.error().message;
  auto data = [&](const std::string& name) { return m->graph.node(find(m->graph, name)).constant; };
  EXPECT_EQ(*data("listed")->integers(), (std::vector<int64_t>{4, 5}));
  EXPECT_EQ(*data("zeros")->reals(), std::vector<double>(6, 0.0));
  EXPECT_EQ(*data("half")->reals(), std::vector<double>{1.0});
  for (const char* unread : {"text", "int4"}) {  // content to compare, no numbers
    ASSERT_NE(data(unread), nullptr) << unread;
    EXPECT_FALSE(data(unread)->integers()) << unread;
    EXPECT_FALSE(data(unread)->reals()) << unread;
  }
}

}  // namespace
}  // namespace regraft::io::test
