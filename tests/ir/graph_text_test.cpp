#include "tests/ir/graphs.h"

namespace regraft {
namespace {

const std::string kText =
    "%0 = input \"data \\\"x\\\"\" : float32[N,3,2*H+1,W]\n"
    "%1 = input : float32[8,3,3,3]\n"
    "%2 = conv %0 %1 strides=2,2 pads=1,1,1,1 : float32[N,8,H+1,floor(-1+W/2)+1]\n"
    "%3 = split %2 axis=1 sizes=3,5 : float32[N,3,H+1,floor(-1+W/2)+1] ; "
    "float32[N,5,H+1,floor(-1+W/2)+1]\n"
    "%5 = concat %3#1 %3 axis=1 : float32[N,8,H+1,floor(-1+W/2)+1]\n"
    "%6 = clip %5 min=0 max=6 : float32[N,8,H+1,floor(-1+W/2)+1]\n"
    "%7 = identity-matrix size=N : float32[N,N]\n"
    "outputs %6 %3#1 %7\n";

TEST(GraphText, RoundTrips) {
  Graph g = graph(kText);
  std::string printed = to_string(g);
  Graph h = graph(printed);
  EXPECT_EQ(to_string(h), printed);
  EXPECT_TRUE(structurally_equal(g, h));
  EXPECT_TRUE(validate(h));
  EXPECT_EQ(h.id_bound(), g.id_bound());
  EXPECT_FALSE(h.contains(4));  // holes are kept
  EXPECT_EQ(h.node(0).names[0], "data \"x\"");
  EXPECT_EQ(printed.substr(0, printed.find('\n')), kText.substr(0, kText.find('\n')));
}

TEST(GraphText, TypesMayBeLeftOut) {
  Graph g = graph("%0 = input : float32[2,2]\n\n  %1 = relu %0\noutputs %1\n");
  EXPECT_EQ(to_string(g), "%0 = input : float32[2,2]\n%1 = relu %0 : float32[2,2]\noutputs %1\n");
}

TEST(GraphText, OperandsMayHaveLargerNumbers) {
  std::string text =
      "%0 = input : float32[2,2]\n%4 = exp %0 : float32[2,2]\n%2 = relu %4 : float32[2,2]\noutputs "
      "%2\n";
  EXPECT_EQ(to_string(graph(text)), text);
}

TEST(GraphText, OddNamesAndUnknownShapesSurvive) {
  std::string text =
      "%0 = input \"a\" : float16[\"past len + 1\",\"3rd\"]\n%1 = input : int64[...]\n"
      "%2 = input : type23[]\n%3 = neg %0 : float16[\"past len + 1\",\"3rd\"]\noutputs %3\n";
  EXPECT_EQ(to_string(graph(text)), text);
}

TEST(GraphText, PrintsConstantsAndOpaqueNodesButDoesNotReadThem) {
  Graph g;
  Value c = g.add_constant(Constant::of_floats({1}, {1}), "w");
  Node opaque;
  opaque.kind = NodeKind::Opaque;
  opaque.inputs = {c};
  opaque.types = {{DType::I64, std::nullopt}};
  g.set_outputs({{g.add_node(opaque), 0}});
  std::string text = to_string(g);
  EXPECT_NE(text.find("%0 = constant hash="), std::string::npos);
  EXPECT_NE(text.find("%1 = opaque content=0000000000000000 %0 : int64[...]"), std::string::npos);
  ASSERT_FALSE(parse_graph(text));
  EXPECT_EQ(parse_graph(text).error().message.rfind("line 1, column 6: ", 0), 0u)
      << parse_graph(text).error().message;
}

TEST(GraphText, RefusesBadText) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"", "no line 'outputs'"},
      {"outputs %0", "line 1, column 9: node 0 is not defined"},
      {"%0 = input : float32[2]\n%0 = input : float32[2]\noutputs %0",
       "line 2, column 1: node 0 is defined twice"},
      {"%0 = input : float33[2]\noutputs %0", "line 1, column 14: expected an element type"},
      {"%0 = input : float32[2\noutputs %0", "expected ']'"},
      {"%0 = input : float32[2]\n%1 = relu %2\n%2 = relu %1\noutputs %1",
       "line 2, column 11: node 2 is not defined yet"},
      {"%0 = input : float32[2]\n%1 = rely %0\noutputs %1",
       "line 2, column 6: unknown operator 'rely'"},
      {"%0 = input : float32[2]\n%1 = relu %0 %0\noutputs %1", "line 2, column 6: relu"},
      {"%0 = input : float32[2]\n%1 = relu %0#1\noutputs %1", "there is no output 1"},
      {"%0 = input : float32[2]\n%1 = relu %0 : float32[3]\noutputs %1", "the type is float32[2]"},
      {"%0 = input : float32[2]\n%1 = relu %0 : float32[2] ; float32[2]\noutputs %1",
       "of no output"},
      {"%0 = input : float32[2]\n%1 = concat %0 %0\noutputs %1", "needs the attribute 'axis'"},
      {"%0 = input : float32[2]\n%1 = relu %0 k=1\noutputs %1", "has no attribute 'k'"},
      {"%0 = input : int64[2]\n%1 = relu %0\noutputs %1", "operand 0 is of type int64"},
      {"%0 = input : float32[2]\n%1000000000 = relu %0\noutputs %0", "too far apart"},
      {"%0 = input : float32[2]\n%-1 = relu %0\noutputs %0", "out of range"},
      {"%0 = input : float32[2]\noutputs %0\n%1 = relu %0", "line 3, column 1: expected the end"},
      {"%0 = input \"abc : float32[2]\noutputs %0", "not closed"},
  };
  for (const auto& [text, message] : bad) {
    auto g = parse_graph(text);
    ASSERT_FALSE(g) << text;
    EXPECT_NE(g.error().message.find(message), std::string::npos) << text << "\n"
                                                                  << g.error().message;
  }
}

TEST(GraphText, SurvivesGarbage) {
  Rng rng(13);
  const std::string alphabet = "%#=,;:.-+*/[]\" \n0129NHaxi";
  int accepted = 0;
  for (int round = 0; round < 10000; ++round) {
    std::string text = kText;
    for (uint64_t edits = rng.between(1, 3); edits-- > 0;) {
      size_t at = rng.below(text.size());
      char c = alphabet[rng.below(alphabet.size())];
      if (rng.below(2))
        text[at] = c;
      else if (rng.below(2))
        text.insert(at, 1, c);
      else
        text.erase(at, rng.below(5) + 1);
    }
    auto g = parse_graph(text);
    if (!g) continue;
    ++accepted;
    ASSERT_TRUE(validate(*g)) << text;
    auto again = parse_graph(to_string(*g));
    ASSERT_TRUE(again) << to_string(*g) << again.error().message;
    ASSERT_EQ(to_string(*again), to_string(*g));
  }
  EXPECT_GT(accepted, 50);
}

}  // namespace
}  // namespace regraft
