// Bad input: one line that names the place, never a crash.
#include "tests/io/models.h"

#include <fstream>

#include "base/rng.h"

namespace regraft::io::test {
namespace {

void expect_error(const Result<Imported>& m, const std::string& what) {
  ASSERT_FALSE(m);
  EXPECT_NE(m.error().message.find(what), std::string::npos) << m.error().message;
  EXPECT_EQ(m.error().message.find('\n'), std::string::npos) << m.error().message;
}

class BadFile : public Folder {
 protected:
  Result<Imported> load_bytes(const std::string& bytes) {
    std::ofstream(path("bad.onnx"), std::ios::binary) << bytes;
    return load(path("bad.onnx"));
  }
};

TEST_F(BadFile, IsNamed) {
  expect_error(load(path("none.onnx")), "none.onnx: cannot be opened");
  expect_error(load(folder_.string()), "is not a file");
  expect_error(load_bytes(""), "bad.onnx: is empty");
  expect_error(load_bytes("this is no protobuf at all"), "is not an ONNX model");
  std::string whole = dense().SerializeAsString();
  expect_error(load_bytes(whole.substr(0, whole.size() / 2)), "truncated");
  expect_error(load_bytes(value("x", {}).SerializeAsString().substr(0, 0) + "\x08\x08"),
               "has no graph");
}

TEST_F(BadFile, LargerThanProtobufAllows) {
  std::ofstream(path("big.onnx")) << "x";
  std::filesystem::resize_file(path("big.onnx"), uintmax_t{3} << 30);  // a hole
  expect_error(load(path("big.onnx")), "2 GB");
}

TEST(BadModel, Cyclic) {
  auto m = relu_twice();
  m.mutable_graph()->mutable_node(0)->set_input(0, "y");
  expect_error(import(m), "cycle");
}

TEST(BadModel, UnknownNames) {
  auto m = relu_twice();
  m.mutable_graph()->mutable_node(1)->set_input(0, "ghost");
  expect_error(import(m), "node 1 'Relu_y' (Relu) reads 'ghost'");
  m = relu_twice();
  m.mutable_graph()->mutable_output(0)->set_name("ghost");
  expect_error(import(m), "graph output 'ghost'");
  m = with_bodies();
  m.mutable_graph()->mutable_node(2)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(
      0, "ghost");
  expect_error(import(m), "a body of node 2 'If_z' (If) reads 'ghost'");
}

TEST(BadModel, TwoMakersOfOneName) {
  auto m = relu_twice();
  m.mutable_graph()->mutable_node(1)->set_output(0, "h");
  expect_error(import(m), "makes 'h'");
  m = relu_twice();
  m.mutable_graph()->mutable_node(0)->set_output(0, "x");
  expect_error(import(m), "graph input 'x'");
  m = dense();
  m.mutable_graph()->mutable_initializer(0)->set_name("b");
  expect_error(import(m), "two initialisers named 'b'");
}

TEST(BadModel, MistypedTensors) {
  auto tensor = [](auto change) {
    auto m = dense();
    change(*m.mutable_graph()->mutable_initializer(0));
    return import(m);
  };
  expect_error(tensor([](auto& t) { t.set_dims(0, -4); }),
               "initialiser 'w' has the negative dimension -4");
  expect_error(tensor([](auto& t) { t.set_dims(0, 5); }), "initialiser 'w' has 48 bytes of data");
  expect_error(tensor([](auto& t) { t.set_data_type(onnx::TensorProto::DOUBLE); }), "need 96");
  expect_error(tensor([](auto& t) { t.clear_raw_data(); }), "has 0 elements");
  expect_error(tensor([](auto& t) { t.set_dims(0, int64_t{1} << 62); }), "too large");
  expect_error(tensor([](auto& t) {
                 t.clear_raw_data();
                 for (int k = 0; k < 12; ++k) t.add_int64_data(k);
               }),
               "its type");
}

TEST(BadModel, MistypedTensorInAnAttribute) {
  auto m = relu_twice();
  auto& node = add_node(*m.mutable_graph(), "Constant", {}, {"k"});
  auto& a = *node.add_attribute();
  a.set_name("value");
  a.set_type(onnx::AttributeProto::TENSOR);
  *a.mutable_t() = floats("", {3}, {1, 2});
  expect_error(import(m), "attribute 'value' of node 2 'Constant_k' (Constant) has 8 bytes");
}

TEST(BadModel, DeepNestingIsRefused) {
  onnx::GraphProto body;
  add_node(body, "Relu", {"x"}, {"inner"});
  for (int depth = 0; depth < 200; ++depth) {
    onnx::GraphProto outer;
    auto& a = *add_node(outer, "If", {"x"}, {"o" + std::to_string(depth)}).add_attribute();
    a.set_name("then_branch");
    a.set_type(onnx::AttributeProto::GRAPH);
    a.mutable_g()->Swap(&body);
    body.Swap(&outer);
  }
  auto m = empty_model();
  m.mutable_graph()->Swap(&body);
  *m.mutable_graph()->add_input() = value("x", {});
  expect_error(import(m), "nested too deep");
}

/// Whatever the bytes are: an Error, or a model that can be written.
void try_bytes(const std::string& bytes) {
  auto m = parse(bytes, "fuzz");
  if (!m) {
    EXPECT_EQ(m.error().message.find('\n'), std::string::npos);
    return;
  }
  auto out = serialise(*m, m->graph);
  EXPECT_TRUE(out.has_value() || !out.error().message.empty());
  if (!out) return;
  EXPECT_TRUE(parse(*out, "again")) << "a written model must be readable";
}

onnx::ModelProto rich_model() {
  auto m = with_bodies();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("image", {"N", "3", "8", "8"});
  *g.add_initializer() = floats("k", {2, 3, 3, 3}, std::vector<float>(54, 0.1F));
  *g.add_initializer() = ints("dims", {0, -1});
  auto& conv = add_node(g, "Conv", {"image", "k"}, {"conv"});
  add_ints(conv, "kernel_shape", {3, 3});
  add_ints(conv, "pads", {1, 1, 1, 1});
  add_ints(conv, "strides", {2, 2});
  auto& pool = add_node(g, "MaxPool", {"conv"}, {"pool"});
  add_ints(pool, "kernel_shape", {2, 2});
  add_node(g, "Reshape", {"pool", "dims"}, {"flat"});
  add_ints(add_node(g, "Transpose", {"flat"}, {"t"}), "perm", {1, 0});
  add_node(g, "Softmax", {"t"}, {"p"});
  add_ints(add_node(g, "ReduceMean", {"p"}, {"mean"}), "axes", {1});
  add_node(g, "Gather", {"p", "dims"}, {"gathered"});
  *g.add_output() = value("mean", {"", "1"});
  *g.add_output() = value("gathered", {});
  return m;
}

TEST(Fuzz, MutatedBytesNeverCrash) {
  const std::string valid = rich_model().SerializeAsString();
  auto whole = parse(valid, "rich");
  ASSERT_TRUE(whole) << whole.error().message;
  Rng rng(7);
  for (int round = 0; round < 5000; ++round) {
    std::string bytes = valid;
    for (uint64_t n = 1 + rng.below(4); n > 0; --n) {
      size_t at = rng.below(bytes.size());
      switch (rng.below(4)) {
        case 0:
          bytes[at] = static_cast<char>(rng.below(256));
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
          break;
        case 2:
          bytes[at] = static_cast<char>(bytes[at] + static_cast<char>(rng.between(-2, 2)));
          break;
        default:
          bytes.erase(at, rng.below(3));
          break;
      }
    }
    try_bytes(bytes);
  }
}

TEST(Fuzz, TruncationNeverCrashes) {
  const std::string valid = rich_model().SerializeAsString();
  for (size_t n = 0; n < valid.size(); ++n) try_bytes(valid.substr(0, n));
}

/// Extreme numbers in every attribute and dimension.
TEST(Fuzz, ExtremeAttributesNeverCrash) {
  Rng rng(11);
  const int64_t extremes[] = {
      0, -1, 1, 2, 3, 100, -100, INT32_MAX, INT64_MAX, INT64_MIN, int64_t{1} << 40};
  auto extreme = [&] { return extremes[rng.below(std::size(extremes))]; };
  for (int round = 0; round < 1500; ++round) {
    auto m = rich_model();
    auto& nodes = *m.mutable_graph()->mutable_node();
    auto& node = nodes[static_cast<int>(3 + rng.below(7))];
    for (auto& a : *node.mutable_attribute()) {
      if (rng.below(2) == 0) a.add_ints(extreme());
      for (auto& i : *a.mutable_ints()) {
        if (rng.below(2) == 0) i = extreme();
      }
    }
    auto& dim = *m.mutable_graph()
                     ->mutable_input(2)
                     ->mutable_type()
                     ->mutable_tensor_type()
                     ->mutable_shape()
                     ->mutable_dim(static_cast<int>(rng.below(4)));
    if (rng.below(3) == 0) dim.set_dim_value(extreme());
    auto& dims = *m.mutable_graph()->mutable_initializer(1);
    if (rng.below(3) == 0) dims.set_int64_data(static_cast<int>(rng.below(2)), extreme());
    try_bytes(m.SerializeAsString());
  }
}

}  // namespace
}  // namespace regraft::io::test
