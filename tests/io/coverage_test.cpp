// What the import understood of a file, node by node.
#include "io/coverage/coverage.h"

#include "tests/io/models.h"

namespace regraft::io::test {
namespace {

TEST(Coverage, CallsAreUnderstood) {
  auto m = import(dense());
  ASSERT_TRUE(m) << m.error().message;
  for (const auto& node : coverage(*m)) {
    EXPECT_TRUE(node.live);
    EXPECT_TRUE(node.understood) << node.type;
    EXPECT_EQ(node.reason, Reason::None);
  }
}

TEST(Coverage, WhatBodiesReadIsLive) {
  auto m = import(with_bodies());
  ASSERT_TRUE(m) << m.error().message;
  auto all = coverage(*m);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_TRUE(all[0].live && all[0].understood);
  EXPECT_TRUE(all[1].live && all[1].understood);
  EXPECT_FALSE(all[2].understood);
  EXPECT_EQ(all[2].type, "If");
  EXPECT_EQ(all[2].reason, Reason::UnknownType);
  EXPECT_EQ(all[2].inner, 2);
}

TEST(Coverage, TheFirstThingMissingIsTheReason) {
  auto model = empty_model();
  auto& g = *model.mutable_graph();
  *g.add_input() = value("x", {"2", "3"});
  *g.add_input() = value("n", {"2"}, onnx::TensorProto::INT64);
  *g.add_input() = value("a", {"A"});
  *g.add_input() = value("b", {"B"});
  const Strings outputs{"form", "far", "numbers", "open", "unread"};
  for (size_t k = 0; k + 1 < outputs.size(); ++k) {
    auto& v = *g.add_output();
    v = value(outputs[k], {}, outputs[k] == "numbers" ? 7 : 1);
    v.mutable_type()->mutable_tensor_type()->clear_shape();
  }
  add_node(g, "Reshape", {"x", "n"}, {"form"});
  add_node(g, "Relu", {"form"}, {"far"});
  add_node(g, "Div", {"n", "n"}, {"numbers"});
  add_node(g, "Add", {"a", "b"}, {"open"});
  add_node(g, "Relu", {"far"}, {"unread"});
  auto m = import(model);
  ASSERT_TRUE(m) << m.error().message;
  auto all = coverage(*m);
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[0].reason, Reason::Form);
  EXPECT_EQ(all[1].reason, Reason::NoShape);
  EXPECT_EQ(all[2].reason, Reason::NotReal);
  EXPECT_EQ(all[3].reason, Reason::OpenSizes);
  EXPECT_FALSE(all[4].live);
}

}  // namespace
}  // namespace regraft::io::test
