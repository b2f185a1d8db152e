// Bodies as models of their own, and back.
#include "io/bodies/bodies.h"

#include "io/bodies/pairs.h"
#include "tests/io/models.h"

namespace regraft::io::test {
namespace {

onnx::GraphProto& body_of(onnx::ModelProto& m, int attribute = 0) {
  auto& nodes = *m.mutable_graph()->mutable_node();
  return *nodes[nodes.size() - 1].mutable_attribute(attribute)->mutable_g();
}

/// with_bodies() whose first branch is Add(Relu(Relu(h)), w), with w outside of it.
onnx::ModelProto adding() {
  auto m = with_bodies();
  *m.mutable_graph()->add_initializer() = floats("w", {2}, {1, 2});
  auto& body = body_of(m);
  body.clear_node();
  add_node(body, "Relu", {"h"}, {"p"});
  add_node(body, "Identity", {"p"}, {"q"});
  add_node(body, "Add", {"q", "w"}, {"then_branch_out"});
  return m;
}

TEST(Bodies, AreFoundByTheirPlaces) {
  auto m = *import(with_bodies());
  auto places = body_places(m);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(describe(m, places[1]), "else_branch of node 2 'If_z' (If)");
  EXPECT_EQ(nodes_in_bodies(m), 2);
  EXPECT_TRUE(body_places(*import(dense())).empty());
  EXPECT_FALSE(body_model(m, {0, "then_branch"}));
  EXPECT_FALSE(body_model(m, {2, "body"}));
  EXPECT_FALSE(body_model(m, {-1, "then_branch"}));
  EXPECT_FALSE(body_model(m, {3, "then_branch"}));
}

TEST(Bodies, KnowWhatTheyCapture) {
  auto m = *import(adding());
  auto body = *body_model(m, body_places(m)[0]);
  ASSERT_EQ(body.graph.inputs().size(), 1U) << "h; w is a constant";
  EXPECT_EQ(body.graph.type(body.graph.inputs()[0]).shape->size(), 1U);
  const Node& add = body.graph.node(find(body.graph, "then_branch_out"));
  EXPECT_EQ(add.kind, NodeKind::Call);
  EXPECT_EQ(body.graph.node(add.inputs[1].node).kind, NodeKind::Constant);
}

TEST(Bodies, AreWrittenWithoutWhatTheyCapture) {
  auto m = *import(adding());
  BodyPlace place = body_places(m)[0];
  auto body = *body_model(m, place);
  NewBody made{place, body, body.graph};
  EXPECT_FALSE(*is_same_body(m, made)) << "the Identity is gone";
  auto next = *with_bodies(m, {made});
  auto out = written(next, next.graph);
  const auto& g = body_of(out);
  EXPECT_EQ(g.node_size(), 2);
  EXPECT_EQ(g.input_size(), 0);
  EXPECT_EQ(g.initializer_size(), 0);
  EXPECT_EQ(g.node(1).input(1), "w");
  EXPECT_EQ(out.graph().initializer_size(), 1);
}

TEST(Bodies, ThatNothingChangedStayByteForByte) {
  auto m = *import(with_bodies());
  BodyPlace place = body_places(m)[0];
  auto body = *body_model(m, place);
  EXPECT_TRUE(*is_same_body(m, {place, body, body.graph}));
}

TEST(Bodies, NewNamesAreNewToTheWholeModel) {
  auto proto = adding();
  auto& g = *proto.mutable_graph();
  *g.mutable_node(2)->mutable_attribute(1)->mutable_g()->mutable_node(0)->mutable_output(0) =
      "regraft_2_0_identity_0";
  body_of(proto, 1).mutable_output(0)->set_name("regraft_2_0_identity_0");
  auto& body = body_of(proto);  // h itself, by way of Identity
  body.clear_node();
  add_node(body, "Identity", {"h"}, {"then_branch_out"});
  auto m = *import(proto);
  BodyPlace place = body_places(m)[0];
  auto inner = *body_model(m, place);
  auto out = *with_bodies(m, {{place, inner, inner.graph}});
  auto text = written(out, out.graph);
  EXPECT_EQ(body_of(text).node(0).name(), "regraft_2_0_identity_1");
}

TEST(Bodies, FormalInputsAreWhatTheBodyDeclares) {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"2"});
  *g.add_input() = value("n", {}, onnx::TensorProto::INT64);
  *g.add_output() = value("y", {});
  auto& loop = add_node(g, "Loop", {"n", "", "x"}, {"y"});
  auto& a = *loop.add_attribute();
  a.set_name("body");
  a.set_type(onnx::AttributeProto::GRAPH);
  auto& body = *a.mutable_g();
  *body.add_input() = value("i", {}, onnx::TensorProto::INT64);
  *body.add_input() = value("go", {}, onnx::TensorProto::BOOL);
  auto open = value("s", {});
  open.mutable_type()->mutable_tensor_type()->clear_shape();
  *body.add_input() = open;
  add_node(body, "Relu", {"s"}, {"t"});
  *body.add_output() = value("go", {}, onnx::TensorProto::BOOL);
  auto result = open;
  result.set_name("t");
  *body.add_output() = result;
  auto imported = *import(m);
  auto inner = *body_model(imported, body_places(imported)[0]);
  ASSERT_EQ(inner.graph.inputs().size(), 3U);
  EXPECT_FALSE(inner.graph.type(inner.graph.inputs()[2]).shape) << "x has [2], s may grow";
}

TEST(Bodies, ArePairedWhereNothingElseDiffers) {
  auto a = *import(adding());
  EXPECT_TRUE(differing_bodies(a, a).empty());
  auto other = adding();
  body_of(other).mutable_node(1)->set_op_type("Neg");
  auto pairs = differing_bodies(a, *import(other));
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].bodies.size(), 2U);
  for (const BodyPair& p : pairs[0].bodies)
    EXPECT_EQ(p.first.graph.inputs().size(), p.second.graph.inputs().size());
  auto more = other;
  add_ints(*more.mutable_graph()->mutable_node(2), "more", {1});
  EXPECT_TRUE(differing_bodies(a, *import(more)).empty());
}

}  // namespace
}  // namespace regraft::io::test
