#include <algorithm>

#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// What takes elements elsewhere and leaves them as they are, and the variables it is shown on.
struct Move {
  std::string_view name;
  std::vector<int64_t> shape;
  std::vector<Instance> instances;  ///< of operators that move
};

/// Images of 4x4 in 3 channels, in batches of 2; 72 elements to reshape. Axes of transposes and
/// gathers are numbers in every rule, so each of them is a move of its own.
std::vector<Move> moves() {
  const std::vector<int64_t> image = {2, 3, 4, 4};
  return {
      {"transpose-2", {2, 3}, {{"transpose", "perm=1,0", {".."}}}},
      {"transpose-3", {2, 3, 4}, {{"transpose", "perm=0,2,1", {"..."}}}},
      {"transpose-4",
       image,
       {{"transpose", "perm=0,2,3,1", {"23.."}},
        {"transpose", "perm=0,3,1,2", {"23.."}},
        {"transpose", "perm=0,2,1,3", {"23.."}},
        {"transpose", "perm=0,1,3,2", {"23.."}},
        {"transpose", "perm=1,0,2,3", {"23.."}}}},
      {"transpose-5",
       {2, 3, 4, 2, 2},
       {{"transpose", "perm=0,2,1,3,4", {"23..."}}, {"transpose", "perm=1,0,2,3,4", {"23..."}}}},
      {"slice", image, {{"slice", "begins=0,1,0,2 sizes=2,2,3,2 steps=1,1,1,1", {"2344"}}}},
      {"gather-0", {5, 3}, {{"gather", "axis=0 indices=3,1 shape=2", {"5."}}}},
      {"gather-1", image, {{"gather", "axis=1 indices=2,0 shape=2", {".3.."}}}},
      {"gather-row", {2, 3, 4}, {{"gather", "axis=1 indices=1 shape=", {".3."}}}},
      {"reshape-2", {4, 3, 6}, {{"reshape", "shape=2,36", {"436"}}}},
      {"reshape-3", {8, 9}, {{"reshape", "shape=2,2,18", {"89"}}}},
      {"reshape-4", {8, 9}, {{"reshape", "shape=2,2,2,9", {"89"}}}},
      {"reshape-5", {8, 9}, {{"reshape", "shape=2,2,2,3,3", {"89"}}}},
      {"nearest", {2, 3, 2, 3}, {{"resize-nearest", "factors=2,2", {"..23"}}}},
      {"subsample",
       image,
       {{"maxpool", "kernel=1,1 strides=2,2 pads=0,0,0,0 dilations=1,1", {"..44"}}}},
  };
}

constexpr std::string_view kNames[] = {"p", "q", "r", "t", "u", "v", "w", "x", "y", "z"};
constexpr std::string_view kRanks[] = {"a", "ab", "abc", "abcd", "abcde"};

/// A move of sums, differences, products and quotients.
Grammar pair_grammar(const Move& move) {
  Grammar t{move.name, {{"x", move.shape, 2}, {"s", {}}}, {}};
  for (Instance in : move.instances) {
    in.scope = Scope::Once;
    t.instances.push_back(std::move(in));
  }
  for (std::string_view rank : kRanks)
    for (std::string_view op : {"add", "sub", "mul", "div"}) {
      t.instances.push_back({op, "", {rank, rank}});
      t.instances.push_back({op, "", {rank, "-"}});
    }
  return t;
}

struct Function {
  std::string_view op, attrs;
};

/// All moves of functions of single elements.
Grammar function_moves_grammar(std::string_view name, std::span<const Function> functions) {
  Grammar t{name, {}, {}, -1};
  std::vector<std::vector<int64_t>> shapes;
  for (const Move& move : moves()) {
    if (std::find(shapes.begin(), shapes.end(), move.shape) == shapes.end())
      shapes.push_back(move.shape);
    t.instances.insert(t.instances.end(), move.instances.begin(), move.instances.end());
  }
  for (size_t k = 0; k < shapes.size(); ++k) t.leaves.push_back({kNames[k], shapes[k]});
  t.instances.push_back({"pad", "pads=0,0,1,0,0,0,0,2", {"2344"}});
  for (std::string_view rank : kRanks)
    for (const auto& [op, attrs] : functions) t.instances.push_back({op, attrs, {rank}});
  return t;
}

constexpr Function kFunctions[] = {{"relu", ""},
                                   {"sigmoid", ""},
                                   {"tanh", ""},
                                   {"exp", ""},
                                   {"sqrt", ""},
                                   {"neg", ""},
                                   {"erf", ""},
                                   {"clip", "min=0 max=6"},
                                   {"hard-sigmoid", "alpha=0.375 beta=0.625"}};
constexpr Function kMoreFunctions[] = {{"abs", ""},
                                       {"sign", ""},
                                       {"floor", ""},
                                       {"ceil", ""},
                                       {"round", ""},
                                       {"log", ""},
                                       {"sin", ""},
                                       {"cos", ""},
                                       {"reciprocal", ""},
                                       {"power", "exponent=2"},
                                       {"power", "exponent=3"},
                                       {"softplus", ""},
                                       {"softsign", ""},
                                       {"mish", ""},
                                       {"hard-swish", ""},
                                       {"gelu", ""},
                                       {"gelu-tanh", ""},
                                       {"swish", "alpha=1"},
                                       {"leaky-relu", "alpha=0.25"},
                                       {"elu", "alpha=1"},
                                       {"selu", "alpha=1.5 gamma=1.25"}};

/// Functions of single elements beside what puts tensors together and takes them apart.
Grammar function_parts_grammar() {
  Grammar t{"parts",
            {{"x", {2, 3}, 2}},
            {{"concat", "axis=1", {"ab", "ac"}}, {"split", "axis=1 sizes=1,2", {".3"}}}};
  for (std::string_view op : {"relu", "sigmoid", "tanh", "exp", "sqrt", "neg", "erf"})
    t.instances.push_back({op, "", {"ab"}, Scope::Leaves});
  return t;
}

/// Reshapes one after the other, from any rank to any other. 72 elements: what is twice some
/// extent may be thrice another, so that no extent is forced by the others.
Grammar reshape_grammar() {
  Grammar t{"reshapes",
            {{"a", {72}}, {"b", {8, 9}}, {"c", {4, 3, 6}}, {"d", {2, 3, 2, 6}}},
            {{"reshape", "shape~72", {"a"}},
             {"reshape", "shape~8,9", {"89"}},
             {"reshape", "shape~4,3,6", {"436"}},
             {"reshape", "shape~2,3,2,6", {"2326"}}},
            -1};
  for (std::string_view from : {".", "..", "...", "....", "....."})
    for (std::string_view to :
         {"shape=72", "shape=2,36", "shape=2,2,18", "shape=2,2,2,9", "shape=2,2,2,3,3"})
      t.instances.push_back({"reshape", to, {from}});
  return t;
}

/// What stands for each row or channel: a vector is reshaped where its axis moves.
Grammar vector_moves_grammar() {
  Grammar t{"vectors",
            {{"x", {2, 3, 4}}, {"i", {2, 3, 5, 4}}, {"r", {2, 3, 6}}, {"v", {4}}, {"w", {3, 1}}},
            {{"transpose", "perm=0,2,1", {"234"}, Scope::Once},
             {"transpose", "perm=0,3,1,2", {"2354"}, Scope::Once},
             {"reshape", "shape~2,3,2,3", {"236"}, Scope::Once},
             {"reshape", "shape~4,1", {"4"}, Scope::Leaves},
             {"reshape", "shape~4,1,1", {"4"}, Scope::Leaves},
             {"reshape", "shape~3,1,1", {"31"}, Scope::Leaves}}};
  for (std::string_view op : {"add", "mul"})
    for (std::string_view vector : {"c", "b1"}) t.instances.push_back({op, "", {"abc", vector}});
  for (std::string_view op : {"add", "mul"})
    for (std::string_view vector : {"d", "b11"}) t.instances.push_back({op, "", {"abcd", vector}});
  return t;
}

}  // namespace

std::vector<Grammar> move_grammars() {
  std::vector<Grammar> r = {function_moves_grammar("moves", kFunctions), function_parts_grammar(),
                            vector_moves_grammar(), reshape_grammar()};
  for (const Move& move : moves()) r.push_back(pair_grammar(move));
  return r;
}

std::vector<Grammar> function_move_grammars() {
  return {function_moves_grammar("function moves", kMoreFunctions)};
}

}  // namespace regraft::gen
