"""The features of the table: (section, [(key, name, how it was tried)])."""
SECTIONS = [
    ("What goes in and comes out", [
        ("path", "a path", "The main function gets the path of a file."),
        ("bytes", "bytes", "It gets the bytes of a file."),
        ("proto", "`onnx.ModelProto`", "It gets the message of the `onnx` package."),
        ("onnx_ir", "`onnx_ir.Model`", "It gets a model of the `onnx_ir` package."),
        ("unchanged", "the argument is not changed", "A model with equal nodes is optimised, and "
         "what was given is compared with what it was, also as an `onnx_ir.Model`."),
        ("external in", "external data in", "Weights lie in a file beside the model; the result is "
         "run beside the original."),
        ("external out", "external data out", "The result's weights must lie in a file beside it, "
         "and it must compute the same."),
        ("huge", "a model beyond 2 GB", "A product with a weight of 2.1 GB in a file, behind an "
         "`Identity` that must go, from path to path."),
        ("oldest", "operator set 7", "A batch normalisation, a `Dropout` and equal nodes at "
         "opset 7; fewer nodes must come out, computing the same."),
        ("newest", "operator set 26", "The same with a `Gelu` at opset 26."),
        ("bfloat16", "bfloat16", "A constant to fold, an `Identity` and equal nodes in bfloat16; "
         "all must be done and the type stay."),
        ("float16", "float16", "The same in float16."),
        ("qdq", "int8 QDQ is kept", "A quantised product behind transpositions that cancel; these "
         "must go, and its `QuantizeLinear` stay."),
        ("custom", "custom operators are carried", "A node of an unknown domain with attributes; "
         "it must stay as it is, and what is around it be optimised."),
        ("overridable", "defaults of inputs can be replaced", "An initialiser that is an input as "
         "well; the result is run with another value of it."),
        ("open sizes", "open sizes stay open", "Two named sizes; they must be in the result, which "
         "is run at two sizes."),
        ("fix size", "fix a named size", "An option that makes the size `batch` 8 and leaves the "
         "other open."),
        ("fix shape", "fix the shape of an input", "An option that gives an input's whole shape."),
        ("names", "names and metadata stay", "The name and the doc string of a node that nothing "
         "touches, and the model's metadata, beside an `Identity` that goes."),
        ("size limit", "limit on what folding adds", "An `Expand` of 8 bytes to 4 MB; with the "
         "option it must not be folded into the file."),
        ("to float16", "conversion to float16", "The weights of the result must be float16."),
        ("quantise", "quantisation", "A product must become one of integers."),
        ("opset", "conversion of the operator set", "The result must import the version asked "
         "for."),
        ("outputs", "drop outputs", "Of three outputs one is asked for; what the others need must "
         "be gone."),
    ]),
    ("What it simplifies", [
        ("constants", "constant folding", "The sum of two constants."),
        ("shapes", "computed shapes", "A flattening by `Shape`, `Gather` and `Concat`, all sizes "
         "known; only the `Reshape` may be left."),
        ("open shapes", "computed shapes, open batch", "The same with an open batch, run at two "
         "sizes."),
        ("equal nodes", "common subexpressions", "Two equal nodes, and what follows them."),
        ("dead", "dead code", "Nodes whose values nobody reads."),
        ("nothing", "what does nothing", "`Identity`, `Dropout`, `Cast`, two transpositions, "
         "`Reshape` to the same, times 1, plus 0, a `Pad` of 0; all must go."),
        ("equal weights", "equal initialisers become one", "Two equal weights of 16 kB, else of "
         "1 kB."),
        ("constant if", "an `If` that is decided", "Its condition is a constant; the branch must "
         "take its place."),
        ("if", "bodies of `If`", "In both branches an `Identity`, a constant to fold and two equal "
         "nodes."),
        ("loop", "bodies of `Loop`", "The same in the body of a `Loop`."),
        ("scan", "bodies of `Scan`", "The same in the body of a `Scan`."),
        ("functions", "local functions", "A function with an `Identity` and equal nodes, called "
         "twice; inlined or inside, both must go."),
        ("functions stay", "local functions stay functions", "The same; the function must be "
         "optimised and still be called."),
    ]),
    ("What it rewrites", [
        ("batch norm", "`Conv` and `BatchNormalization`", "One after the other, with a bias."),
        ("conv scale", "`Conv`, times and plus constants", "A scale and a shift for each channel, "
         "else for all."),
        ("linear", "`MatMul` and `Add` to `Gemm`", "A layer with a bias."),
        ("branches", "parallel convolutions", "Kernels of 3 and 1 whose results are added; one "
         "convolution must be left."),
        ("distributed", "x V + x W = x (V + W)", "Two products of one input, added; one must be "
         "left."),
        ("parallel", "products of one input merged", "Three, as of attention; one must be left."),
        ("chain", "a chain of products reordered", "(A B) v with matrices A, B and a vector v; no "
         "product of matrices may be left."),
        ("gelu", "GELU", "The formula with `Erf`, at opset 17 and 20; one operator, of whatever "
         "domain, must be there."),
        ("layer norm", "LayerNormalization", "The formula with `ReduceMean`, at opset 17 and 20."),
        ("attention", "attention", "A layer of BERT with a mask, and self-attention without one at "
         "opset 17 and 23; an attention operator must be there."),
        ("standard", "ONNX's own operators alone", "GELUs; some way to use the tool must leave "
         "fewer nodes, none of another domain."),
        ("predicted", "predicted cost", "A time or count of the model before and after."),
        ("measured", "choice by measured time", "The result must say what it was timed in on this "
         "machine, and the times of original and result."),
    ]),
    ("What one can trust", [
        ("check", "numeric check of the result", "On by option or by default; where one's own "
         "rule is wrong, it must say so."),
        ("compare", "numeric comparison of two models", "A right pair and a wrong pair are given."),
        ("proof", "proof that two models are equal", "Eight pairs, made by onnxsim, onnxslim, "
         "onnxscript and by hand, inputs in [-1, 1] where ranges are asked for."),
        ("open proof", "proof for all open sizes", "The tool's own result of a model with two open "
         "sizes."),
        ("certificate", "a certificate that can be checked again", "What the optimisation recorded "
         "is given to a checker, with the right result and with another model."),
        ("counterexample", "counterexample of a wrong rewrite", "A folded batch normalisation with "
         "wrong biases; inputs that show it must come out."),
        ("own rules", "own rules", "A rule of one's own, for instance for Neg and Exp, must be "
         "applied."),
        ("own proved", "own rules are proved", "A wrong rule of one's own must be refused."),
        ("left out", "single rules left out", "One is named; its rewrite must stay away."),
        ("bisect", "bisection", "One's own test fails after one step; it must be named."),
        ("deterministic", "the same result each time", "Three processes with different hash "
         "seeds; the same bytes."),
    ]),
    ("What it tells", [
        ("table", "table of operators before and after", "The program's output is looked at."),
        ("which rule", "which rule did what", "The name of the rule of a fusion must be found in "
         "what the tool returns or logs."),
        ("explain", "why something was not done", "A section or a log that names a node and the "
         "reason."),
        ("json", "report as JSON", "A file is asked for and read."),
        ("html", "report as a page", "A file is asked for and must hold drawings."),
        ("graphs", "both graphs drawn", "The same, of the whole model before and after."),
        ("stats", "statistics of a model", "Operators of one model, not optimised."),
        ("progress", "progress", "A function must be called while it works."),
    ]),
    ("How it runs", [
        ("program", "command line", "Two paths; the exit code and the file are looked at."),
        ("types", "Python API with types", "The marker `py.typed`, and annotations of all "
         "parameters of the main function."),
        ("c", "C interface", "A function of a library in the installed package is called or looked "
         "up by ctypes."),
        ("gym", "reinforcement-learning environment", "It is made by gymnasium, and steps."),
        ("time", "time limit", "4,000 nodes with a limit of one second."),
        ("memory", "memory limit", "A folding that needs more than the limit; the process's peak "
         "must be below it."),
        ("interrupt", "Ctrl-C gives the best so far", "SIGINT after a quarter of the time; it must "
         "return soon, with a model that has fewer nodes."),
        ("broken", "broken files: one line and an exit code", "Half a file, a text, and a graph "
         "with a value that nothing makes."),
        ("no runtime", "works without onnxruntime", "Constants are folded while it cannot be "
         "imported."),
        ("wheel", "wheel, MB", "`pip download --no-deps`, or the wheel built here."),
        ("dependencies", "required packages", "Of its metadata, and with theirs."),
        ("pythons", "Python versions", "Its metadata and the wheel's tag."),
        ("platforms", "platforms", "Whether `pip` finds a wheel for Linux, Windows and macOS."),
    ]),
]
NAMES = {key: name for _, entries in SECTIONS for key, name, _ in entries}
