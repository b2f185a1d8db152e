#include "gen/grammar/grammars.h"

namespace regraft::gen {
namespace {

/// Layer normalisation by its moments.
Grammar layer_norm_grammar() {
  return {"layer-norm",
          {{"x", {2, 3, 4}}, {"s", {4}}, {"b", {4}}},
          {{"reduce-mean", "axes=-1", {"...@x"}, Scope::Given, "", "mean"},
           {"sub", "", {"abc@x", "ab1@mean"}, Scope::Given, "", "centred"},
           {"power", "exponent=2", {"abc@centred"}, Scope::Given, "", "squares"},
           {"reduce-mean", "axes=-1", {"abc@squares"}, Scope::Given, "", "v"},
           {"full", "shape= value=0.5", {}, Scope::Free, "", "e"},
           {"full", "shape~4 value=1", {}, Scope::Free, "", "one"},
           {"add", "", {"ab1@v", "-@e"}},
           {"sqrt", "", {"ab1"}},
           {"reciprocal", "", {"ab1"}},
           {"div", "", {"abc@centred", "ab1"}},
           {"mul", "", {"abc@centred", "ab1"}},
           {"mul", "", {"abc", "c@s"}},
           {"add", "", {"abc", "c@b"}},
           {"layernorm", "axis=-1 epsilon=0.5", {"abc@x", "c@"}},
           {"layernorm", "axis=-1 epsilon=0.5", {"abc@x", "c@", "c@b"}}},
          2};
}

/// The variance in its forms.
Grammar variance_grammar() {
  return {"variance",
          {{"x", {3, 4}}},
          {{"reduce-mean", "axes=-1", {"ab@x"}, Scope::Given, "", "mean"},
           {"sub", "", {"ab@x", "a1@mean"}, Scope::Given, "", "centred"},
           {"power", "exponent=2", {".."}},
           {"mul", "", {"ab", "ab"}},
           {"reduce-mean", "axes=-1", {"ab"}},
           {"sub", "", {"a1", "a1"}},
           {"add", "", {"a1", "a1"}}},
          2,
          true};
}

/// A scale in front of what is centred: factors of a layer normalisation.
Grammar norm_factor_grammar() {
  return {"norm-factors",
          {{"x", {2, 3, 4}}, {"s", {4}}, {"b", {4}}},
          {{"reduce-mean", "axes=-1", {"abc@x"}, Scope::Given, "", "mean"},
           {"sub", "", {"abc@x", "ab1@mean"}, Scope::Given, "", "centred"},
           {"mul", "", {"abc@centred", "abc@centred"}, Scope::Given, "", "squares"},
           {"reduce-mean", "axes=-1", {"abc@squares"}, Scope::Given, "", "v"},
           {"full", "shape= value=0.5", {}, Scope::Free, "", "e"},
           {"full", "shape~4 value=1", {}, Scope::Free, "", "one"},
           {"add", "", {"ab1@v", "-@e"}, Scope::Given, "", "shifted"},
           {"sqrt", "", {"ab1@shifted"}, Scope::Given, "", "root"},
           {"reciprocal", "", {"ab1@root"}, Scope::Given, "", "inverse"},
           {"mul", "", {"ab1@inverse", "c@s"}, Scope::Given, "", "factor"},
           {"mul", "", {"abc@x", "abc@factor"}},
           {"mul", "", {"ab1@mean", "abc@factor"}},
           {"mul", "", {"abc@centred", "abc@factor"}},
           {"sub", "", {"c@b", "abc"}},
           {"add", "", {"abc", "abc"}},
           {"add", "", {"abc", "c@b"}},
           {"layernorm", "axis=-1 epsilon=0.5", {"abc@x", "c@s", "c@b"}}},
          2};
}

/// Normalisation by the root mean square.
Grammar rms_grammar() {
  return {"rms-norm",
          {{"x", {2, 3, 4}}, {"g", {4}}},
          {{"power", "exponent=2", {"abc@x"}},
           {"mul", "", {"abc@x", "abc@x"}},
           {"reduce-mean", "axes=-1", {"abc"}},
           {"full", "shape= value=0.5", {}, Scope::Free, "", "e"},
           {"full", "shape~4 value=1", {}, Scope::Free, "", "one"},
           {"add", "", {"ab1", "-@e"}},
           {"sqrt", "", {"ab1"}},
           {"reciprocal", "", {"ab1"}},
           {"div", "", {"abc@x", "ab1"}},
           {"mul", "", {"abc@x", "ab1"}},
           {"mul", "", {"abc", "c@g"}},
           {"rmsnorm", "axis=-1 epsilon=0.5", {"abc@x", "c@"}}},
          3};
}

/// What normalisations do not see, and what joins them.
Grammar invariance_grammar() {
  return {
      "norm-invariances",
      {{"x", {2, 3, 4}, 2}, {"c", {2, 3, 1}}, {"s", {4}}, {"b", {4}}, {"d", {4}}, {"w", {4, 5}}},
      {{"add", "", {"abc@", "ab1@"}},
       {"sub", "", {"abc@", "ab1"}},
       {"add", "", {"abc", "abc@"}},
       {"add", "", {"abc@", "c@d"}},
       {"mul", "", {"abc", "c@"}},
       {"reduce-mean", "axes=-1", {"abc@"}},
       {"full", "shape~4 value=1", {}, Scope::Free},
       {"layernorm", "axis=-1 epsilon=0.5", {"abc", "c@s", "c@b"}},
       {"layernorm", "axis=-1 epsilon=0.5", {"abc", "c@"}},
       {"rmsnorm", "axis=-1 epsilon=0.5", {"abc", "c@"}},
       {"skip-layernorm", "epsilon=0.5", {"abc", "abc", "c@s", "c@b"}},
       {"skip-layernorm", "epsilon=0.5", {"abc", "abc", "c@s", "c@b", "c@d"}},
       {"skip-rmsnorm", "epsilon=0.5", {"abc", "abc", "c@s"}}},
      0};
}

/// Gains of normalisations move into the linear layer behind.
Grammar gain_grammar() {
  return {"norm-gains",
          {{"x", {2, 3, 4}}, {"s", {4}}, {"c", {4}}, {"w", {4, 5}}, {"b", {5}}},
          {{"matmul", "", {"abc", "cd"}},
           {"mul", "", {"ab@w", "a1"}},
           {"reshape", "shape~4,1", {"4"}},
           {"mul", "", {"abc", "c@s"}},
           {"full", "shape~4 value=1", {}, Scope::Free},
           {"layernorm", "axis=-1 epsilon=0.5", {"abc@x", "c@"}},
           {"rmsnorm", "axis=-1 epsilon=0.5", {"abc@x", "c@"}}},
          1};
}

/// A shift of rows through weights.
Grammar row_shift_grammar() {
  return {"row-shifts",
          {{"x", {2, 3, 4}}, {"s", {4}}, {"c", {4}}, {"w", {4, 5}}, {"b", {5}}},
          {{"matmul", "", {"abc", "cd@w"}},
           {"matmul", "", {"1a", "ab@w"}},
           {"reshape", "shape~1,4", {"4"}},
           {"reshape", "shape~5", {"15"}},
           {"add", "", {"abc", "c@c"}},
           {"add", "", {"abc", "c"}},
           {"add", "", {"abc", "1c"}},
           {"add", "", {"a", "a@b"}},
           {"add", "", {"1a", "a@b"}},
           {"full", "shape~4 value=0", {}, Scope::Free, "", "zero"},
           {"layernorm", "axis=-1 epsilon=0.5", {"abc@x", "c@s", "c@c"}},
           {"layernorm", "axis=-1 epsilon=0.5", {"abc@x", "c@s"}}},
          1};
}

/// Images normalised over their pixels, by their moments.
Grammar image_norm_grammar() {
  return {"image-norms",
          {{"x", {2, 3, 2, 4}}, {"s", {3}}, {"b", {3}}},
          {{"reduce-mean", "axes=2,3", {"abcd@x"}, Scope::Given, "", "mean"},
           {"sub", "", {"abcd@x", "ab11@mean"}, Scope::Given, "", "centred"},
           {"mul", "", {"abcd@centred", "abcd@centred"}, Scope::Given, "", "squares"},
           {"reduce-mean", "axes=2,3", {"abcd@squares"}, Scope::Given, "", "v"},
           {"full", "shape= value=0.5", {}, Scope::Free, "", "e"},
           {"full", "shape~3 value=1", {}, Scope::Free, "", "one"},
           {"full", "shape~3 value=0", {}, Scope::Free, "", "zero"},
           {"add", "", {"ab11@v", "-@e"}},
           {"sqrt", "", {"ab11"}},
           {"div", "", {"abcd@centred", "ab11"}},
           {"reshape", "shape~3,1,1", {"3@"}},
           {"mul", "", {"abcd", "b11"}},
           {"add", "", {"abcd", "b11"}},
           {"instancenorm", "epsilon=0.5", {"abcd@x", "b@", "b@"}}},
          2};
}

/// Groups of channels.
Grammar group_norm_grammar() {
  return {"group-norms",
          {{"x", {2, 4, 2, 3}}, {"s", {4, 1, 1}}, {"v", {4}}, {"u", {4}}, {"g", {2}, 2}},
          {{"full", "shape=2 value=1", {}, Scope::Free, "", "one"},
           {"full", "shape=2 value=0", {}, Scope::Free, "", "zero"},
           {"full", "shape~4,2,3 value=1", {}, Scope::Free, "", "ones"},
           {"reshape", "shape=2,2,12", {"2423@x"}},
           {"instancenorm", "epsilon=0.5", {"abc", "b@one", "b@zero"}},
           {"reshape", "shape~2,4,2,3", {"22."}},
           {"reshape", "shape~4", {"411"}},
           {"reshape", "shape~4,1,1", {"4@"}},
           {"reshape", "shape=2,1", {"2@"}},
           {"expand", "shape=2,2", {"21"}},
           {"reshape", "shape~4", {"22"}},
           {"mul", "", {"abcd", "b11"}},
           {"add", "", {"abcd", "b11"}},
           {"layernorm", "axis=1 epsilon=0.5", {"abcd@x", "bcd@ones"}},
           {"groupnorm", "num_groups=1 epsilon=0.5", {"abcd@x", "b", "b"}},
           {"groupnorm", "num_groups=2 epsilon=0.5", {"abcd@x", "b", "b"}},
           {"groupnorm", "num_groups=2 by_group=1 epsilon=0.5", {"abcd@x", "2@", "2@"}}},
          2};
}

/// Sums of squares and other sizes of rows.
Grammar length_grammar() {
  return {"lengths",
          {{"x", {3, 4}}},
          {{"mul", "", {"ab@x", "ab@x"}},
           {"abs", "", {"ab@x"}},
           {"reduce-sum", "axes=-1", {"ab"}},
           {"reduce-l1", "axes=-1", {"ab"}},
           {"reduce-l2", "axes=-1", {"ab"}},
           {"reduce-sum-square", "axes=-1", {"ab"}},
           {"sqrt", "", {"a1"}},
           {"div", "", {"ab@x", "a1"}},
           {"lp-norm", "axis=-1", {"ab@x"}},
           {"lp-norm", "axis=-1 p=1", {"ab@x"}}},
          2,
          true};
}

/// Batch normalisation behind linear layers and transposed convolutions.
Grammar batch_norm_grammar() {
  return {"batch-norms",
          {{"x", {2, 3}},
           {"w", {3, 4}},
           {"u", {4, 3}},
           {"c", {4}},
           {"a", {4}},
           {"b", {4}},
           {"m", {4}},
           {"v", {4}}},
          {{"full", "shape= value=0.5", {}, Scope::Free, "", "e"},
           {"add", "", {"a@v", "-@e"}, Scope::Given, "", "shifted"},
           {"sqrt", "", {"a@shifted"}, Scope::Given, "", "root"},
           {"div", "", {"a@a", "a@root"}, Scope::Given, "", "gain"},
           {"matmul", "", {"ab@x", "bc"}},
           {"gemm", "", {"ab@x", "bc", "c"}},
           {"gemm", "transB=1", {"ab@x", "cb", "c"}},
           {"mul", "", {"ab@w", "b@gain"}},
           {"reshape", "shape~4,1", {"4@gain"}, Scope::Given, "", "column"},
           {"sub", "", {"4@c", "4@m"}, Scope::Given, "", "centred"},
           {"mul", "", {"43@u", "41@column"}},
           {"mul", "", {"a@", "a@gain"}},
           {"sub", "", {"a@b", "a"}},
           {"add", "", {"a@b", "a"}},
           {"batchnorm", "epsilon=0.5", {"ab", "b@a", "b@b", "b@m", "b@v"}}},
          2};
}

/// Scaled channels in front of batch normalisation.
Grammar scaled_norm_grammar() {
  return {"scaled-norms",
          {{"x", {2, 3, 2, 2}}, {"k", {3, 1, 1}}, {"a", {3}}, {"b", {3}}, {"m", {3}}, {"v", {3}}},
          {{"full", "shape= value=0.5", {}, Scope::Free, "", "e"},
           {"full", "shape~3 value=0", {}, Scope::Free, "", "zero"},
           {"add", "", {"a@v", "-@e"}, Scope::Given, "", "shifted"},
           {"sqrt", "", {"a@shifted"}, Scope::Given, "", "root"},
           {"div", "", {"a@a", "a@root"}, Scope::Given, "", "gain"},
           {"reshape", "shape~3", {"311@k"}, Scope::Given, "", "k1"},
           {"mul", "", {"3@a", "3@k1"}, Scope::Given, "", "ak"},
           {"mul", "", {"3@m", "3@gain"}, Scope::Given, "", "offset"},
           {"sub", "", {"a@b", "a@offset"}},
           {"mul", "", {"abcd@x", "b11@k"}},
           {"batchnorm", "epsilon=0.5", {"abcd", "b@", "b", "b@", "b@v"}, Scope::Once}},
          0};
}

/// Transposed convolutions and what scales their channels.
Grammar transposed_grammar() {
  return {"transposed-convs",
          {{"x", {1, 2, 3, 3}},
           {"w", {2, 3, 2, 2}},
           {"p", {2, 3, 1, 1}},
           {"c", {3}},
           {"a", {3}},
           {"b", {3}},
           {"m", {3}},
           {"v", {3}}},
          {{"full", "shape= value=0.5", {}, Scope::Free, "", "e"},
           {"add", "", {"a@v", "-@e"}, Scope::Given, "", "shifted"},
           {"sqrt", "", {"a@shifted"}, Scope::Given, "", "root"},
           {"div", "", {"a@a", "a@root"}, Scope::Given, "", "gain"},
           {"reshape", "shape~3,1,1", {"3@gain"}, Scope::Given, "", "column"},
           {"sub", "", {"3@c", "3@m"}, Scope::Given, "", "centred"},
           {"mul", "", {"2322@w", "311@column"}},
           {"sub", "", {"a@b", "a"}},
           {"mul", "", {"a@", "a@gain"}},
           {"add", "", {"a@b", "a"}},
           {"transpose", "perm=1,0,2,3", {"ab11"}},
           {"conv", "", {"1233", "ba11"}},
           {"conv-transpose", "", {"1233", "ab11"}},
           {"conv-transpose", "strides=2,2 pads=1,0,1,0", {"1233", "ab22", "b"}},
           {"conv-transpose", "strides=2,2 pads=1,0,1,0", {"1233", "ab22"}},
           {"batchnorm", "epsilon=0.5", {"1367", "b@a", "b@b", "b@m", "b@v"}},
           {"batchnorm", "epsilon=0.5", {"1346", "b@a", "b@b", "b@m", "b@v"}}},
          2};
}

}  // namespace

std::vector<Grammar> norm_themes() {
  return {layer_norm_grammar(), variance_grammar(), norm_factor_grammar(), rms_grammar(),
          invariance_grammar(), gain_grammar(),     row_shift_grammar(),   image_norm_grammar(),
          group_norm_grammar(), length_grammar(),   batch_norm_grammar(),  scaled_norm_grammar(),
          transposed_grammar()};
}

}  // namespace regraft::gen
