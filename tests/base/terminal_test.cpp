#include "base/terminal.h"

#include <gtest/gtest.h>

namespace regraft {
namespace {

TEST(Terminal, BreaksBehindSpaces) {
  EXPECT_EQ(wrapped("one two three\n", 8, 4), "one two\nthree\n");
  EXPECT_EQ(wrapped("  one two three four", 9, 4), "  one two\n    three\n    four");
  EXPECT_EQ(wrapped("short\n\nlines\n", 8, 4), "short\n\nlines\n");
  EXPECT_EQ(wrapped("", 8, 4), "");
}

TEST(Terminal, BreaksLongWords) {
  EXPECT_EQ(wrapped("{alpha,beta,gamma}", 12, 0), "{alpha,beta,\ngamma}");
  EXPECT_EQ(wrapped("abcdefghij", 4, 0), "abcd\nefgh\nij");
  EXPECT_EQ(wrapped("  abcdefgh", 4, 9), "  ab\n  cd\n  ef\n  gh");
}

TEST(Terminal, CountsCharacters) {
  EXPECT_EQ(cut("äöüß", 4), "äöüß");
  EXPECT_EQ(cut("äöüßx", 4), "äö..");
  EXPECT_EQ(wrapped("äöü ßäö", 3, 0), "äöü\nßäö");
}

/// However narrow, no line is wider, and nothing but spaces is lost.
TEST(Terminal, FitsAnyWidth) {
  const std::string text = "  --an-option TEXT:{one,two,three}  what it does, in words\nand more";
  auto without_spaces = [](std::string s) {
    std::erase_if(s, [](char c) { return c == ' ' || c == '\n'; });
    return s;
  };
  for (size_t width = 4; width < 70; ++width)
    for (size_t indent : {0, 3, 30}) {
      std::string lines = wrapped(text, width, indent);
      EXPECT_EQ(without_spaces(lines), without_spaces(text));
      for (size_t begin = 0; begin < lines.size();) {
        size_t end = std::min(lines.find('\n', begin), lines.size());
        EXPECT_LE(end - begin, width) << lines;
        begin = end + 1;
      }
    }
}

}  // namespace
}  // namespace regraft
