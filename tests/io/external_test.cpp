// External data: where it may lie, that it is read late, and how it is written.
#include "tests/io/models.h"

#include <algorithm>
#include <fstream>
#include <numeric>

namespace regraft::io::test {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kRows = 64, kColumns = 32;
constexpr int64_t kBytes = kRows * kColumns * 4;

std::vector<float> weights() {
  std::vector<float> w(kRows * kColumns);
  std::iota(w.begin(), w.end(), 1.0F);
  return w;
}

/// x[1,64] times w[64,32], where w lies at `offset` of `location`.
onnx::ModelProto external_model(const std::string& location, int64_t offset, int64_t length) {
  auto m = empty_model();
  auto& g = *m.mutable_graph();
  *g.add_input() = value("x", {"1", "64"});
  *g.add_output() = value("y", {"1", "32"});
  add_node(g, "MatMul", {"x", "w"}, {"y"});
  auto& w = *g.add_initializer();
  w = floats("w", {kRows, kColumns}, {});
  w.clear_raw_data();
  add_external(w, "location", location);
  add_external(w, "offset", std::to_string(offset));
  if (length >= 0) add_external(w, "length", std::to_string(length));
  return m;
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string weight_bytes() {
  auto w = weights();
  return {reinterpret_cast<const char*>(w.data()), w.size() * sizeof(float)};
}

class External : public Folder {
 protected:
  Result<Imported> load_with(const std::string& location, int64_t offset = 128,
                             int64_t length = kBytes) {
    write_file(path("m.onnx"), external_model(location, offset, length).SerializeAsString());
    return load(path("m.onnx"));
  }
  /// Its data files, by name.
  std::vector<std::string> data_of(const std::string& model) const {
    fs::path file = path(model);
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(file.parent_path())) {
      std::string name = entry.path().filename().string();
      bool belongs = name.starts_with(file.filename().string() + ".") && name.ends_with(".data");
      if (belongs) found.push_back(entry.path().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  /// The model of load_with, whose result is x times (w + w + .. + w).
  Graph with_sums(const Imported& m, int count) const {
    Graph g = m.graph;
    Value sum{find(g, "w"), 0};
    std::vector<float> more(static_cast<size_t>(kRows * kColumns), 1.0F);
    for (int k = 0; k < count; ++k) {
      auto constant = g.add_constant(Constant::of_floats({kRows, kColumns}, more));
      sum = {*g.add_call(*find_op("add"), {sum, constant}, {}), 0};
    }
    g.set_outputs({{*g.add_call(*find_op("matmul"), {g.inputs()[0], sum}, {}), 0}});
    return g;
  }
  void expect_refused(const Result<Imported>& m, const std::string& why) {
    ASSERT_FALSE(m);
    EXPECT_NE(m.error().message.find("'w'"), std::string::npos) << m.error().message;
    EXPECT_NE(m.error().message.find(why), std::string::npos) << m.error().message;
    EXPECT_EQ(m.error().message.find('\n'), std::string::npos);
  }
};

TEST_F(External, IsReadWhenAskedAndCopiedOnSave) {
  write_file(path("w.bin"), std::string(128, 'x') + weight_bytes());
  auto m = load_with("w.bin");
  ASSERT_TRUE(m) << m.error().message;
  auto data = m->graph.node(find(m->graph, "w")).constant;
  EXPECT_EQ(data->reals()->at(5), 6.0);
  fs::create_directories(path("out"));
  auto saved = save(*m, m->graph, path("out/copy.onnx"));
  ASSERT_TRUE(saved) << saved.error().message;
  auto again = load(path("out/copy.onnx"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again->graph.node(find(again->graph, "w")).constant->bytes(), *data->bytes());
  EXPECT_EQ(data_of("out/copy.onnx").size(), 1U);
  EXPECT_EQ(data_files(*m), std::vector{fs::canonical(path("w.bin")).string()});
  EXPECT_EQ(summarise(*m, m->graph).parameters, kRows * kColumns);
  EXPECT_GT(summarise(*m, m->graph).bytes, kBytes);
}

TEST_F(External, CanBeSavedInPlace) {
  write_file(path("m.onnx.data"), std::string(128, 'x') + weight_bytes());
  auto m = load_with("m.onnx.data");
  ASSERT_TRUE(m) << m.error().message;
  ASSERT_TRUE(save(*m, m->graph, path("m.onnx")));
  auto data = m->graph.node(find(m->graph, "w")).constant;
  EXPECT_EQ(data->reals()->at(7), 8.0);  // the source is still there
  auto again = load(path("m.onnx"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->graph.node(find(again->graph, "w")).constant->reals()->at(7), 8.0);
  EXPECT_TRUE(fs::exists(path("m.onnx.data")));  // the user's, not ours to remove
  ASSERT_TRUE(save(*again, with_sums(*again, 1), path("m.onnx")));
  EXPECT_EQ(data_of("m.onnx").size(), 2U);  // the user's; what the model had before has gone
  auto third = load(path("m.onnx"));
  ASSERT_TRUE(third) << third.error().message;
  EXPECT_EQ(third->graph.node(find(third->graph, "w")).constant->reals()->at(7), 8.0);
}

TEST_F(External, EqualContentIsOneFileAndOtherContentAnother) {
  write_file(path("w.bin"), weight_bytes());
  auto m = load_with("w.bin", 0);
  ASSERT_TRUE(m && save(*m, m->graph, path("out.onnx")));
  auto first = data_of("out.onnx");
  auto written = fs::last_write_time(first.at(0));
  ASSERT_TRUE(save(*m, m->graph, path("out.onnx")));
  EXPECT_EQ(data_of("out.onnx"), first);
  EXPECT_EQ(fs::last_write_time(first[0]), written);
  ASSERT_TRUE(save(*m, with_sums(*m, 1), path("out.onnx")));
  EXPECT_NE(data_of("out.onnx"), first);
  EXPECT_EQ(data_of("out.onnx").size(), 1U);
}

TEST_F(External, UntilItIsCommittedTheOldPairIsThere) {
  write_file(path("w.bin"), weight_bytes());
  auto m = load_with("w.bin", 0);
  ASSERT_TRUE(m && save(*m, m->graph, path("out.onnx")));
  auto before = data_of("out.onnx");
  {
    auto output = ModelOutput::open(path("out.onnx"));
    ASSERT_TRUE(output && output->write(*m, with_sums(*m, 2)) && output->sync());
    EXPECT_EQ(data_of("out.onnx"), before);
    EXPECT_TRUE(load(path("out.onnx")));
  }
  EXPECT_EQ(data_of("out.onnx"), before);
  auto old = load(path("out.onnx"));
  ASSERT_TRUE(old);
  EXPECT_EQ(old->graph.node_count(), m->graph.node_count());
}

TEST_F(External, DataOfAnotherModelStays) {
  write_file(path("w.bin"), weight_bytes());
  auto m = load_with("w.bin", 0);
  ASSERT_TRUE(m && save(*m, m->graph, path("out.onnx")));
  fs::copy_file(path("out.onnx"), path("copy.onnx"));
  auto copy = load(path("copy.onnx"));
  ASSERT_TRUE(copy && save(*copy, with_sums(*copy, 1), path("out.onnx")));
  EXPECT_TRUE(load(path("copy.onnx")));  // its data has the other model's name
}

TEST_F(External, DroppedTensorsAreNotCopied) {
  write_file(path("w.bin"), weight_bytes());
  auto m = load_with("w.bin", 0);
  Graph g = m->graph;
  g.set_outputs({g.add_constant(Constant::of_floats({1, 32}, std::vector<float>(32, 2.0F)))});
  ASSERT_TRUE(save(*m, g, path("out.onnx")));
  EXPECT_TRUE(data_of("out.onnx").empty());
}

TEST_F(External, LargeNewConstantsGoToTheDataFile) {
  write_file(path("w.bin"), weight_bytes());
  auto m = load_with("w.bin", 0);
  Graph g = m->graph;
  auto sum = g.add_call(
      *find_op("add"),
      {{find(g, "w"), 0}, g.add_constant(Constant::of_floats({kRows, kColumns}, weights()))}, {});
  ASSERT_TRUE(sum);
  auto product = g.add_call(*find_op("matmul"), {g.inputs()[0], {*sum, 0}}, {});
  ASSERT_TRUE(product);
  g.set_outputs({{*product, 0}});
  ASSERT_TRUE(save(*m, g, path("out.onnx")));
  EXPECT_GE(fs::file_size(data_of("out.onnx").at(0)), static_cast<uintmax_t>(2 * kBytes));
  EXPECT_LT(fs::file_size(path("out.onnx")), 2000U);
  EXPECT_TRUE(load(path("out.onnx")));
}

TEST_F(External, ModelsOverTheLimitMoveToADataFile) {
  auto proto = dense();
  *proto.mutable_graph()->mutable_initializer(0) =
      floats("w", {4, 300}, std::vector<float>(1200, 0.25F));
  proto.mutable_graph()->mutable_initializer(1)->set_dims(0, 1);
  proto.mutable_graph()->mutable_initializer(1)->set_raw_data(std::string(4, '\0'));
  auto m = import(proto);
  ASSERT_TRUE(m) << m.error().message;
  ASSERT_TRUE(save(*m, m->graph, path("big.onnx"), {.inline_limit = 4000}));
  EXPECT_EQ(fs::file_size(data_of("big.onnx").at(0)), 4800U);
  auto again = load(path("big.onnx"));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->graph.node(find(again->graph, "w")).constant->reals()->at(1199), 0.25);
}

TEST_F(External, PathsOutsideTheFolderAreRefused) {
  write_file(path("w.bin"), weight_bytes());
  fs::create_directories(path("model"));
  fs::create_symlink(path("w.bin"), path("model/link.bin"));
  fs::create_directory_symlink(folder_, path("model/up"));
  auto refused = [&](const std::string& location, const std::string& why) {
    write_file(path("model/m.onnx"), external_model(location, 0, kBytes).SerializeAsString());
    expect_refused(load(path("model/m.onnx")), why);
  };
  refused("../w.bin", "outside");
  refused("a/../../w.bin", "outside");
  refused(path("w.bin"), "absolute");
  refused("link.bin", "leaves");
  refused("up/w.bin", "leaves");
  refused("", "names no file");
  refused(".", "no regular file");
}

TEST_F(External, MissingAndShortFilesAreRefused) {
  expect_refused(load_with("nowhere.bin"), "missing");
  write_file(path("w.bin"), weight_bytes());
  expect_refused(load_with("w.bin", 4), "needs");
  expect_refused(load_with("w.bin", int64_t{1} << 62), "needs");
  expect_refused(load_with("w.bin", -4), "offset");
  expect_refused(load_with("w.bin", 0, kBytes - 4), "bytes");
  EXPECT_TRUE(load_with("w.bin", 0, -1));
}

TEST_F(External, FromMemoryIsRefused) {
  expect_refused(import(external_model("w.bin", 0, kBytes)), "no folder");
}

TEST_F(External, FailureLeavesNothingBehind) {
  write_file(path("w.bin"), weight_bytes());
  auto m = load_with("w.bin", 0);
  ASSERT_TRUE(m);
  fs::create_directories(path("out/dir.onnx"));
  EXPECT_FALSE(save(*m, m->graph, path("out/dir.onnx")));
  EXPECT_FALSE(save(*m, m->graph, path("nowhere/x.onnx")));
  fs::remove(path("w.bin"));
  EXPECT_FALSE(save(*m, m->graph, path("out/x.onnx")));
  EXPECT_EQ(std::distance(fs::directory_iterator(path("out")), fs::directory_iterator()), 1);
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(External, ACopyIsTheFileByteForByte) {
  auto m = empty_model();
  *m.mutable_graph()->add_input() = value("x", {"2"});
  *m.mutable_graph()->add_output() = value("y", {"2"});
  add_node(*m.mutable_graph(), "Identity", {"x"}, {"a"});
  add_node(*m.mutable_graph(), "Relu", {"a"}, {"y"});
  write_file(path("m.onnx"), m.SerializeAsString());
  auto model = load(path("m.onnx"));
  ASSERT_TRUE(model);
  ASSERT_TRUE(can_copy(*model));
  auto out = ModelOutput::open(path("out.onnx"));
  ASSERT_TRUE(out);
  ASSERT_TRUE(out->copy(*model));
  ASSERT_TRUE(out->commit());
  EXPECT_EQ(bytes_of(path("out.onnx")), m.SerializeAsString());
  write_file(path("m.onnx"), m.SerializeAsString() + "x");
  auto second = ModelOutput::open(path("second.onnx"));
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->copy(*model));
}

TEST_F(External, WhatIsNotOneWholeFileIsNotCopied) {
  write_file(path("weights"), std::string(128, ' ') + weight_bytes());
  auto external = load_with("weights");
  ASSERT_TRUE(external);
  EXPECT_FALSE(can_copy(*external));
  auto fixed = load(path("m.onnx"), {{{"x", {1, 64}}}, {}});
  ASSERT_TRUE(fixed);
  EXPECT_FALSE(can_copy(*fixed));
}

}  // namespace
}  // namespace regraft::io::test
