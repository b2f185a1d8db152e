// One form for nodes that mean the same, and what a model takes and gives.
#include "io/opaque_form.h"

#include "io/interface.h"
#include "tests/io/models.h"

namespace regraft::io {
namespace {

onnx::NodeProto node_of(const std::string& type, const std::string& domain = "") {
  onnx::NodeProto n;
  n.set_op_type(type);
  n.set_domain(domain);
  n.add_input("x");
  n.add_output("y");
  n.add_output("z");
  return n;
}

TEST(OpaqueForm, MeaningsChangeAtTheirOpsets) {
  auto version = [](const char* type, int64_t opset, const char* domain = "") {
    return meaning_version(node_of(type, domain), opset);
  };
  EXPECT_EQ(version("TopK", 11), version("TopK", 21));
  EXPECT_EQ(version("TopK", 9), 9);
  EXPECT_NE(version("TopK", 10), version("TopK", 11));
  EXPECT_NE(version("RoiAlign", 15), version("RoiAlign", 16));
  EXPECT_EQ(version("Squeeze", 13), version("Squeeze", 17));
  EXPECT_NE(version("Squeeze", 12), version("Squeeze", 13));
  EXPECT_EQ(version("QLinearConv", 10), version("QLinearConv", 18));
  // Of what is not known every version may mean something else.
  EXPECT_NE(version("Softmax", 12), version("Softmax", 13));
  EXPECT_NE(version("NoSuchOperator", 12), version("NoSuchOperator", 13));
  EXPECT_EQ(version("TopK", 3, "com.example"), 3);
  EXPECT_EQ(version("TopK", 21, "ai.onnx"), version("TopK", 11));
}

const onnx::AttributeProto* find(const onnx::NodeProto& n, const std::string& name) {
  for (const auto& a : n.attribute())
    if (a.name() == name) return &a;
  return nullptr;
}

TEST(OpaqueForm, MissingAttributesGetTheirDefaults) {
  auto n = node_of("TopK");
  add_defaults(n, 11);
  ASSERT_TRUE(find(n, "axis"));
  EXPECT_EQ(find(n, "axis")->i(), -1);
  EXPECT_EQ(find(n, "largest")->i(), 1);
  auto before = n.SerializeAsString();
  add_defaults(n, 11);
  EXPECT_EQ(n.SerializeAsString(), before);
  auto given = node_of("TopK");
  auto& a = *given.add_attribute();
  a.set_name("largest");
  a.set_type(onnx::AttributeProto::INT);
  a.set_i(0);
  add_defaults(given, 11);
  EXPECT_EQ(find(given, "largest")->i(), 0);
  auto foreign = node_of("TopK", "com.example");
  add_defaults(foreign, 11);
  EXPECT_EQ(foreign.attribute_size(), 0);
}

TEST(OpaqueForm, DefaultsAreThoseOfTheOpset) {
  auto names = [](const char* type, int64_t opset) {
    auto n = node_of(type);
    add_defaults(n, opset);
    std::set<std::string> found;
    for (const auto& a : n.attribute()) found.insert(a.name());
    return found;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(names("AveragePool", 7), (Names{"auto_pad", "count_include_pad"}));
  EXPECT_EQ(names("AveragePool", 12), (Names{"auto_pad", "ceil_mode", "count_include_pad"}));
  EXPECT_EQ(names("Clip", 6), (Names{"max", "min"}));
  EXPECT_EQ(names("Clip", 13), Names{});
  EXPECT_EQ(names("Relu", 13), Names{});
  // One meaning since opset 6; what came later has a default that is what was.
  EXPECT_EQ(names("Cast", 13), names("Cast", 24));
  EXPECT_EQ(names("Resize", 13), names("Resize", 18));
  EXPECT_NE(names("Resize", 10), names("Resize", 13));
  auto n = node_of("MeanVarianceNormalization"), rnn = node_of("RNN"), resize = node_of("Resize");
  add_defaults(n, 13);
  EXPECT_EQ(find(n, "axes")->ints_size(), 3);
  add_defaults(rnn, 13);
  EXPECT_EQ(find(rnn, "activations")->strings(1), "Tanh");
  add_defaults(resize, 13);
  EXPECT_EQ(find(resize, "cubic_coeff_a")->f(), -0.75F);
  EXPECT_EQ(find(resize, "mode")->s(), "nearest");
}

TEST(OpaqueForm, RecurrentLayersHadTheirLayoutBefore) {
  auto old = node_of("LSTM"), recent = node_of("LSTM");
  add_defaults(old, 7);
  add_defaults(recent, 14);
  ASSERT_TRUE(find(old, "layout"));
  ASSERT_TRUE(find(recent, "layout"));
  EXPECT_EQ(find(old, "layout")->i(), find(recent, "layout")->i());
}

TEST(OpaqueForm, OutputsAreForgottenOnlyWhereTheyAreOptional) {
  auto top = node_of("TopK"), split = node_of("Split"), foreign = node_of("TopK", "com.example");
  for (auto* n : {&top, &split, &foreign}) clear_optional_outputs(*n);
  EXPECT_EQ(top.output_size(), 0);
  EXPECT_EQ(split.output_size(), 2);
  EXPECT_EQ(foreign.output_size(), 2);
}

TEST(OpaqueForm, NodesOfOneMeaningHaveOneContent) {
  auto content = [](int opset, bool says_default, bool doc) {
    auto m = test::empty_model(opset);
    auto& g = *m.mutable_graph();
    *g.add_input() = test::value("x", {"2", "4"});
    *g.add_input() = test::value("k", {"1"}, onnx::TensorProto::INT64);
    *g.add_output() = test::value("v", {"2", ""});
    auto& n = test::add_node(g, "TopK", {"x", "k"}, {"v", "i"});
    if (doc) n.set_doc_string("said");
    if (says_default) {
      auto& a = *n.add_attribute();
      a.set_name("axis");
      a.set_type(onnx::AttributeProto::INT);
      a.set_i(-1);
    }
    auto imported = test::import(m);
    EXPECT_TRUE(imported) << (imported ? "" : imported.error().message);
    return imported->graph.node(test::find(imported->graph, "v")).content;
  };
  EXPECT_EQ(content(13, false, false), content(13, true, true));
  EXPECT_EQ(content(11, false, false), content(17, true, false));
  EXPECT_NE(content(10, false, false), content(11, false, false));
}

TEST(RandomNodes, AreFoundInBodiesToo) {
  for (bool inside : {false, true}) {
    auto m = test::with_bodies();
    auto& g = *m.mutable_graph();
    if (inside) {
      auto& body = *g.mutable_node(2)->mutable_attribute(0)->mutable_g();
      body.mutable_node(0)->set_op_type("RandomNormalLike");
    } else {
      g.mutable_node(0)->set_op_type("Bernoulli");
    }
    auto imported = test::import(m);
    ASSERT_TRUE(imported) << imported.error().message;
    auto random = random_nodes(*imported);
    EXPECT_EQ(random[static_cast<size_t>(test::find(imported->graph, "z"))], inside);
    EXPECT_EQ(random[static_cast<size_t>(test::find(imported->graph, "h0"))], !inside);
    EXPECT_EQ(std::count(random.begin(), random.end(), 1), 1);
  }
}

TEST(Interface, HasTheNamesAndTypesOfTheFile) {
  auto imported = test::import(test::dense());
  ASSERT_TRUE(imported);
  Interface all = interface_of(*imported);
  ASSERT_EQ(all.inputs.size(), 1u);
  ASSERT_EQ(all.outputs.size(), 1u);
  EXPECT_EQ(all.inputs[0].name, "x");
  EXPECT_EQ(to_string(all.inputs[0].type), "float32[N,4]");
  EXPECT_EQ(all.outputs[0].name, "y");
  EXPECT_EQ(to_string(all.outputs[0].type), "float32[N,3]");
}

TEST(Interface, OutputsHaveTheirOwnNames) {
  auto m = test::relu_twice();  // both outputs are one value, and one is an input
  auto& g = *m.mutable_graph();
  test::add_node(g, "Identity", {"y"}, {"again"});
  *g.add_output() = test::value("again", {"2", "3"});
  *g.add_output() = test::value("x", {"2", "3"});
  auto imported = test::import(m);
  ASSERT_TRUE(imported) << imported.error().message;
  Interface all = interface_of(*imported);
  ASSERT_EQ(all.outputs.size(), 3u);
  EXPECT_EQ(all.outputs[0].name, "y");
  EXPECT_EQ(all.outputs[1].name, "again");
  EXPECT_EQ(all.outputs[2].name, "x");
}

}  // namespace
}  // namespace regraft::io
