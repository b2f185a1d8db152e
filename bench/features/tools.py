"""The five tools, each with its documented ways to optimise a model."""
import functools
import os
import pathlib
import sys

import onnx

import trial
from trial import Tool, Way

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("REGRAFT", str(ROOT / "build/release/regraft"))
BIN = pathlib.Path(sys.executable).parent
sys.path.insert(0, str(ROOT / "python"))


class Regraft(Tool):
    name = "regraft"
    program = [PROGRAM, "optimize", "--no-measure", "--search-time", "2", "--memory", "4",
               "--quiet"]
    help_commands = [[PROGRAM, command, "--help"]
                     for command in ("optimize", "simplify", "validate", "check", "rules", "stats")]

    def __init__(self):
        import regraft
        limits = dict(memory=4, progress=False)
        self.optimize = functools.partial(regraft.optimize, no_measure=True, search_time=2,
                                          **limits)
        self.ways = [
            Way("", "regraft.optimize(m, no_measure=True).model",
                lambda m: self.optimize(m).model),
            Way("`portable`", "regraft.optimize(m, no_measure=True, portable=True).model",
                lambda m: self.optimize(m, portable=True).model),
            Way("`simplify`", "regraft.simplify(m)",
                lambda m: regraft.simplify(m, progress=False)[0]),
            Way('`cost="roofline"`', 'regraft.optimize(m, no_measure=True, cost="roofline").model',
                lambda m: self.optimize(m, cost="roofline").model)]
        self.limited = [Way("", 'regraft.optimize(m, max_size="100kB")',
                            lambda m: self.optimize(m, max_size="100kB").model)]
        self.mains = [("regraft.optimize", lambda m: self.optimize(m).model)]
        self.described = [regraft.optimize, regraft.simplify, regraft.validate, regraft.check]
        self.namespaces = [regraft]
        self.package = regraft

    def path_to_path(self, source, target):
        self.optimize(str(source), out=str(target))

    def usual(self, source, target):
        self.package.optimize(str(source), out=str(target), memory=4, progress=False)


class Onnxsim(Tool):
    name = "onnxsim"
    program = [BIN / "onnxsim"]
    help_commands = [[BIN / "onnxsim", "--help"]]

    def __init__(self):
        import onnxsim
        self.package = onnxsim

        def simplified(**options):
            def call(model):
                made, fine = onnxsim.simplify(model, **options)
                if not fine:
                    raise RuntimeError("its own check failed")
                return made
            return call
        self.ways = [
            Way("", "onnxsim.simplify(m)", simplified()),
            Way("`include_subgraph`", "onnxsim.simplify(m, include_subgraph=True)",
                simplified(include_subgraph=True)),
            Way("`inline_functions`", "onnxsim.simplify(m, inline_functions=True)",
                simplified(inline_functions=True)),
            Way("`mutable_initializer`", "onnxsim.simplify(m, mutable_initializer=True, "
                "initializers_as_constants=False)",
                simplified(mutable_initializer=True, initializers_as_constants=False)),
            *self.optional(simplified)]
        self.limited = [Way("", 'onnxsim.simplify(m, tensor_size_threshold="1KB")',
                            simplified(tensor_size_threshold="1KB"))]
        self.mains = [("onnxsim.simplify", lambda m: onnxsim.simplify(m)[0])]
        self.described = [onnxsim.simplify]
        self.namespaces = [onnxsim]

    @staticmethod
    def optional(simplified):
        """Its passes that are left out by default, one by one, and those of fusions together."""
        listed = trial.run([BIN / "onnxsim", "--list-other-optimizers"]).stdout.split()
        named = [n for n in listed if n.startswith(("fuse_", "eliminate_"))]
        return [Way(f"`{n}` asked for", f"onnxsim.simplify(m, extra_optimizers=['{n}'])",
                    simplified(extra_optimizers=[n])) for n in named]

    def path_to_path(self, source, target):
        self.package.simplify(str(source), output_path=str(target))


class Onnxslim(Tool):
    name = "onnxslim"
    program = [BIN / "onnxslim"]
    help_commands = [[BIN / "onnxslim", "--help"]]

    def __init__(self):
        import onnxslim
        from onnxslim import argparser
        self.package = onnxslim
        self.ways = [Way("", "onnxslim.slim(m)", onnxslim.slim)]
        self.limited = [Way("", "onnxslim.slim(m, size_threshold=1000)",
                            lambda m: onnxslim.slim(m, size_threshold=1000))]
        self.mains = [("onnxslim.slim", onnxslim.slim)]
        self.described = [onnxslim.slim, *(getattr(argparser, n) for n in (
            "ModelArguments", "CheckerArguments", "OptimizationArguments",
            "ModificationArguments"))]
        self.namespaces = [onnxslim]

    def path_to_path(self, source, target):
        self.package.slim(str(source), str(target), save_as_external_data=True)


class Onnxruntime(Tool):
    name = "onnxruntime"
    program = [sys.executable, "-m", "onnxruntime.transformers.optimizer", "--opt_level", "0",
               "--input"]
    help_commands = [[sys.executable, "-m", "onnxruntime.transformers.optimizer", "--help"]]

    def __init__(self):
        import onnxruntime
        from onnxruntime.transformers import optimizer
        onnxruntime.set_default_logger_severity(4)
        self.package, self.transformers = onnxruntime, optimizer
        self.ways = [
            *(Way(note, f"InferenceSession, ORT_ENABLE_{level}, optimized_model_filepath",
                  functools.partial(self.offline, level=level))
              for note, level in (("", "BASIC"), ("level extended", "EXTENDED"),
                                  ("level all", "ALL"))),
            Way("transformers", "transformers.optimizer.optimize_model(m, opt_level=0)",
                lambda m: optimizer.optimize_model(m, opt_level=0).model),
            Way("transformers", "transformers.optimizer.optimize_model(m, num_heads=2, "
                "hidden_size=16, opt_level=0)",
                lambda m: optimizer.optimize_model(m, num_heads=2, hidden_size=16,
                                                   opt_level=0).model)]
        self.limited = self.ways[:1]
        self.mains = [("InferenceSession", self.session),
                      ("transformers.optimizer.optimize_model",
                       lambda m: optimizer.optimize_model(m, opt_level=0).model)]
        self.described = [optimizer.optimize_model, optimizer.optimize_by_onnxruntime]
        self.namespaces = [onnxruntime, onnxruntime.SessionOptions, optimizer]

    def options(self, level="ALL", out=None):
        made = self.package.SessionOptions()
        made.graph_optimization_level = getattr(self.package.GraphOptimizationLevel,
                                                f"ORT_ENABLE_{level}")
        made.log_severity_level = 4
        made.intra_op_num_threads = 1
        if out:
            made.optimized_model_filepath = str(out)
        return made

    def offline(self, model, level="ALL", source=None, disabled=()):
        with trial.folder() as place:
            out = place / "out.onnx"
            given = source or model.SerializeToString()
            self.package.InferenceSession(given, self.options(level, out),
                                          providers=["CPUExecutionProvider"],
                                          disabled_optimizers=list(disabled))
            return onnx.load(out)

    def session(self, model):
        with trial.folder() as place:
            self.package.InferenceSession(model, self.options("ALL", place / "out.onnx"),
                                          providers=["CPUExecutionProvider"])
            return onnx.load(place / "out.onnx")

    def path_to_path(self, source, target):
        made = self.options("ALL", target)
        made.add_session_config_entry("session.optimized_model_external_initializers_file_name",
                                      f"{target.stem}.data")
        made.add_session_config_entry(
            "session.optimized_model_external_initializers_min_size_in_bytes", "1000")
        self.package.InferenceSession(str(source), made, providers=["CPUExecutionProvider"])


class Onnxscript(Tool):
    name = "onnxscript"
    program = None
    help_commands = []

    def __init__(self):
        import onnx_ir
        import onnxscript
        from onnx_ir.passes import common
        from onnxscript import optimizer, rewriter, version_converter
        from onnxscript.rewriter import onnx_fusions, ort_fusions
        self.package, self.ir, self.passes = onnxscript, onnx_ir, common
        self.optimizer, self.rewriter, self.converter = optimizer, rewriter, version_converter

        def on_ir(function):
            def call(model):
                given = onnx_ir.from_proto(model)
                return onnx_ir.to_proto(function(given) or given)
            return call

        def passed(name):
            options = {"size_limit": 10**9} if name == "DeduplicateInitializersPass" else {}
            one = getattr(common, name)(**options)
            return on_ir(lambda m: one(m).model)

        self.on_ir = on_ir
        self.ways = [
            Way("", "onnxscript.optimizer.optimize(m)", optimizer.optimize),
            Way("`rewriter`", "onnxscript.rewriter.rewrite(m)", rewriter.rewrite),
            Way("`rewriter`, then `optimizer`", "optimizer.optimize(rewriter.rewrite(m))",
                lambda m: optimizer.optimize(rewriter.rewrite(m))),
            *(Way(f"`{n}`", f"onnx_ir.passes.common.{n}", passed(n))
              for n in ("CommonSubexpressionEliminationPass", "DeduplicateInitializersPass",
                        "IdentityEliminationPass", "RemoveUnusedNodesPass", "InlinePass")),
            Way("`onnx_fusions`", "onnxscript.rewriter.onnx_fusions.fuse",
                on_ir(lambda m: onnx_fusions.fuse(m) and None)),
            Way("`ort_fusions`", "onnxscript.rewriter.ort_fusions.optimize_for_ort",
                on_ir(lambda m: ort_fusions.optimize_for_ort(m)[0])),
            Way("`rules.fusion`", "shape inference, then rules.fusion._layer_norm."
                "fuse_layer_normalization", on_ir(self.norms_fused)),
            Way("`rules.common`", "rewrite(m, all rules of onnxscript.rewriter.rules.common)",
                lambda m: rewriter.rewrite(m, self.common_rules()))]
        self.limited = [Way("", "onnxscript.optimizer.optimize(m, output_size_limit=1000)",
                            lambda m: optimizer.optimize(m, output_size_limit=1000))]
        self.mains = [("onnxscript.optimizer.optimize", optimizer.optimize)]
        self.described = [optimizer.optimize, rewriter.rewrite, optimizer.fold_constants_ir,
                          rewriter.RewriteRule, ort_fusions.optimize_for_ort]
        self.namespaces = [optimizer, rewriter, ort_fusions, common, onnx_ir.passes, onnx_ir]

    def norms_fused(self, model):
        from onnxscript.rewriter.rules.fusion import _layer_norm
        self.passes.ShapeInferencePass()(model)
        _layer_norm.fuse_layer_normalization(model)

    @staticmethod
    def common_rules():
        """All ready-made rules that are listed, those too that are not applied by default."""
        from onnxscript.rewriter import RewriteRule
        from onnxscript.rewriter.rules import common
        return [rule for name in dir(common)
                if isinstance(rule := getattr(common, name), RewriteRule)
                and not name.startswith("gemm_to_matmul")]

    def path_to_path(self, source, target):
        model = self.ir.load(source)
        self.optimizer.optimize(model)
        self.ir.save(model, target, external_data=f"{target.stem}.data")


TOOLS = {tool.name: tool for tool in (Regraft, Onnxsim, Onnxslim, Onnxruntime, Onnxscript)}
