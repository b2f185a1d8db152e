// Local functions are inlined on import, where that means the same.
#include <set>

#include "tests/io/models.h"

namespace regraft::io::test {
namespace {

onnx::FunctionProto& add_function(onnx::ModelProto& m, const std::string& name,
                                  const Strings& inputs, const Strings& outputs) {
  auto& f = *m.add_functions();
  f.set_name(name);
  f.set_domain("local");
  for (const auto& i : inputs) f.add_input(i);
  for (const auto& o : outputs) f.add_output(o);
  for (const char* domain : {"", "local"}) {
    auto* import = f.add_opset_import();
    import->set_domain(domain);
    import->set_version(*domain ? 1 : 17);
  }
  return f;
}

onnx::AttributeProto number(const std::string& name, float value) {
  onnx::AttributeProto a;
  a.set_name(name);
  a.set_type(onnx::AttributeProto::FLOAT);
  a.set_f(value);
  return a;
}

/// The attribute of that name is what the call gives as `given`.
void add_reference(onnx::NodeProto& node, const std::string& name, const std::string& given) {
  auto& a = *node.add_attribute();
  a.set_name(name);
  a.set_type(onnx::AttributeProto::FLOAT);
  a.set_ref_attr_name(given);
}

/// x[2] -> local:`function` -> y
onnx::ModelProto calling(const std::string& function) {
  auto m = empty_model();
  auto* import = m.add_opset_import();
  import->set_domain("local");
  import->set_version(1);
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"2"});
  *g.add_output() = value("y", {"2"});
  add_node(g, function, {"x"}, {"y"}).set_domain("local");
  return m;
}

onnx::ModelProto inlined(const onnx::ModelProto& m) {
  auto imported = import(m);
  EXPECT_TRUE(imported) << imported.error().message;
  return written(*imported, imported->graph);
}

/// Types of the nodes that are written for the model as it is.
Strings types(const onnx::ModelProto& m) {
  const auto out = inlined(m);
  Strings found;
  for (const auto& n : out.graph().node()) found.push_back(n.op_type());
  return found;
}

TEST(Functions, ACallBecomesItsNodes) {
  auto m = calling("Twice");
  auto& f = add_function(m, "Twice", {"a"}, {"b"});
  add_node(f, "Exp", {"a"}, {"h"});
  add_node(f, "Tanh", {"h"}, {"b"});
  auto out = inlined(m);
  ASSERT_EQ(out.graph().node_size(), 2);
  EXPECT_EQ(out.graph().node(0).input(0), "x");
  EXPECT_EQ(out.graph().node(0).output(0), "Twice_y/h");
  EXPECT_EQ(out.graph().node(1).output(0), "y");
  EXPECT_EQ(out.functions_size(), 0);
}

TEST(Functions, TwoCallsHaveNamesOfTheirOwn) {
  auto m = calling("F");
  auto& f = add_function(m, "F", {"a"}, {"b"});
  add_node(f, "Exp", {"a"}, {"h"});
  add_node(f, "Tanh", {"h"}, {"b"});
  auto& g = *m.mutable_graph();
  g.mutable_node(0)->set_name("");
  g.mutable_node(0)->set_output(0, "h");
  auto& second = add_node(g, "F", {"h"}, {"y"});
  second.set_domain("local");
  second.set_name("");
  auto out = inlined(m);
  ASSERT_EQ(out.graph().node_size(), 4);
  EXPECT_NE(out.graph().node(0).output(0), out.graph().node(2).output(0));
}

TEST(Functions, AttributesAreGivenDefaultOrLeftOut) {
  auto m = calling("Elu3");
  auto& f = add_function(m, "Elu3", {"a"}, {"b"});
  f.add_attribute("one");
  f.add_attribute("none");
  // ONNX has attribute_proto (field 11) from version 1.13 on.
  f.GetReflection()->MutableUnknownFields(&f)->AddLengthDelimited(
      11, number("two", 0.5F).SerializeAsString());
  add_reference(add_node(f, "Elu", {"a"}, {"h"}), "alpha", "one");
  add_reference(add_node(f, "Elu", {"h"}, {"i"}), "alpha", "two");
  add_reference(add_node(f, "Elu", {"i"}, {"b"}), "alpha", "none");
  *m.mutable_graph()->mutable_node(0)->add_attribute() = number("one", 0.25F);
  auto out = inlined(m);
  ASSERT_EQ(out.graph().node_size(), 3);
  EXPECT_EQ(out.graph().node(0).attribute(0).f(), 0.25F);
  EXPECT_EQ(out.graph().node(0).attribute(0).name(), "alpha");
  EXPECT_EQ(out.graph().node(1).attribute(0).f(), 0.5F);
  EXPECT_EQ(out.graph().node(2).attribute_size(), 0);
}

TEST(Functions, ANestedCallPassesAttributesOn) {
  auto m = calling("Outer");
  auto& outer = add_function(m, "Outer", {"a"}, {"b"});
  outer.add_attribute("slope");
  auto& call = add_node(outer, "Inner", {"a"}, {"b"});
  call.set_domain("local");
  add_reference(call, "alpha", "slope");
  auto& inner = add_function(m, "Inner", {"a"}, {"b"});
  inner.GetReflection()->MutableUnknownFields(&inner)->AddLengthDelimited(
      11, number("alpha", 0.5F).SerializeAsString());
  add_reference(add_node(inner, "Elu", {"a"}, {"b"}), "alpha", "alpha");
  EXPECT_EQ(inlined(m).graph().node(0).attribute(0).f(), 0.5F) << "the inner default";
  *m.mutable_graph()->mutable_node(0)->add_attribute() = number("slope", 0.25F);
  EXPECT_EQ(inlined(m).graph().node(0).attribute(0).f(), 0.25F);
}

TEST(Functions, OmittedInputsStayOmitted) {
  auto m = calling("Clip3");
  auto& f = add_function(m, "Clip3", {"a", "low", "high"}, {"b", "unused"});
  add_node(f, "Clip", {"a", "low", "high"}, {"b"});
  add_node(f, "Exp", {"a"}, {"unused"});
  auto& g = *m.mutable_graph();
  *g.add_initializer() = floats("six", {}, {6});
  g.mutable_node(0)->add_input("");
  g.mutable_node(0)->add_input("six");
  auto out = inlined(m);
  const auto& clip = out.graph().node(0);
  EXPECT_EQ(clip.op_type(), "Clip");
  EXPECT_EQ(Strings(clip.input().begin(), clip.input().end()), (Strings{"x", "", "six"}));
}

TEST(Functions, AnOutputMayBeAnInput) {
  auto m = calling("Same");
  add_function(m, "Same", {"a"}, {"a"});
  EXPECT_EQ(types(m), Strings{"Identity"});
}

TEST(Functions, CallsInBodiesAreInlined) {
  auto m = with_bodies();
  auto* import = m.add_opset_import();
  import->set_domain("local");
  import->set_version(1);
  auto& f = add_function(m, "Twice", {"a"}, {"b"});
  add_node(f, "Exp", {"a"}, {"h"});
  add_node(f, "Neg", {"h"}, {"b"});
  auto& body = *m.mutable_graph()->mutable_node(2)->mutable_attribute(0)->mutable_g();
  body.mutable_node(0)->set_op_type("Twice");
  body.mutable_node(0)->set_domain("local");
  auto out = inlined(m);
  EXPECT_EQ(out.functions_size(), 0);
  const auto& written_body = out.graph().node(2).attribute(0).g();
  ASSERT_EQ(written_body.node_size(), 2);
  EXPECT_EQ(written_body.node(0).op_type(), "Exp");
  EXPECT_EQ(written_body.node(0).input(0), "h");
}

TEST(Functions, BodiesInFunctionsAreRenamed) {
  auto m = calling("Choose");
  auto& g = *m.mutable_graph();
  *g.add_input() = value("c", {}, onnx::TensorProto::BOOL);
  g.mutable_node(0)->add_input("c");
  g.mutable_node(0)->set_output(0, "m");
  auto& second = add_node(g, "Choose", {"m", "c"}, {"y"});
  second.set_domain("local");
  auto& f = add_function(m, "Choose", {"a", "if"}, {"b"});
  f.mutable_node()->Add()->CopyFrom(with_bodies().graph().node(2));
  auto& node = *f.mutable_node(0);
  node.set_input(0, "if");
  node.set_output(0, "b");
  for (auto& a : *node.mutable_attribute()) a.mutable_g()->mutable_node(0)->set_input(0, "a");
  auto out = inlined(m);
  ASSERT_EQ(out.graph().node_size(), 2);
  std::set<std::string> made;
  for (const auto& n : out.graph().node())
    for (const auto& a : n.attribute()) {
      EXPECT_TRUE(made.insert(a.g().node(0).output(0)).second);
      EXPECT_EQ(a.g().output(0).name(), a.g().node(0).output(0));
    }
  EXPECT_EQ(out.graph().node(1).attribute(0).g().node(0).input(0), "m");
}

TEST(Functions, OverloadsAreTold) {
  auto m = calling("F");
  auto set_overload = [](auto& message, int field, const std::string& text) {
    message.GetReflection()->MutableUnknownFields(&message)->AddLengthDelimited(field, text);
  };
  auto& f = add_function(m, "F", {"a"}, {"b"});
  add_node(f, "Exp", {"a"}, {"b"});
  auto& g = add_function(m, "F", {"a"}, {"b"});
  add_node(g, "Tanh", {"a"}, {"b"});
  set_overload(g, 13, "second");
  EXPECT_EQ(types(m), Strings{"Exp"});
  set_overload(*m.mutable_graph()->mutable_node(0), 8, "second");
  EXPECT_EQ(types(m), Strings{"Tanh"});
}

/// A function that stays: its call is written, and it too.
void expect_call(const onnx::ModelProto& m) {
  EXPECT_EQ(types(m), Strings{m.graph().node(0).op_type()});
  EXPECT_EQ(inlined(m).functions_size(), m.functions_size());
}

TEST(Functions, AnotherOperatorSetStaysACall) {
  auto m = calling("F");
  auto& f = add_function(m, "F", {"a"}, {"b"});
  add_node(f, "Exp", {"a"}, {"b"});
  EXPECT_EQ(types(m), Strings{"Exp"});
  f.mutable_opset_import(0)->set_version(13);
  expect_call(m);
}

TEST(Functions, RecursionStaysACall) {
  auto m = calling("F");
  auto& f = add_function(m, "F", {"a"}, {"b"});
  add_node(f, "G", {"a"}, {"b"}).set_domain("local");
  auto& g = add_function(m, "G", {"a"}, {"b"});
  add_node(g, "F", {"a"}, {"b"}).set_domain("local");
  expect_call(m);
}

TEST(Functions, WhatWouldBeTooLargeStaysACall) {
  auto m = calling("f40");
  add_node(add_function(m, "f0", {"a"}, {"b"}), "Exp", {"a"}, {"b"});
  for (int k = 1; k <= 40; ++k) {
    auto& f = add_function(m, "f" + std::to_string(k), {"a"}, {"b"});
    std::string callee = "f" + std::to_string(k - 1);
    add_node(f, callee, {"a"}, {"h"}).set_domain("local");
    add_node(f, callee, {"h"}, {"b"}).set_domain("local");
  }
  expect_call(m);
}

TEST(Functions, WhatDoesNotFitStaysACall) {
  auto m = calling("F");
  auto& f = add_function(m, "F", {"a"}, {"b"});
  add_node(f, "Exp", {"a"}, {"b"});
  auto more = m;
  more.mutable_graph()->mutable_node(0)->add_input("x");
  expect_call(more);
  auto unknown = m;
  *unknown.mutable_graph()->mutable_node(0)->add_attribute() = number("alpha", 1);
  expect_call(unknown);
  auto open = m;
  open.mutable_functions(0)->mutable_node(0)->set_input(0, "x");
  expect_call(open);
}

}  // namespace
}  // namespace regraft::io::test
