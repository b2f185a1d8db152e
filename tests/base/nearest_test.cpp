#include "base/nearest.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace regraft {
namespace {

TEST(Nearest, TheWordWithFewestChanges) {
  const std::vector<std::string> words = {"optimize", "simplify", "validate", "rules"};
  EXPECT_EQ(nearest("optimse", words), "optimize");
  EXPECT_EQ(nearest("Validate", words), "validate");
  EXPECT_EQ(nearest("vlaidate", words), "validate");  // neighbours exchanged: one change
  EXPECT_EQ(nearest("rule", words), "rules");
  EXPECT_EQ(nearest("ruels", {"rules", "ruelss"}), "rules");  // of equally near ones the first
  EXPECT_EQ(nearest("frobnicate", words), std::nullopt);
  EXPECT_EQ(nearest("", words), std::nullopt);
  EXPECT_EQ(nearest("optimize", {}), std::nullopt);
}

TEST(Nearest, ASuggestionIsAQuestion) {
  EXPECT_EQ(suggestion("gredy", {"greedy"}), "; did you mean 'greedy'?");
  EXPECT_EQ(suggestion("magic", {"greedy"}), "");
  EXPECT_EQ(suggestion(std::string(1000, 'a'), {std::string(1000, 'a')}), "");
}

TEST(Nearest, TheBeginningOfALongWord) {
  const std::vector<std::string> rules = {"relu-relu=relu.0dc5", "relu=neg-relu.11", "add-add.22"};
  EXPECT_EQ(nearest("relu-relu", rules), "relu-relu=relu.0dc5");
  EXPECT_EQ(nearest("relu", rules), "relu=neg-relu.11");  // the shortest
  EXPECT_EQ(nearest("rel", rules), std::nullopt);
  EXPECT_EQ(nearest("conv", rules), std::nullopt);
}

TEST(Nearest, AFileOfTheSameFolder) {
  const std::string folder = testing::TempDir() + "/nearest_test_files";
  std::filesystem::create_directories(folder);
  for (const char* name : {"model.onnx", "model.rules", "other.onnx"})
    std::ofstream(folder + "/" + name) << "x";
  EXPECT_EQ(suggested_file(folder + "/modle.onnx"), "; did you mean '" + folder + "/model.onnx'?");
  EXPECT_EQ(suggested_file(folder + "/moedl.rules"),
            "; did you mean '" + folder + "/model.rules'?");
  EXPECT_EQ(suggested_file(folder + "/model.onnx"), "");  // it is there
  EXPECT_EQ(suggested_file(folder + "/model"), "");
  EXPECT_EQ(suggested_file(folder + "/quite-different.onnx"), "");
  EXPECT_EQ(suggested_file(folder + "/no-folder/model.onnx"), "");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace regraft
