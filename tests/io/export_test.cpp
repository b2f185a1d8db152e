// What is written: untouched nodes as they came in, names that must survive, and new nodes.
#include "tests/io/models.h"

#include <set>

namespace regraft::io::test {
namespace {

const onnx::NodeProto* node_making(const onnx::ModelProto& m, const std::string& name) {
  for (const auto& node : m.graph().node()) {
    for (const auto& output : node.output()) {
      if (output == name) return &node;
    }
  }
  return nullptr;
}

bool has_initialiser(const onnx::ModelProto& m, const std::string& name) {
  for (const auto& t : m.graph().initializer()) {
    if (t.name() == name) return true;
  }
  return false;
}

void expect_identical(const onnx::ModelProto& proto) {
  auto m = import(proto);
  ASSERT_TRUE(m) << m.error().message;
  auto bytes = serialise(*m, m->graph);
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(*bytes, proto.SerializeAsString());
}

TEST(Export, UntouchedModelIsIdentical) {
  auto proto = dense();
  proto.set_producer_name("somebody");
  proto.set_doc_string("a model");
  auto* entry = proto.add_metadata_props();
  entry->set_key("k");
  entry->set_value("v");
  auto& g = *proto.mutable_graph();
  g.mutable_node(1)->set_doc_string("adds");
  add_ints(*g.mutable_node(2), "unknown_attribute", {});
  *g.add_value_info() = value("s", {"N", "3"});
  auto* note = g.add_quantization_annotation();
  note->set_tensor_name("s");
  add_node(g, "Dangling", {"x", "", "h"}, {"nobody"}).set_domain("com.example");
  *g.add_initializer() = floats("unused", {2}, {1, 2});
  expect_identical(proto);
}

TEST(Export, OutputsLeftOutStaySo) {
  auto proto = dense();
  auto& g = *proto.mutable_graph();
  add_node(g, "Foreign", {"x"}, {"p", "", "q", ""}).set_domain("com.example");
  add_node(g, "Foreign", {"p", "q"}, {"r"}).set_domain("com.example");
  *g.add_output() = value("r", {"N"});
  expect_identical(proto);
}

TEST(Export, EmptyTensorsCountAsNothing) {
  auto proto = dense();
  *proto.mutable_graph()->add_initializer() = floats("none", {int64_t{1} << 62, 8, 0}, {});
  auto m = import(proto);
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(summarise(*m, m->graph).parameters, 4 * 3 + 3);
}

TEST(Export, FieldsOfNewerSchemasSurvive) {
  auto proto = dense();
  auto* node = proto.mutable_graph()->mutable_node(0);
  node->GetReflection()->MutableUnknownFields(node)->AddLengthDelimited(9, "newer");
  proto.GetReflection()->MutableUnknownFields(&proto)->AddVarint(99, 7);
  expect_identical(proto);
}

TEST(Export, BodiesAndOldModelsAreIdentical) {
  expect_identical(with_bodies());
  auto old = dense(9, 3);
  *old.mutable_graph()->add_input() = value("w", {"4", "3"});
  *old.mutable_graph()->add_input() = value("b", {"3"});
  expect_identical(old);
}

TEST(Export, UnsortedNodesAreSorted) {
  auto proto = dense();
  proto.mutable_graph()->mutable_node()->SwapElements(0, 2);
  auto m = import(proto);
  ASSERT_TRUE(m) << m.error().message;
  auto out = written(*m, m->graph);
  EXPECT_EQ(out.graph().node(0).op_type(), "MatMul");
  EXPECT_EQ(out.graph().node(2).op_type(), "Relu");
}

TEST(Export, OutputKeepsItsNameWhenAnotherValueComputesIt) {
  auto m = import(relu_twice());
  Graph g = m->graph;
  replace_uses(g, {find(g, "y"), 0}, {find(g, "h"), 0});
  auto out = written(*m, g);
  ASSERT_EQ(out.graph().node_size(), 1);
  EXPECT_EQ(out.graph().node(0).output(0), "y");
  EXPECT_EQ(out.graph().node(0).name(), "Relu_h");
}

TEST(Export, OutputThatIsAnInputGetsAnIdentity) {
  auto m = import(relu_twice());
  Graph g = m->graph;
  g.set_outputs({g.inputs()[0]});
  auto out = written(*m, g);
  ASSERT_EQ(out.graph().node_size(), 1);
  EXPECT_EQ(out.graph().node(0).op_type(), "Identity");
  EXPECT_EQ(out.graph().node(0).input(0), "x");
  EXPECT_EQ(out.graph().node(0).output(0), "y");
}

TEST(Export, TwoOutputsOfOneValue) {
  auto proto = relu_twice();
  *proto.mutable_graph()->add_output() = value("h", {"2", "3"});
  auto m = import(proto);
  Graph g = m->graph;
  replace_uses(g, {find(g, "y"), 0}, {find(g, "h"), 0});
  auto out = written(*m, g);
  ASSERT_EQ(out.graph().node_size(), 2);
  EXPECT_EQ(node_making(out, "h")->op_type(), "Relu");
  EXPECT_EQ(node_making(out, "y")->op_type(), "Identity");
}

TEST(Export, NamesThatBodiesReadSurvive) {
  auto m = import(with_bodies());
  Graph g = m->graph;
  replace_uses(g, {find(g, "h"), 0}, {find(g, "h0"), 0});
  auto out = written(*m, g);
  ASSERT_EQ(out.graph().node_size(), 2);
  EXPECT_EQ(out.graph().node(0).output(0), "h");
  replace_uses(g, {find(g, "h0"), 0}, g.inputs()[0]);
  auto shorter = written(*m, g);
  ASSERT_NE(node_making(shorter, "h"), nullptr);
  EXPECT_EQ(node_making(shorter, "h")->op_type(), "Identity");
  EXPECT_TRUE(parse(shorter.SerializeAsString(), "again"));
}

/// Replaces the call that makes `name` by another on the same operands, and keeps its name.
Graph with_call(const Graph& original, const std::string& name, const char* op,
                std::vector<Value> operands, Attrs<Poly> attrs = {}) {
  Graph g = original;
  int32_t old = find(g, name);
  auto id = g.add_call(*find_op(op), std::move(operands), std::move(attrs));
  EXPECT_TRUE(id) << id.error().message;
  Node call = g.node(*id);
  call.names = {name};
  g.replace_node(*id, std::move(call));
  replace_uses(g, {old, 0}, {*id, 0});
  remove_dead(g);
  return g;
}

TEST(Export, NewCallTakesTheNameOfWhatItReplaces) {
  auto proto = dense();
  *proto.mutable_graph()->add_value_info() = value("h", {"N", "3"});
  *proto.mutable_graph()->add_value_info() = value("s", {"N", "3"});
  auto m = import(proto);
  Graph g = with_call(m->graph, "s", "sub", {{find(m->graph, "h"), 0}, {find(m->graph, "b"), 0}});
  auto out = written(*m, g);
  ASSERT_EQ(out.graph().node_size(), 3);
  EXPECT_EQ(node_making(out, "s")->op_type(), "Sub");
  EXPECT_EQ(node_making(out, "s")->name().rfind("regraft_sub_", 0), 0U);
  EXPECT_EQ(out.graph().value_info_size(), 2);
}

TEST(Export, WhatIsGoneLeavesNothing) {
  auto proto = dense();
  *proto.mutable_graph()->add_value_info() = value("h", {"N", "3"});
  auto m = import(proto);
  Graph g = m->graph;
  auto one = g.add_constant(Constant::of_floats({1, 3}, {1, 2, 3}));
  replace_uses(g, {find(g, "h"), 0}, one);
  remove_dead(g);
  auto out = written(*m, g);
  EXPECT_EQ(out.graph().value_info_size(), 0);
  EXPECT_FALSE(has_initialiser(out, "w"));
  EXPECT_EQ(out.graph().initializer_size(), 2);
  EXPECT_EQ(out.graph().node(0).input(0), out.graph().initializer(1).name());
  EXPECT_TRUE(parse(out.SerializeAsString(), "again"));
}

TEST(Export, OldModelsGetConstantNodesAndLoseDeclarations) {
  auto proto = dense(9, 3);
  *proto.mutable_graph()->add_input() = value("w", {"4", "3"});
  *proto.mutable_graph()->add_input() = value("b", {"3"});
  auto m = import(proto);
  Graph g = m->graph;
  replace_uses(g, {find(g, "h"), 0}, g.add_constant(Constant::of_floats({1, 3}, {1, 2, 3})));
  auto out = written(*m, g);
  EXPECT_EQ(out.graph().initializer_size(), 1);
  EXPECT_EQ(out.graph().input_size(), 2);
  EXPECT_EQ(out.graph().node(0).op_type(), "Constant");
  EXPECT_TRUE(parse(out.SerializeAsString(), "again"));
}

TEST(Export, ConstantsOfNewCallsTakeTheElementType) {
  auto proto = empty_model();
  auto& g = *proto.mutable_graph();
  *g.add_input() = value("x", {"4"}, onnx::TensorProto::FLOAT16);
  *g.add_output() = value("y", {"4"}, onnx::TensorProto::FLOAT16);
  add_node(g, "Relu", {"x"}, {"y"});
  auto m = import(proto);
  Attrs<Poly> bounds{{}, {Real{0.5}, Real{2}}};
  auto out = written(*m, with_call(m->graph, "y", "clip", {m->graph.inputs()[0]}, bounds));
  EXPECT_EQ(out.graph().node(0).op_type(), "Clip");
  ASSERT_EQ(out.graph().initializer_size(), 2);
  for (const auto& t : out.graph().initializer()) {
    EXPECT_EQ(t.data_type(), onnx::TensorProto::FLOAT16);
    EXPECT_EQ(t.raw_data().size(), 2U);
  }
}

TEST(Export, ConstantsThatUntouchedNodesReadStay) {
  auto proto = empty_model();
  auto& g = *proto.mutable_graph();
  *g.add_input() = value("x", {"2", "6"});
  *g.add_output() = value("y", {"3", "4"});
  *g.add_initializer() = ints("dims", {3, 4});
  add_node(g, "Relu", {"x"}, {"a"});
  add_node(g, "Relu", {"a"}, {"h"});
  add_node(g, "Reshape", {"h", "dims"}, {"y"});
  auto m = import(proto);
  ASSERT_EQ(m->graph.node(find(m->graph, "y")).kind, NodeKind::Call);
  Graph optimised = m->graph;
  replace_uses(optimised, {find(optimised, "h"), 0}, {find(optimised, "a"), 0});
  remove_dead(optimised);
  auto out = written(*m, optimised);
  ASSERT_EQ(out.graph().node_size(), 2);
  EXPECT_EQ(out.graph().node(1).input(0), "a");
  EXPECT_EQ(out.graph().node(1).input(1), "dims");
  EXPECT_TRUE(has_initialiser(out, "dims"));
}

TEST(Export, MergedEqualConstantsAreWrittenOnce) {
  auto proto = dense();
  auto& g = *proto.mutable_graph();
  *g.add_initializer() = floats("b2", {3}, {1, 2, 3});
  add_node(g, "Add", {"y", "b2"}, {"y2"});
  *g.add_output() = value("y2", {"N", "3"});
  auto m = import(proto);
  auto out = written(*m, canonical(m->graph));
  EXPECT_EQ(out.graph().initializer_size(), 2);
  EXPECT_TRUE(parse(out.SerializeAsString(), "again"));
}

TEST(Export, OperatorNewerThanTheModelIsAnError) {
  auto proto = empty_model(13);
  auto& g = *proto.mutable_graph();
  *g.add_input() = value("x", {"2", "4"});
  *g.add_output() = value("y", {"2", "4"});
  *g.add_initializer() = floats("s", {4}, {1, 1, 1, 1});
  *g.add_initializer() = floats("b", {4}, {1, 1, 1, 1});
  add_node(g, "Sum", {"x", "s", "b"}, {"y"});
  auto m = import(proto);
  Graph start = m->graph;
  std::vector<Value> operands{start.inputs()[0], {find(start, "s"), 0}, {find(start, "b"), 0}};
  const OpDef& op = *find_op("layernorm");
  Attrs<Poly> attrs = default_attrs(op, 2);
  auto bytes = serialise(*m, with_call(start, "y", "layernorm", operands, attrs));
  ASSERT_FALSE(bytes);
  EXPECT_NE(bytes.error().message.find("layernorm"), std::string::npos) << bytes.error().message;
}

/// Axes are written from the front.
Attrs<Poly> as_written(const OpDef& op, Attrs<Poly> at, size_t rank) {
  for (size_t k = 0; k < op.ints.size(); ++k)
    for (Poly& p : at.ints[k])
      if (op.ints[k].kind == IntKind::Axis && p.constant() < 0)
        p = p + Poly(static_cast<int64_t>(rank));
  return at;
}

TEST(Export, EveryOperatorComesBackAsItself) {
  int written_ops = 0;
  for (const OpDef* op : all_ops()) {
    for (const Sample& sample : op->samples()) {
      auto proto = empty_model(18);
      auto& g = *proto.mutable_graph();
      Strings names;
      for (const auto& shape : sample.shapes) {
        Strings dims;
        for (int64_t d : shape) dims.push_back(std::to_string(d));
        names.push_back("x" + std::to_string(names.size()));
        *g.add_input() = value(names.back(), dims);
      }
      if (names.empty()) continue;
      add_node(g, "Mystery", names, {"y"});
      *g.add_output() = value("y", {});
      auto m = import(proto);
      Graph start = m->graph;
      auto id = start.add_call(*op, start.inputs(), symbolic(sample.attrs));
      ASSERT_TRUE(id) << op->name << ": " << id.error().message;
      start.set_outputs({{*id, 0}});
      auto bytes = serialise(*m, start);
      if (!bytes) continue;  // a maker of constants
      ++written_ops;
      auto again = parse(*bytes, std::string(op->name));
      ASSERT_TRUE(again) << again.error().message;
      const Node& call = again->graph.node(again->graph.outputs()[0].node);
      if (call.kind == NodeKind::Input) continue;  // a cast to the type that it has
      ASSERT_EQ(call.kind, NodeKind::Call) << op->name;
      EXPECT_EQ(again->graph.type(again->graph.outputs()[0]).dtype, start.node(*id).types[0].dtype);
      EXPECT_EQ(to_string(call.types[0]), to_string(start.node(*id).types[0])) << op->name;
      if (call.op != op) continue;
      EXPECT_TRUE(
          same(call.attrs, as_written(*op, symbolic(sample.attrs), sample.shapes[0].size())))
          << op->name;
    }
  }
  EXPECT_GT(written_ops, 20);
}

TEST(Export, SummaryCountsWhatIsWritten) {
  auto m = import(dense());
  Summary s = summarise(*m, m->graph);
  EXPECT_EQ(s.operators, (std::map<std::string, int>{{"MatMul", 1}, {"Add", 1}, {"Relu", 1}}));
  EXPECT_EQ(s.parameters, 15);
  EXPECT_EQ(s.opset, 17);
  EXPECT_EQ(s.bytes, static_cast<int64_t>(dense().SerializeAsString().size()));
}

}  // namespace
}  // namespace regraft::io::test
