// What models are called by: everything that they compute counts, wherever it lies.
#include "tests/io/models.h"

#include <fstream>

#include "io/defaults.h"
#include "io/tensors.h"
#include "ir/graph/content.h"

namespace regraft::io::test {
namespace {

Imported imported(const onnx::ModelProto& proto) {
  auto m = import(proto);
  EXPECT_TRUE(m) << (m ? "" : m.error().message);
  return *std::move(m);
}

std::string digest(const onnx::ModelProto& proto) {
  auto d = digest_of(imported(proto));
  EXPECT_TRUE(d) << (d ? "" : d.error().message);
  return hex(*d);
}

/// The digests of a model and of what `change` makes of it.
template <class Change>
bool told_apart(onnx::ModelProto proto, Change&& change) {
  std::string before = digest(proto);
  EXPECT_EQ(digest(proto), before);
  change(proto);
  return digest(proto) != before;
}

onnx::AttributeProto& branch_of(onnx::ModelProto& m) {
  return *m.mutable_graph()->mutable_node(2)->mutable_attribute(0);
}

TEST(Content, NamesDoNotCount) {
  EXPECT_FALSE(told_apart(dense(), [](auto& m) {
    auto& g = *m.mutable_graph();
    for (auto& node : *g.mutable_node()) node.set_name("other");
    m.set_doc_string("text");
    g.mutable_initializer(1)->set_name("bias");
    g.mutable_node(1)->set_input(1, "bias");
  }));
}

TEST(Content, PartsOfTensorsAreCarried) {
  auto proto = dense();
  auto& g = *proto.mutable_graph();
  auto& part = *g.add_initializer() = floats("part", {1 << 30}, {1, 2});
  part.mutable_segment()->set_end(2);
  add_node(g, "Foreign", {"part"}, {"r"}).set_domain("com.example");
  *g.add_output() = value("r", {"N"});
  auto tensor = [](onnx::ModelProto& m) { return m.mutable_graph()->mutable_initializer(2); };
  EXPECT_TRUE(told_apart(proto, [&](auto& m) { tensor(m)->mutable_segment()->set_end(3); }));
  EXPECT_TRUE(told_apart(proto, [&](auto& m) { tensor(m)->set_data_type(7); }));
  EXPECT_TRUE(told_apart(proto, [&](auto& m) { tensor(m)->mutable_raw_data()->back() = 1; }));
  auto data = imported(proto).graph.node(find(imported(proto).graph, "part")).constant->bytes();
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_LT(data->capacity(), 100u);
}

TEST(Content, InputsConstantsAndOperatorsCount) {
  EXPECT_TRUE(told_apart(dense(), [](auto& m) {
    *m.mutable_graph()->mutable_initializer(1) = floats("b", {3}, {1, 2, 4});
  }));
  EXPECT_TRUE(told_apart(
      dense(), [](auto& m) { m.mutable_graph()->mutable_node(2)->set_op_type("Sigmoid"); }));
  EXPECT_TRUE(told_apart(dense(), [](auto& m) {
    m.mutable_graph()->mutable_input(0)->set_name("z");
    m.mutable_graph()->mutable_node(0)->set_input(0, "z");
  }));
  EXPECT_TRUE(told_apart(dense(), [](auto& m) {
    *m.mutable_graph()->mutable_input(0) = value("x", {"7", "4"});
  }));
}

TEST(Content, DefaultsOfInputsCount) {
  auto proto = dense(17, 8);
  *proto.mutable_graph()->add_input() = value("b", {"3"});
  EXPECT_TRUE(told_apart(proto, [](auto& m) {
    *m.mutable_graph()->mutable_initializer(1) = floats("b", {3}, {1, 2, 4});
  }));
}

TEST(Content, ADefaultThatDiffersIsNamed) {
  auto proto = dense(17, 8);
  Imported none = imported(proto);
  *proto.mutable_graph()->add_input() = value("b", {"3"});
  Imported a = imported(proto);
  EXPECT_EQ(differing_default(a, imported(proto)), "");
  *proto.mutable_graph()->mutable_initializer(1) = floats("b", {3}, {1, 2, 4});
  EXPECT_EQ(differing_default(a, imported(proto)), "b");
  EXPECT_EQ(differing_default(a, none), "b");
  EXPECT_EQ(differing_default(none, a), "b");
}

TEST(Content, BodiesCount) {
  EXPECT_TRUE(told_apart(with_bodies(), [](auto& m) {
    branch_of(m).mutable_g()->mutable_node(0)->set_op_type("Exp");
  }));
  auto with_weight = with_bodies();
  auto& body = *branch_of(with_weight).mutable_g();
  *body.add_initializer() = floats("v", {2}, {1, 2});
  body.mutable_node(0)->set_op_type("Add");
  body.mutable_node(0)->add_input("v");
  EXPECT_TRUE(told_apart(with_weight, [](auto& m) {
    *branch_of(m).mutable_g()->mutable_initializer(0) = floats("v", {2}, {1, 3});
  }));
  EXPECT_FALSE(told_apart(with_weight, [](auto& m) {  // the same numbers, written otherwise
    auto& t = *branch_of(m).mutable_g()->mutable_initializer(0);
    t.clear_raw_data();
    t.add_float_data(1);
    t.add_float_data(2);
  }));
}

TEST(Content, WhatBodiesReadCounts) {
  EXPECT_TRUE(told_apart(with_bodies(),
                         [](auto& m) { m.mutable_graph()->mutable_node(1)->set_op_type("Neg"); }));
}

TEST(Content, LocalFunctionsCount) {
  auto proto = dense();
  auto& f = *proto.add_functions();
  f.set_name("Relu");
  f.set_domain("");
  f.add_input("a");
  f.add_output("b");
  auto& node = *f.add_node();
  node.set_op_type("Exp");
  node.add_input("a");
  node.add_output("b");
  EXPECT_TRUE(told_apart(
      proto, [](auto& m) { m.mutable_functions(0)->mutable_node(0)->set_op_type("Tanh"); }));
}

TEST(Content, AttributesOfForeignNodesCount) {
  auto proto = dense();
  auto& node = *proto.mutable_graph()->mutable_node(2);
  node.set_domain("com.example");
  add_ints(node, "axes", {1});
  EXPECT_TRUE(told_apart(proto, [](auto& m) {
    m.mutable_graph()->mutable_node(2)->mutable_attribute(0)->set_ints(0, 2);
  }));
}

/// A foreign node of x and `data`.
onnx::ModelProto carrying(const onnx::TensorProto& data) {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"2"});
  *g.add_output() = value("y", {"2"});
  *g.add_initializer() = data;
  add_node(g, "Mystery", {"x", data.name()}, {"y"});
  return m;
}

TEST(Content, DataThatIsOnlyCarriedCounts) {
  onnx::TensorProto text;
  text.set_name("text");
  text.set_data_type(onnx::TensorProto::STRING);
  text.add_dims(2);
  text.add_string_data("ab");
  text.add_string_data("c");
  EXPECT_TRUE(told_apart(carrying(text), [](auto& m) {
    auto& t = *m.mutable_graph()->mutable_initializer(0);
    t.set_string_data(0, "a");
    t.set_string_data(1, "bc");
  }));
  onnx::TensorProto tiny;
  tiny.set_name("int4");
  tiny.set_data_type(22);
  tiny.add_dims(4);
  tiny.set_raw_data("ab");
  EXPECT_TRUE(told_apart(carrying(tiny), [](auto& m) {
    m.mutable_graph()->mutable_initializer(0)->set_raw_data("ac");
  }));
  Imported a = imported(carrying(tiny));
  tiny.set_raw_data("ac");
  Imported b = imported(carrying(tiny));
  EXPECT_TRUE(structurally_equal(a.graph, a.graph));
  EXPECT_FALSE(structurally_equal(a.graph, b.graph));
  EXPECT_NE(structural_hash(a.graph), structural_hash(b.graph));
}

TEST(Content, SparseDataCounts) {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"4"});
  *g.add_output() = value("y", {"4"});
  auto& s = *g.add_sparse_initializer();
  *s.mutable_values() = floats("s", {1}, {3});
  *s.mutable_indices() = ints("", {2});
  s.add_dims(4);
  add_node(g, "Mystery", {"x", "s"}, {"y"});
  EXPECT_TRUE(told_apart(m, [](auto& p) {
    *p.mutable_graph()->mutable_sparse_initializer(0)->mutable_values() = floats("s", {1}, {4});
  }));
  EXPECT_TRUE(told_apart(m, [](auto& p) {
    *p.mutable_graph()->mutable_sparse_initializer(0)->mutable_indices() = ints("", {1});
  }));
}

class Written : public Folder {
 protected:
  /// What saving and loading gives is what reimport says without a file.
  void expect_as_loaded(const Imported& m, const Graph& g) {
    ASSERT_TRUE(save(m, g, path("out.onnx")));
    auto loaded = load(path("out.onnx"));
    ASSERT_TRUE(loaded) << loaded.error().message;
    auto again = reimport(m, g);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(structurally_equal(loaded->graph, again->graph));
    EXPECT_EQ(hex(*digest_of(*loaded)), hex(*digest_of(*again)));
  }
};

TEST_F(Written, IsWhatReimportSays) {
  for (const auto& proto : {dense(), dense(9, 3), relu_twice(), with_bodies()}) {
    Imported m = imported(proto);
    expect_as_loaded(m, m.graph);
    expect_as_loaded(m, canonical(m.graph));
  }
}

TEST_F(Written, NewConstantsToo) {
  for (int ir_version : {3, 8}) {
    Imported m = imported(dense(9, ir_version));
    Graph g = m.graph;
    Node n = g.node(g.outputs()[0].node);
    Value zero = g.add_constant(Constant::of_floats({3}, {0, 0, 1}));
    auto sum = g.add_call(*find_op("add"), {n.inputs[0], zero}, {});
    ASSERT_TRUE(sum);
    n.inputs[0] = {*sum, 0};
    g.replace_node(g.outputs()[0].node, n);
    expect_as_loaded(m, g);
  }
}

TEST_F(Written, ExternalDataToo) {
  std::vector<float> w(4096);
  for (size_t k = 0; k < w.size(); ++k) w[k] = static_cast<float>(k);
  auto proto = dense();
  auto& t = *proto.mutable_graph()->mutable_initializer(0);
  t = floats("w", {4, 1024}, w);
  std::string bytes = t.raw_data();
  *proto.mutable_graph()->mutable_initializer(1) = floats("b", {1024}, std::vector<float>(1024));
  *proto.mutable_graph()->mutable_output(0) = value("y", {"N", "1024"});
  std::string here = digest(proto);  // all in the model
  t.clear_raw_data();
  add_external(t, "location", "w.bin");
  std::ofstream(path("w.bin"), std::ios::binary) << bytes;
  std::ofstream(path("m.onnx"), std::ios::binary) << proto.SerializeAsString();
  auto m = load(path("m.onnx"));
  ASSERT_TRUE(m) << m.error().message;
  EXPECT_EQ(hex(*digest_of(*m)), here);
  expect_as_loaded(*m, m->graph);
  bytes[5] ^= 1;  // one bit of the data, nothing in the model
  std::ofstream(path("w.bin"), std::ios::binary) << bytes;
  auto other = load(path("m.onnx"));
  ASSERT_TRUE(other);
  EXPECT_NE(hex(*digest_of(*other)), here);
}

}  // namespace
}  // namespace regraft::io::test
