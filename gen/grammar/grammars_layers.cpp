#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Reductions of rows, and what they are written out as.
Grammar row_reduction_grammar() {
  return {"reductions",
          {{"x", {3, 4}}},
          {{"reduce-sum", "axes=1", {"ab"}},
           {"reduce-mean", "axes=1", {"ab"}},
           {"reduce-max", "axes=1", {"ab"}},
           {"reduce-min", "axes=1", {"ab"}},
           {"reduce-l1", "axes=1", {"ab"}},
           {"reduce-l2", "axes=1", {"ab"}},
           {"reduce-sum-square", "axes=1", {"ab"}},
           {"reduce-log-sum", "axes=1", {"ab"}},
           {"reduce-log-sum-exp", "axes=1", {"ab"}},
           {"softmax", "axis=1", {"ab"}},
           {"log-softmax", "axis=1", {"ab"}},
           {"abs", "", {"ab"}},
           {"neg", "", {"ab"}},
           {"exp", "", {"ab"}},
           {"log", "", {"ab"}},
           {"sqrt", "", {"ab"}},
           {"power", "exponent=2", {"ab"}},
           {"mul", "", {"ab", "ab"}},
           {"sub", "", {"ab", "a1"}},
           {"div", "", {"ab", "a1"}}}};
}

/// What repeats elements, before and after what acts on them.
Grammar spread_grammar() {
  return {"spread",
          {{"x", {1, 3}}, {"y", {2, 3}}},
          {{"expand", "shape~2,3", {"13"}},
           {"tile", "repeats=2,1", {"13"}},
           {"tile", "repeats=1,2", {".3"}},
           {"concat", "axis=0", {"13", "13"}},
           {"add", "", {"ab", "ab"}},
           {"mul", "", {"ab", "ab"}},
           {"add", "", {"ab", "1b"}},
           {"mul", "", {"ab", "1b"}},
           {"relu", "", {"ab"}},
           {"reduce-sum", "axes=0", {"ab"}},
           {"reduce-mean", "axes=0", {"ab"}},
           {"reduce-max", "axes=0", {"ab"}}}};
}

/// Whole images.
Grammar whole_image_grammar() {
  return {"whole-images",
          {{"x", {2, 3, 4, 4}}},
          {{"global-maxpool", "", {"abcd"}},
           {"global-avgpool", "", {"abcd"}},
           {"reduce-max", "axes=2,3", {"abcd"}},
           {"reduce-mean", "axes=2,3", {"abcd"}},
           {"reduce-max", "axes=3", {"abcd"}},
           {"reduce-max", "axes=2", {"abcd"}},
           {"reduce-mean", "axes=3", {"abcd"}},
           {"reduce-mean", "axes=2", {"abcd"}},
           {"relu", "", {"abcd"}},
           {"neg", "", {"abcd"}},
           {"reshape", "shape=2,3,16", {"2344"}},
           {"reduce-max", "axes=2", {"abc"}},
           {"reduce-mean", "axes=2", {"abc"}}}};
}

}  // namespace

std::vector<Grammar> layer_grammars() {
  return {row_reduction_grammar(), spread_grammar(), whole_image_grammar()};
}

}  // namespace regraft::gen
