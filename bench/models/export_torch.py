#!/usr/bin/env python3
"""Exports benchmark models from torchvision, timm and transformers with random weights: what an
exporter really writes. Needs bench/models/requirements.txt; nothing is downloaded at run time.

  python bench/models/export_torch.py --out DIR [--exporter dynamo|script|both] [NAME ...]

Writes NAME.dynamo.onnx (torch.export based) and NAME.script.onnx (TorchScript based).
"""
import argparse
import os
import sys
import warnings

import torch


def image_model(make, size=224):
    def build():
        return make().eval(), (torch.randn(1, 3, size, size),), ["input"], ["logits"]
    return build


def torchvision_model(name, **options):
    def make():
        import torchvision
        return getattr(torchvision.models, name)(weights=None, **options)
    return make


def timm_model(name):
    def make():
        import timm
        return timm.create_model(name, pretrained=False)
    return make


class BertOutputs(torch.nn.Module):
    """BERT with its pooler, returning a plain tuple."""

    def __init__(self):
        super().__init__()
        from transformers import BertConfig, BertModel
        config = BertConfig(attn_implementation="eager", return_dict=False)
        self.bert = BertModel(config, add_pooling_layer=True)

    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.bert(input_ids, attention_mask, token_type_ids)[:2]


def bert():
    ids = torch.randint(0, 30000, (1, 128))
    inputs = (ids, torch.ones_like(ids), torch.zeros_like(ids))
    return (BertOutputs().eval(), inputs, ["input_ids", "attention_mask", "token_type_ids"],
            ["last_hidden_state", "pooler_output"])


MODELS = {
    "resnet18": image_model(torchvision_model("resnet18")),
    "resnet50": image_model(torchvision_model("resnet50")),
    "inception_v3": image_model(
        torchvision_model("inception_v3", aux_logits=False, init_weights=False), 299),
    "squeezenet1_1": image_model(torchvision_model("squeezenet1_1")),
    "bert_base": bert,
    "vit_b16": image_model(timm_model("vit_base_patch16_224")),
    "mobileone_s0": image_model(timm_model("mobileone_s0")),
}


def randomise_statistics(model):
    """Batch norms start as the identity; give them what training leaves behind."""
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.uniform_(-0.1, 0.1)
            module.running_var.uniform_(0.7, 1.4)
            torch.nn.init.uniform_(module.weight, 0.4, 0.9)
            torch.nn.init.uniform_(module.bias, -0.1, 0.1)


def export(name, exporter, out):
    torch.manual_seed(0)
    model, inputs, input_names, output_names = MODELS[name]()
    randomise_statistics(model)
    path = os.path.join(out, f"{name}.{exporter}.onnx")
    options = {"dynamo": True, "external_data": False, "verbose": False}
    if exporter == "script":
        # The training form keeps batch norms apart from convolutions, as in a checkpoint.
        options = {"dynamo": False, "opset_version": 17, "do_constant_folding": True}
        if name == "mobileone_s0":
            options["training"] = torch.onnx.TrainingMode.PRESERVE
    with torch.no_grad():
        torch.onnx.export(model, inputs, path, input_names=input_names,
                          output_names=output_names, **options)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--out", required=True, metavar="DIR")
    parser.add_argument("--exporter", choices=["dynamo", "script", "both"], default="both")
    args = parser.parse_args()
    unknown = [n for n in args.names if n not in MODELS]
    if unknown:
        sys.exit(f"export_torch: no model {unknown[0]!r}; there are: {', '.join(MODELS)}")
    os.makedirs(args.out, exist_ok=True)
    warnings.filterwarnings("ignore")
    failed = []
    for name in args.names or MODELS:
        for exporter in ["dynamo", "script"] if args.exporter == "both" else [args.exporter]:
            try:
                path = export(name, exporter, args.out)
                print(f"{path}  {os.path.getsize(path) / 1e6:.1f} MB", flush=True)
            except Exception as problem:  # an exporter may fail in any way; go on with the next
                failed.append(f"{name}.{exporter}")
                print(f"{name} ({exporter}): {type(problem).__name__}: "
                      f"{str(problem).splitlines()[0] if str(problem) else ''}", file=sys.stderr)
    if failed:
        sys.exit(f"export_torch: not exported: {', '.join(failed)}")


if __name__ == "__main__":
    main()
