"""Which pass of a tool makes a mistake: its absence repairs it, or it makes it alone."""
import optimisers

ONNXRUNTIME = """ConstantFolding ConstantFoldingDQ EliminateIdentity EliminateSlice
UnsqueezeElimination EliminateDropout ExpandElimination FuseReluClip CastElimination
PreShapeNodeElimination NoopElimination DivMulFusion CastChainElimination GemmSumFusion
GemmTransposeFusion NotWhereFusion ConvAddFusion ConvMulFusion ConvBNFusion PadFusion PadFusion
MatmulBNFusion MatMul_BatchNormalization_Fusion LabelEncoderFusion ClipQuantRewrite
ReluQuantRewrite ClipQuantFusion ReluQuantFusion Pad_Fusion GemmActivationFusion
MatMulIntegerToFloatFusion DynamicQuantizeMatMulFusion ConvActivationFusion
ConvAddActivationFusion GeluFusionL1 GeluFusionL2 LayerNormFusionL1 LayerNormFusionL2
SimplifiedLayerNormFusion AttentionFusion EmbedLayerNormFusion GatherSliceToSplitFusion
GatherToSliceFusion MatmulTransposeFusion BiasGeluFusion SkipLayerNormFusion
BiasSkipLayerNormFusion FastGeluFusion QuickGeluFusion BiasSoftmaxFusion BiasDropoutFusion
MatMulScaleFusion MatMulAddFusion MatMulActivationFusion ReshapeFusion
CommonSubexpressionElimination TransposeOptimizer NchwcTransformer NhwcTransformer
QDQSelectorActionTransformer QDQPropagationTransformer QDQFinalCleanupTransformer
EnsureUniqueDQForNodeUnit ConstantSharing DoubleQDQPairsRemover IdenticalChildrenConsolidation
QDQS8ToU8Transformer Avx2WeightS8ToU8Transformer WeightBiasQuantization IsInfReduceSumFusion
SliceConcatToSpaceToDepthFusion FuseInitializersTransformer RemoveDuplicateCastTransformer
GroupQueryAttentionFusion MatMulNBitsFusion DQMatMulNBitsFusion PropagateCastOps""".split()
ONNXSLIM = ["constant_folding", "graph_fusion", "dead_node_elimination",
            "subexpression_elimination", "weight_tying"]


def installed(tool):
    """Names of the passes of a tool that can be left out or run alone."""
    if tool == "onnxruntime":
        return list(dict.fromkeys(ONNXRUNTIME))
    if tool == "onnxslim":
        return ONNXSLIM
    if tool in ("onnxoptimizer", "onnxsim"):
        import onnxoptimizer
        return onnxoptimizer.get_fuse_and_elimination_passes()
    return ["fold_constants"] if tool == "onnxscript" else []


def responsible(judge, probe, tool, kind):
    """Names of passes, joined; empty where none alone explains it."""
    package = optimisers.package(tool)
    found = []
    for name in installed(package):
        finding = judge.judged(probe, tool, (name,)).finding
        wrong = finding is not None and not finding.edge
        alone = package in ("onnxoptimizer", "onnxscript")
        if wrong and finding.kind == kind if alone else not wrong:
            found.append(name)
    if package == "onnxscript":
        return "constant folding" if found else "rewrite rules"
    return ", ".join(found)
