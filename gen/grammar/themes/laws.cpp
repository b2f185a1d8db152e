#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Roots, squares and absolute values.
Grammar root_grammar() {
  return {"roots",
          {{"x", {2}}},
          {{"sqrt", "", {"a"}},
           {"mul", "", {"a", "a"}},
           {"power", "exponent=2", {"a"}},
           {"abs", "", {"a"}},
           {"neg", "", {"a"}}},
          0,
          true};
}

/// One bound, none, and both.
Grammar clip_grammar() {
  return {"clips",
          {{"x", {2, 3}}},
          {{"clip", "", {"ab"}},
           {"clip", "min=0", {"ab"}},
           {"clip", "max=0", {"ab"}},
           {"clip", "min=0 max=6", {"ab"}},
           {"relu", "", {"ab"}},
           {"neg", "", {"ab"}}}};
}

/// Casts before and after concatenation.
Grammar joined_cast_grammar() {
  Grammar t = {"joined-casts",
               {{"x", {2, 3}}, {"y", {2, 4}}, {"u", {2, 3, 5}}, {"v", {2, 4, 5}}},
               {{"concat", "axis=1", {"23", "24"}}, {"concat", "axis=1", {"235", "245"}}},
               1};
  for (std::string_view to : {"to=1", "to=7", "to=9", "to=10", "to=16"})
    for (std::string_view axes : {"2.", "2.5"}) t.instances.push_back({"cast", to, {axes}});
  return t;
}

/// What a softmax does not see, at each rank.
Grammar shifted_softmax_grammar() {
  return {"shifted-softmax",
          {{"a", {3, 4}},
           {"b", {3, 1}},
           {"x", {2, 3, 4}},
           {"c", {2, 3, 1}},
           {"y", {2, 3, 5, 4}},
           {"d", {2, 3, 5, 1}}},
          {{"sub", "", {"34@a", "31@b"}},
           {"add", "", {"34@a", "31@b"}},
           {"sub", "", {"234@x", "231@c"}},
           {"add", "", {"234@x", "231@c"}},
           {"sub", "", {"2354@y", "2351@d"}},
           {"add", "", {"2354@y", "2351@d"}},
           {"softmax", "axis=-1", {".4"}},
           {"softmax", "axis=-1", {"..4"}},
           {"softmax", "axis=-1", {"...4"}}}};
}

/// A softmax of two is a sigmoid.
Grammar two_way_grammar() {
  return {"two-ways",
          {{"x", {3, 1}}, {"y", {3, 1}}},
          {{"sub", "", {"31@x", "31@y"}, Scope::Given, "", "there"},
           {"sub", "", {"31@y", "31@x"}, Scope::Given, "", "back"},
           {"sigmoid", "", {"31@there"}},
           {"sigmoid", "", {"31@back"}},
           {"concat", "axis=1", {"31", "31"}},
           {"softmax", "axis=1", {"32"}}},
          1};
}

/// What a layer normalisation does not see, and one of centred rows.
Grammar shifted_norm_grammar() {
  return {
      "shifted-norms",
      {{"a", {3, 4}}, {"d", {3, 1}}, {"x", {2, 3, 4}}, {"c", {2, 3, 1}}, {"s", {4}}, {"b", {4}}},
      {{"reduce-mean", "axes=-1", {"34@a"}},
       {"reduce-mean", "axes=-1", {"234@x"}},
       {"sub", "", {"ab@a", "a1"}},
       {"sub", "", {"abc@x", "ab1"}},
       {"add", "", {"ab@a", "a1@d"}},
       {"add", "", {"abc@x", "ab1@c"}},
       {"layernorm", "axis=-1 epsilon=0.5", {".4", "4@s"}},
       {"layernorm", "axis=-1 epsilon=0.5", {"..4", "4@s"}},
       {"layernorm", "axis=-1 epsilon=0.5", {".4", "4@s", "4@b"}},
       {"layernorm", "axis=-1 epsilon=0.5", {"..4", "4@s", "4@b"}},
       {"rmsnorm", "axis=-1 epsilon=0.5", {".4", "4@s"}},
       {"rmsnorm", "axis=-1 epsilon=0.5", {"..4", "4@s"}}},
      1};
}

/// Channels that are shifted before a batch normalisation.
Grammar shifted_batch_norm_grammar() {
  return {"shifted-batch-norm",
          {{"x", {2, 3, 4, 5}}, {"c", {3, 1, 1}}, {"a", {3}}, {"b", {3}}, {"m", {3}}, {"v", {3}}},
          {{"add", "", {"abcd@x", "b11@c"}},
           {"reshape", "shape~3", {"311@c"}},
           {"sub", "", {"3@m", "3"}},
           {"add", "", {"3@m", "3"}},
           {"batchnorm", "epsilon=0.5", {".b..", "b@a", "b@b", "b", "b@v"}}},
          1};
}

/// Groups of one channel.
Grammar channel_group_grammar() {
  return {"channel-groups",
          {{"x", {2, 3, 2, 4}}, {"s", {3}}, {"b", {3}}},
          {{"instancenorm", "epsilon=0.5", {"abcd@x", "b@s", "b@b"}},
           {"groupnorm", "num_groups~3 epsilon=0.5", {"abcd@x", "b@s", "b@b"}}}};
}

/// Factors of rows and columns around a product.
Grammar scaled_product_grammar() {
  return {"scaled-products",
          {{"x", {2, 3}},
           {"y", {2, 5, 3}},
           {"c", {3}},
           {"w", {3, 4}},
           {"s", {}},
           {"t", {4}},
           {"r", {}}},
          {{"reshape", "shape~3,1", {"3@c"}},
           {"mul", "", {"ab@x", "b@c"}},
           {"mul", "", {"abc@y", "c@c"}},
           {"mul", "", {"34@w", "31"}},
           {"mul", "", {"ab@x", "-@s"}},
           {"mul", "", {"abc@y", "-@s"}},
           {"mul", "", {"34@w", "4@t"}},
           {"mul", "", {"34@w", "-@r"}},
           {"mul", "", {"4@t", "-@s"}},
           {"mul", "", {"-@s", "-@r"}},
           {"mul", "", {"24", "4"}},
           {"mul", "", {"24", "-"}},
           {"mul", "", {"254", "4"}},
           {"matmul", "", {"ab", "bc"}},
           {"matmul", "", {"abc", "cd"}}},
          1};
}

/// Outer products, and images of one point.
Grammar thin_grammar() {
  return {"thin",
          {{"u", {4, 1}}, {"v", {1, 5}}, {"p", {2, 4, 1}}, {"q", {2, 1, 3}}, {"x", {2, 3, 1, 1}}},
          {{"matmul", "", {"41@u", "15@v"}},
           {"matmul", "", {"241@p", "213@q"}},
           {"mul", "", {"41@u", "15@v"}},
           {"mul", "", {"241@p", "213@q"}},
           {"transpose", "perm=0,2,3,1", {"2311@x"}},
           {"reshape", "shape~2,3", {"2113"}},
           {"reshape", "shape~2,3", {"2311"}}}};
}

/// Concatenations of two inside those of more, at each arity. Kinds name the place of each operand.
Grammar join_grammar(std::string_view name, int count, int64_t rank) {
  static constexpr std::string_view kNames[] = {"a", "b", "c", "d", "e"};
  static constexpr std::string_view kOperands[2][5] = {{".@a", ".@b", ".@c", ".@d", ".@e"},
                                                       {"2.@a", "2.@b", "2.@c", "2.@d", "2.@e"}};
  bool matrices = rank == 2;
  std::string_view axis = matrices ? "axis=1" : "axis=0", any = matrices ? "2." : ".";
  Grammar t = {name, {}, {}};
  std::vector<std::string_view> all, first, last;
  for (int k = 0; k < count; ++k) {
    auto n = static_cast<size_t>(k);
    std::vector<int64_t> shape = {k + 1};
    if (matrices) shape.insert(shape.begin(), 2);
    t.leaves.push_back({kNames[n], std::move(shape)});
    all.push_back(kOperands[matrices][n]);
  }
  first.assign(all.begin(), all.end() - 1);
  last.assign(all.begin() + 1, all.end());
  t.instances = {{"concat", axis, all},
                 {"concat", axis, first, Scope::Values},
                 {"concat", axis, last, Scope::Values},
                 {"concat", axis, {any, all.back()}},
                 {"concat", axis, {all.front(), any}}};
  return t;
}

}  // namespace

std::vector<Grammar> law_themes() {
  std::vector<Grammar> r = {root_grammar(),
                            clip_grammar(),
                            joined_cast_grammar(),
                            shifted_softmax_grammar(),
                            two_way_grammar(),
                            shifted_norm_grammar(),
                            shifted_batch_norm_grammar(),
                            channel_group_grammar(),
                            scaled_product_grammar(),
                            thin_grammar()};
  static constexpr std::string_view kRows[] = {"joins-3", "joins-4", "joins-5"};
  static constexpr std::string_view kMatrices[] = {"matrix-joins-3", "matrix-joins-4",
                                                   "matrix-joins-5"};
  for (int k = 0; k < 3; ++k) {
    auto n = static_cast<size_t>(k);
    r.push_back(join_grammar(kRows[n], k + 3, 1));
    r.push_back(join_grammar(kMatrices[n], k + 3, 2));
  }
  return r;
}

}  // namespace regraft::gen
