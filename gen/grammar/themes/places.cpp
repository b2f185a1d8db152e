#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Arithmetic that changes nothing, or leaves nothing of its operand, at each rank.
Grammar neutral_grammar() {
  return {
      "neutral",
      {{"t", {3}}, {"x", {2, 3}}, {"y", {2, 3, 4}}, {"i", {2, 3, 4, 5}}, {"z", {2, 2, 3, 4, 2}}},
      {{"full", "shape= value=0", {}, Scope::Free, "", "zero"},
       {"full", "shape= value=1", {}, Scope::Free, "", "one"},
       {"full", "shape~3 value=0", {}, Scope::Free},
       {"full", "shape~2,3 value=0", {}, Scope::Free},
       {"full", "shape~2,3,4 value=0", {}, Scope::Free},
       {"full", "shape~2,3,4,5 value=0", {}, Scope::Free},
       {"full", "shape~3 value=1", {}, Scope::Free},
       {"full", "shape~2,3 value=1", {}, Scope::Free},
       {"full", "shape~2,3,4 value=1", {}, Scope::Free},
       {"full", "shape~2,3,4,5 value=1", {}, Scope::Free},
       {"mul", "", {"a@t", "-@zero"}},
       {"add", "", {"a@t", "-@zero"}},
       {"sub", "", {"a@t", "-@zero"}},
       {"mul", "", {"a@t", "-@one"}},
       {"div", "", {"a@t", "-@one"}},
       {"add", "", {"ab@x", "-@zero"}},
       {"sub", "", {"ab@x", "-@zero"}},
       {"mul", "", {"ab@x", "-@one"}},
       {"div", "", {"ab@x", "-@one"}},
       {"add", "", {"abc@y", "-@zero"}},
       {"sub", "", {"abc@y", "-@zero"}},
       {"mul", "", {"abc@y", "-@one"}},
       {"div", "", {"abc@y", "-@one"}},
       {"add", "", {"abcd@i", "-@zero"}},
       {"sub", "", {"abcd@i", "-@zero"}},
       {"mul", "", {"abcd@i", "-@one"}},
       {"div", "", {"abcd@i", "-@one"}},
       {"add", "", {"abcde@z", "-@zero"}},
       {"sub", "", {"abcde@z", "-@zero"}},
       {"mul", "", {"abcde@z", "-@one"}},
       {"div", "", {"abcde@z", "-@one"}},
       {"mul", "", {"ab@x", "-@zero"}},
       {"mul", "", {"abc@y", "-@zero"}},
       {"mul", "", {"abcd@i", "-@zero"}},
       {"sub", "", {"ab@x", "ab@x"}},
       {"sub", "", {"abc@y", "abc@y"}},
       {"sub", "", {"abcd@i", "abcd@i"}},
       {"div", "", {"ab@x", "ab@x"}},
       {"div", "", {"abc@y", "abc@y"}},
       {"div", "", {"abcd@i", "abcd@i"}},
       {"power", "exponent=0", {"ab@x"}},
       {"power", "exponent=0", {"abc@y"}}},
      0,
      true};
}

/// Calls that do nothing, at each rank.
Grammar idle_grammar() {
  return {
      "idle",
      {{"t", {3}}, {"x", {2, 3}}, {"y", {2, 3, 4}}, {"i", {2, 3, 4, 5}}, {"z", {2, 3, 4, 5, 2}}},
      {{"transpose", "perm=0", {"a@t"}},
       {"transpose", "perm=0,1", {"ab@x"}},
       {"transpose", "perm=0,1,2", {"abc@y"}},
       {"transpose", "perm=0,1,2,3", {"abcd@i"}},
       {"transpose", "perm=0,1,2,3,4", {"abcde@z"}},
       {"reshape", "shape~3", {"a@t"}},
       {"reshape", "shape~2,3", {"ab@x"}},
       {"reshape", "shape~2,3,4", {"abc@y"}},
       {"reshape", "shape~2,3,4,5", {"abcd@i"}},
       {"reshape", "shape~2,3,4,5,2", {"abcde@z"}},
       {"expand", "shape~3", {"a@t"}},
       {"expand", "shape~2,3", {"ab@x"}},
       {"expand", "shape~2,3,4", {"abc@y"}},
       {"expand", "shape~2,3,4,5", {"abcd@i"}},
       {"expand", "shape~2,3,4,5,2", {"abcde@z"}},
       {"tile", "repeats=1", {"a@t"}},
       {"tile", "repeats=1,1", {"ab@x"}},
       {"tile", "repeats=1,1,1", {"abc@y"}},
       {"tile", "repeats=1,1,1,1", {"abcd@i"}},
       {"tile", "repeats=1,1,1,1,1", {"abcde@z"}},
       {"slice", "begins=0 sizes~3", {"a@t"}},
       {"slice", "begins=0,0 sizes~2,3", {"ab@x"}},
       {"slice", "begins=0,0,0 sizes~2,3,4", {"abc@y"}},
       {"slice", "begins=0,0,0,0 sizes~2,3,4,5", {"abcd@i"}},
       {"slice", "begins=0,0,0,0,0 sizes~2,3,4,5,2", {"abcde@z"}},
       {"pad", "pads=0,0", {"a@t"}},
       {"pad", "pads=0,0,0,0", {"ab@x"}},
       {"pad", "pads=0,0,0,0,0,0", {"abc@y"}},
       {"pad", "pads=0,0,0,0,0,0,0,0", {"abcd@i"}},
       {"pad", "pads=0,0,0,0,0,0,0,0,0,0", {"abcde@z"}},
       {"concat", "axis=0", {"a@t"}},
       {"concat", "axis=0", {"ab@x"}},
       {"concat", "axis=1", {"ab@x"}},
       {"concat", "axis=1", {"abc@y"}},
       {"concat", "axis=2", {"abc@y"}},
       {"concat", "axis=1", {"abcd@i"}},
       {"split", "axis=0 sizes~2", {"abcd@i"}},
       {"split", "axis=1 sizes~3", {"abcd@i"}},
       {"split", "axis=2 sizes~4", {"abcd@i"}},
       {"split", "axis=3 sizes~5", {"abcd@i"}},
       {"concat", "axis=-1", {"abc@y"}},
       {"resize-nearest", "factors=1,1", {"abcd@i"}},
       {"avgpool", "kernel=1,1", {"abcd@i"}},
       {"avgpool", "kernel=1,1 include_pad=1", {"abcd@i"}},
       {"maxpool", "kernel=1,1", {"abcd@i"}}},
      0,
      true};
}

/// What repeats elements, at three axes.
Grammar repeat_grammar() {
  return {"repeats",
          {{"s", {}},
           {"a", {4}},
           {"b", {3, 4}},
           {"c", {1, 3, 4}},
           {"d", {2, 1, 4}},
           {"e", {2, 3, 1}},
           {"f", {2, 1, 1}},
           {"y", {2, 3, 4}},
           {"w", {2, 4, 2}}},
          {{"expand", "shape~2,3,4", {"-@s"}},   {"expand", "shape~2,3,4", {"4@a"}},
           {"expand", "shape~2,3,4", {"34@b"}},  {"expand", "shape~2,3,4", {"134@c"}},
           {"expand", "shape~2,3,4", {"214@d"}}, {"expand", "shape~2,3,4", {"231@e"}},
           {"expand", "shape~2,3,4", {"211@f"}}, {"tile", "repeats~1,3,1", {"214@d"}},
           {"tile", "repeats~2,1,1", {"134@c"}}, {"tile", "repeats~1,1,4", {"231@e"}},
           {"add", "", {"234", "234@y"}},        {"mul", "", {"234", "234@y"}},
           {"add", "", {"-@s", "234@y"}},        {"mul", "", {"-@s", "234@y"}},
           {"add", "", {"4@a", "234@y"}},        {"add", "", {"34@b", "234@y"}},
           {"add", "", {"134@c", "234@y"}},      {"add", "", {"214@d", "234@y"}},
           {"add", "", {"231@e", "234@y"}},      {"add", "", {"211@f", "234@y"}},
           {"mul", "", {"4@a", "234@y"}},        {"mul", "", {"134@c", "234@y"}},
           {"mul", "", {"214@d", "234@y"}},      {"mul", "", {"231@e", "234@y"}},
           {"matmul", "", {"abc", "acd@w"}},     {"matmul", "", {"1bc", "acd@w"}},
           {"reduce-mean", "axes=1", {"234"}},   {"reduce-mean", "axes=0", {"234"}},
           {"reduce-mean", "axes=2", {"234"}},   {"reduce-max", "axes=1", {"234"}}}};
}

/// Repetitions that a number decides, one after another and of functions.
Grammar number_repeat_grammar() {
  return {"number-repeats",
          {{"x", {1, 3, 1}}, {"y", {2, 1, 3}}, {"z", {2, 3}}, {"v", {2, 3, 4}}},
          {{"expand", "shape=2,3,1", {"131"}},
           {"expand", "shape=2,3,4", {"131"}},
           {"expand", "shape=2,3,4", {"231"}},
           {"expand", "shape=2,4,3", {"213"}},
           {"tile", "repeats=1,4,1", {"213@y"}},
           {"tile", "repeats=2,1,1", {"131@x"}},
           {"tile", "repeats=2,3", {"23@z"}},
           {"tile", "repeats=2,2", {"49"}},
           {"tile", "repeats=4,6", {"23@z"}},
           {"tile", "repeats=1,2,1", {"234@v"}},
           {"concat", "axis=1", {"234@v", "234@v"}},
           {"sigmoid", "", {"..."}},
           {"relu", "", {"..."}},
           {"neg", "", {"..."}},
           {"reduce-mean", "axes=1", {"243"}},
           {"reduce-sum", "axes=1", {"213"}},
           {"reduce-max", "axes=1", {"213"}},
           {"reduce-mean", "axes=1", {"213"}}},
          0,
          true};
}

/// Parts of matrices, by numbers that are free.
Grammar part_grammar() {
  return {"parts",
          {{"x", {9, 13}}, {"y", {9, 5}}},
          {{"slice", "begins=1,2 sizes=4,5 steps=2,2", {"9.@x"}},
           {"slice", "begins=1,1 sizes=2,2 steps=1,2", {"45"}},
           {"slice", "begins=3,4 sizes=2,2 steps=2,4", {"9.@x"}},
           {"concat", "axis=1", {"9.@x", "9.@y"}},
           {"slice", "begins=0,0 sizes~9,13", {"9."}},
           {"slice", "begins~0,13 sizes~9,5", {"9."}},
           {"slice", "begins=0,0 sizes=9,4", {"9.@x"}},
           {"slice", "begins=0,4 sizes=9,9", {"9.@x"}},
           {"split", "axis=1 sizes=4,9", {"9.@x"}},
           {"concat", "axis=1", {"94", "99"}}}};
}

/// Pads of pads and of slices.
Grammar pad_grammar() {
  return {"pads",
          {{"x", {2, 3}}, {"y", {2, 3, 4}}},
          {{"pad", "pads=1,2,3,1", {"23@x"}},
           {"pad", "pads=2,1,1,3", {"66"}},
           {"pad", "pads=3,3,4,4", {"23@x"}},
           {"slice", "begins=1,2 sizes~2,3", {"66"}},
           {"full", "shape~2,4 value=0", {}, Scope::Free, "", "zeros"},
           {"concat", "axis=1", {"23@x", "24@zeros"}},
           {"pad", "pads=0,0,0,4", {"23@x"}},
           {"relu", "", {".."}},
           {"pad", "pads=1,2,0,3,1,2", {"234@y"}},
           {"pad", "pads=1,0,2,3,2,1", {"243"}},
           {"transpose", "perm=0,2,1", {"..."}}}};
}

/// One row, by a number and as a slice.
Grammar pick_grammar() {
  return {"picks",
          {{"x", {2, 5, 3}}, {"u", {2, 3, 2}}, {"m", {5, 4}}, {"n", {3, 4}}},
          {{"gather", "axis=1 indices=2 shape=1", {"253@x"}},
           {"gather", "axis=1 indices=2 shape=", {"253@x"}},
           {"gather", "axis=1 indices=0 shape=", {"253@x"}},
           {"slice", "begins=0,2,0 sizes~2,1,3", {"253@x"}},
           {"slice", "begins=0,0,0 sizes~2,1,3", {"253@x"}},
           {"reshape", "shape~2,3", {"213"}},
           {"gather", "axis=2 indices=0 shape=1", {"232@u"}},
           {"gather", "axis=2 indices=1 shape=1", {"232@u"}},
           {"split", "axis=2 sizes=1,1", {"232@u"}},
           {"gather", "axis=0 indices=3,1 shape=2", {"54@m"}},
           {"gather", "axis=0 indices=1,3 shape=2", {"54@m"}},
           {"gather", "axis=0 indices=1,0 shape=2", {"24"}},
           {"concat", "axis=0", {"54@m", "34@n"}},
           {"gather", "axis=0 indices=0 shape=", {".4"}}}};
}

/// Reductions one after another, of what is put together, and beside transposes.
Grammar reduction_order_grammar() {
  Grammar t{"reduction-orders",
            {{"x", {2, 3, 4}},
             {"y", {2, 2, 4}},
             {"i", {2, 3, 4, 5}},
             {"m", {2, 3}},
             {"n", {2, 4}},
             {"o", {2, 1, 4}}},
            {{"transpose", "perm=0,2,1", {"234@x"}},
             {"transpose", "perm=0,2,3,1", {"2345@i"}},
             {"transpose", "perm=0,2,3,1", {"2311"}},
             {"reshape", "shape~2,3", {"2311"}},
             {"concat", "axis=1", {"234@x", "224@y"}},
             {"concat", "axis=1", {"23@m", "24@n"}},
             {"reshape", "shape~2,4", {"214@o"}},
             {"reduce-mean", "axes=2,3 keepdims=0", {"2345@i"}},
             {"reduce-mean", "axes=1,2", {"2453"}}},
            1};
  for (std::string_view op : {"reduce-sum", "reduce-mean", "reduce-max", "reduce-min"}) {
    t.instances.push_back({op, "axes=1", {"..."}});
    t.instances.push_back({op, "axes=2", {"..."}});
    t.instances.push_back({op, "axes=1,2", {"..."}});
    t.instances.push_back({op, "axes=1 keepdims=0", {"..."}});
    t.instances.push_back({op, "axes=2 keepdims=0", {"..."}});
    t.instances.push_back({op, "axes=2,3", {"2345@i"}});
    t.instances.push_back({op, "axes=3", {"2345@i"}});
    t.instances.push_back({op, "axes=2", {"2341"}});
    t.instances.push_back({op, "axes=3 keepdims=0", {"2345@i"}});
    t.instances.push_back({op, "axes=2,3 keepdims=0", {"2345@i"}});
    t.instances.push_back({op, "axes=1", {".."}});
  }
  for (std::string_view op : {"add", "max", "min"}) {
    t.instances.push_back({op, "", {"21", "21"}});
    t.instances.push_back({op, "", {"214", "214"}});
  }
  return t;
}

/// Reductions by functions of them.
Grammar reduced_function_grammar() {
  return {"reduced-functions",
          {{"x", {2, 3, 4}}, {"c", {4}}, {"s", {}}},
          {{"mul", "", {"abc@x", "abc@x"}},
           {"mul", "", {"abc@x", "c@c"}},
           {"mul", "", {"abc", "-@s"}},
           {"mul", "", {"abc", "c@c"}},
           {"abs", "", {"abc"}},
           {"exp", "", {"abc"}},
           {"log", "", {"abc"}},
           {"sqrt", "", {"abc"}},
           {"neg", "", {"abc"}},
           {"sigmoid", "", {"abc"}},
           {"reduce-sum", "axes=1", {"234"}},
           {"reduce-sum", "axes=-1", {"234"}},
           {"reduce-max", "axes=1", {"234"}},
           {"reduce-min", "axes=1", {"234"}},
           {"reduce-sum-square", "axes=1", {"234@x"}},
           {"reduce-l1", "axes=-1", {"234@x"}},
           {"reduce-l2", "axes=-1", {"234@x"}},
           {"reduce-log-sum-exp", "axes=-1", {"234@x"}}},
          1,
          true};
}

/// Products as sums, prefix sums and outer products; triangles.
Grammar product_form_grammar() {
  return {"product-forms",
          {{"x", {2, 3}},
           {"a", {4}},
           {"u", {4, 1}},
           {"v", {1, 5}},
           {"p", {2, 4, 1}},
           {"q", {2, 1, 3}},
           {"s", {3, 3}}},
          {{"full", "shape~3,1 value=1", {}, Scope::Free},
           {"full", "shape~3,3 value=1", {}, Scope::Free, "", "ones"},
           {"trilu", "upper=1", {"33"}},
           {"trilu", "upper=0", {"33"}},
           {"trilu", "upper=0 k=1", {"33"}},
           {"cumsum", "axis=1", {"23@x"}},
           {"reduce-sum", "axes=1", {"23@x"}},
           {"matmul", "", {"ab", "bc"}},
           {"matmul", "", {"abc", "acd"}},
           {"mul", "", {"a1", "1b"}},
           {"mul", "", {"ab1", "a1c"}}}};
}

}  // namespace

std::vector<Grammar> idle_themes() { return {idle_grammar()}; }

std::vector<Grammar> place_themes() {
  return {neutral_grammar(),
          repeat_grammar(),
          number_repeat_grammar(),
          part_grammar(),
          pad_grammar(),
          pick_grammar(),
          reduction_order_grammar(),
          reduced_function_grammar(),
          product_form_grammar()};
}

}  // namespace regraft::gen
