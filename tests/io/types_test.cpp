// Element types, sizes that are 0 and sizes that no tensor can have, in and out.
#include <cmath>
#include <limits>

#include "tests/io/models.h"

namespace regraft::io::test {
namespace {

constexpr DType kReals[] = {DType::F32, DType::F64, DType::F16, DType::BF16};

onnx::TensorProto tensor(const std::string& name, DType type, std::vector<int64_t> dims,
                         const std::vector<double>& values) {
  auto data = make_constant(type, dims, values)->bytes();
  onnx::TensorProto t;
  t.set_name(name);
  t.set_data_type(static_cast<int>(type));
  for (int64_t d : dims) t.add_dims(d);
  t.set_raw_data(data->data(), data->size());
  return t;
}

/// x[2,3] -> TYPE(x, the initialisers) -> y
onnx::ModelProto one_node(const std::string& type, DType element,
                          const std::vector<onnx::TensorProto>& constants, int opset = 17) {
  auto m = empty_model(opset);
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"2", "3"}, static_cast<int>(element));
  *g.add_output() = value("y", {}, static_cast<int>(element));
  Strings inputs{"x"};
  for (const auto& t : constants) {
    inputs.push_back(t.name());
    if (!t.name().empty()) *g.add_initializer() = t;
  }
  add_node(g, type, inputs, {"y"});
  return m;
}

const Node& made(const Imported& m) { return m.graph.node(m.graph.outputs()[0].node); }

/// The model with its one call written anew instead of copied, read again.
Result<Imported> rewritten(const Imported& m) {
  Graph g = m.graph;
  const Node& call = made(m);
  ASSIGN_OR_RETURN(int32_t id, g.add_call(*call.op, call.inputs, call.attrs));
  g.set_outputs({{id, 0}});
  remove_dead(g);
  ASSIGN_OR_RETURN(std::string bytes, serialise(m, g));
  return parse(bytes, "again");
}

TEST(Types, BoundsAndFillersStayWhatTheyAre) {
  for (DType type : kReals) {
    double low = make_constant(type, {}, {-0.1})->reals()->front();
    auto clip = import(one_node("Clip", type, {tensor("low", type, {}, {low}), {}}));
    auto pad =
        import(one_node("Pad", type, {ints("pads", {0, 1, 0, 2}), tensor("v", type, {}, {low})}));
    for (auto* m : {&clip, &pad}) {
      ASSERT_TRUE(*m) << m->error().message;
      ASSERT_EQ(made(**m).kind, NodeKind::Call);
      EXPECT_EQ(made(**m).attrs.reals[0].value, low);
      auto again = rewritten(**m);
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_TRUE(same(made(*again).attrs, made(**m).attrs)) << to_string(type);
      EXPECT_EQ(to_string(made(*again).types[0]), to_string(made(**m).types[0]));
    }
  }
}

TEST(Types, ABoundThatIsLeftOutCutsNoNumberOfTheType) {
  for (DType type : kReals) {
    auto m = import(one_node("Clip", type, {}));
    ASSERT_EQ(made(*m).kind, NodeKind::Call);
    double most = type == DType::F64 ? std::numeric_limits<double>::max()
                                     : static_cast<double>(std::numeric_limits<float>::max());
    EXPECT_EQ(made(*m).attrs.reals[0].value, -most);
    EXPECT_EQ(made(*m).attrs.reals[1].value, most);
    auto again = rewritten(*m);
    ASSERT_TRUE(again);
    EXPECT_TRUE(same(made(*again).attrs, made(*m).attrs));
    EXPECT_EQ(again->graph.node_count(), 2U);  // no constant beside the input and the call
  }
  // Before opset 11 the bounds are attributes, which have float32's defaults on every type.
  auto old = import(one_node("Clip", DType::F64, {}, 10));
  EXPECT_EQ(made(*old).attrs.reals[1].value,
            static_cast<double>(std::numeric_limits<float>::max()));
}

TEST(Types, DefaultsOfAttributesAreFloats) {
  auto m = import(one_node("HardSigmoid", DType::F64, {}));
  EXPECT_EQ(made(*m).attrs.reals[0].value, static_cast<double>(0.2F));
  ASSERT_TRUE(rewritten(*m));
  EXPECT_TRUE(same(made(*rewritten(*m)).attrs, made(*m).attrs));
}

/// x as often joined to tensors without elements, and another of these reshaped.
onnx::ModelProto with_empty_tensors(int times) {
  auto proto = empty_model(17);
  auto& g = *proto.mutable_graph();
  *g.add_input() = value("x", {"2", "3"});
  *g.add_input() = value("none", {"0", "3"});
  *g.add_output() = value("y", {std::to_string(2 * times), "3"});
  *g.add_output() = value("flat", {"0"});
  *g.add_initializer() = floats("empty", {0, 3}, {});
  *g.add_initializer() = ints("shape", {0});
  std::vector<std::string> parts(static_cast<size_t>(times), "x");
  parts.insert(parts.end(), {"none", "empty"});
  add_node(g, "Concat", parts, {"h"}).add_attribute()->CopyFrom([] {
    onnx::AttributeProto a;
    a.set_name("axis");
    a.set_type(onnx::AttributeProto::INT);
    a.set_i(0);
    return a;
  }());
  add_node(g, "Relu", {"h"}, {"y"});
  auto& reshape = add_node(g, "Reshape", {"none", "shape"}, {"flat"});
  auto& keep = *reshape.add_attribute();
  keep.set_name("allowzero");
  keep.set_type(onnx::AttributeProto::INT);
  keep.set_i(1);
  return proto;
}

TEST(Types, TensorsWithoutElementsAreCarried) {
  auto m = import(with_empty_tensors(2));
  ASSERT_TRUE(m) << m.error().message;
  auto out = written(*m, canonical(m->graph));
  EXPECT_EQ(out.graph().node_size(), 3);
  EXPECT_EQ(out.graph().initializer_size(), 2);
  EXPECT_TRUE(parse(out.SerializeAsString(), "again"));
}

TEST(Types, JoiningTensorsWithoutElementsHandsOn) {
  auto m = import(with_empty_tensors(1));
  ASSERT_TRUE(m) << m.error().message;
  const Graph& g = m->graph;
  EXPECT_EQ(g.node(g.outputs()[0].node).inputs[0], g.inputs()[0]);
  auto out = written(*m, canonical(g));
  EXPECT_EQ(out.graph().node_size(), 2);
  EXPECT_EQ(out.graph().initializer_size(), 1);
}

TEST(Types, ANodeWithoutOutputsHandsNothingOn) {
  auto proto = empty_model();
  auto& g = *proto.mutable_graph();
  *g.add_input() = value("x", {"2", "4"});
  *g.add_output() = value("y", {"2", "4"});
  add_node(g, "Relu", {"x"}, {"y"});
  auto& node = add_node(g, "Concat", {"x"}, {"z"});
  node.clear_output();
  auto& axis = *node.add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
  EXPECT_TRUE(import(proto));
}

constexpr int64_t kHuge = int64_t{1} << 62;

TEST(Types, SizesThatNoTensorHasSayNothing) {
  for (const Strings& dims : {Strings{"4611686018427387904", "4"},
                              {"1099511627776", "1099511627776"},
                              {"9223372036854775807"},
                              {"4611686018427387904", "4611686018427387904", "0"}}) {
    auto proto = empty_model();
    auto& g = *proto.mutable_graph();
    *g.add_input() = value("x", dims);
    *g.add_output() = value("y", dims);
    add_node(g, "Relu", {"x"}, {"y"});
    auto m = import(proto);
    ASSERT_TRUE(m) << m.error().message;
    EXPECT_EQ(made(*m).kind, NodeKind::Opaque);
    (void)summarise(*m, m->graph);
    EXPECT_TRUE(serialise(*m, m->graph));
  }
}

TEST(Types, ResultsThatNoTensorHoldsStayForeign) {
  auto proto = empty_model();
  auto& g = *proto.mutable_graph();
  *g.add_input() = value("a", {"1099511627776", "1"});
  *g.add_input() = value("b", {"1", "1099511627776"});
  *g.add_output() = value("y", {});
  add_node(g, "MatMul", {"a", "b"}, {"y"});
  EXPECT_EQ(made(*import(proto)).kind, NodeKind::Opaque);
}

/// x[1,1,8,8] -> POOL with these attributes, beside kernel 2x2.
NodeKind pool(const std::string& type, const std::string& name, const std::vector<int64_t>& numbers,
              const std::string& mode = "") {
  auto proto = empty_model(19);
  auto& g = *proto.mutable_graph();
  *g.add_input() = value("x", {"1", "1", "8", "8"});
  *g.add_output() = value("y", {});
  auto& node = add_node(g, type, {"x"}, {"y"});
  add_ints(node, "kernel_shape", {2, 2});
  add_ints(node, name, numbers);
  auto& a = *node.add_attribute();
  if (mode == "ceil") {
    a.set_name("ceil_mode");
    a.set_type(onnx::AttributeProto::INT);
    a.set_i(1);
  } else {
    a.set_name("auto_pad");
    a.set_type(onnx::AttributeProto::STRING);
    a.set_s(mode.empty() ? "NOTSET" : mode);
  }
  auto m = import(proto);
  EXPECT_TRUE(m) << m.error().message;
  return made(*m).kind;
}

TEST(Types, AbsurdAttributesKeepAPoolForeign) {
  for (const char* type : {"MaxPool", "AveragePool"})
    for (const char* mode : {"", "ceil", "SAME_UPPER", "SAME_LOWER"}) {
      EXPECT_EQ(pool(type, "strides", {1, 1}, mode), NodeKind::Call);
      for (int64_t absurd : {kHuge, int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
        EXPECT_EQ(pool(type, "strides", {absurd, 1}, mode), NodeKind::Opaque) << absurd;
        EXPECT_EQ(pool(type, "dilations", {1, absurd}, mode), NodeKind::Opaque) << absurd;
        if (absurd != 0) {
          EXPECT_EQ(pool(type, "pads", {0, absurd, 0, 0}, mode), NodeKind::Opaque) << absurd;
        }
      }
    }
}

TEST(Types, SlicesReachAsFarAsTheyLike) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                    kMost = std::numeric_limits<int64_t>::max();
  struct Case {
    int64_t start, end, step;
    const char* type;
  };
  for (const Case& c :
       {Case{0, kMost, kMost, "float32[1,3]"}, Case{kMost, kLeast, -1, "float32[2,3]"},
        Case{-1, kLeast, kLeast, "float32[1,3]"}, Case{kLeast, kMost, 1, "float32[2,3]"}}) {
    auto m = import(
        one_node("Slice", DType::F32,
                 {ints("s", {c.start}), ints("e", {c.end}), ints("a", {0}), ints("t", {c.step})}));
    ASSERT_TRUE(m);
    EXPECT_EQ(to_string(made(*m).types[0]), c.type) << c.start;
  }
}

TEST(Types, ACountIsZeroWhateverTheOtherSizes) {
  Constant c(DType::F32, {kHuge, kHuge, 0}, std::vector<std::byte>{});
  EXPECT_EQ(c.count(), 0);
}

TEST(Types, ACastHasTheTypeThatItCastsTo) {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("n", {}, onnx::TensorProto::INT64);
  *g.add_input() = value("s", {});
  *g.add_output() = value("y", {"k"});
  auto number = [&](const std::string& name, int64_t n) {
    auto t = ints(name, {n});
    t.clear_dims();
    *g.add_initializer() = t;
  };
  number("zero", 0);
  number("one", 1);
  add_node(g, "Range", {"zero", "n", "one"}, {"r"});
  add_node(g, "CastLike", {"r", "s"}, {"f"});
  add_node(g, "Mul", {"f", "s"}, {"y"});
  auto imported = import(m);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->graph.type({find(imported->graph, "f"), 0}).dtype, DType::F32);
}

}  // namespace
}  // namespace regraft::io::test
