#include "base/nearest.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace regraft
