"""Classifiers of images, from torchvision, timm and transformers."""
import torch

from zoo.entry import Case, rows

IMAGE_AXES = {"input": {0: "batch", 2: "height", 3: "width"}}


def image(make, size=224, outputs=("logits",), settings=None):
    def build(batch):
        return Case(make(), {"input": torch.randn(batch, 3, size, size)}, list(outputs), IMAGE_AXES,
                    settings=settings or {})
    return build


def tv(name, size=224, **options):
    def make():
        import torchvision
        return torchvision.models.get_model(name, weights=None, **options)
    return image(make, size)


def timm(name, size=224, **options):
    def make():
        import timm as package
        return package.create_model(name, pretrained=False, **options)
    return image(make, size)


def swin_of_transformers():
    """With its checks of the image's size, which TorchScript records as shape nodes."""
    from transformers import SwinConfig, SwinForImageClassification
    config = SwinConfig(image_size=224, embed_dim=48, depths=[2, 2, 18, 2], num_heads=[2, 4, 8, 16],
                        num_labels=100)
    return SwinForImageClassification(config)


def swin_v2():
    from torchvision.models import swin_transformer as package
    return package.SwinTransformer(
        [4, 4], 48, [2, 2, 18, 2], [2, 4, 8, 16], [8, 8], num_classes=100,
        block=package.SwinTransformerBlockV2, downsample_layer=package.PatchMergingV2)


def dinov2():
    from transformers import Dinov2Config, Dinov2Model
    return Dinov2Model(Dinov2Config(hidden_size=192, num_hidden_layers=6, num_attention_heads=3,
                                    image_size=224, patch_size=14))


CONVOLUTIONAL = [
    *rows("resnet18", "cnn", tv("resnet18"), "script:batch", "script:batch:train", "dynamo"),
    *rows("resnet50", "cnn", tv("resnet50"), "dynamo:batch"),
    *rows("mobilenet_v2", "cnn", tv("mobilenet_v2"), "script:batch:train", "dynamo"),
    *rows("mobilenet_v3_small", "cnn", tv("mobilenet_v3_small"), "script:batch", "dynamo"),
    *rows("efficientnet_b0", "cnn", tv("efficientnet_b0"), "script:batch", "script:train"),
    *rows("shufflenet_v2", "cnn", tv("shufflenet_v2_x1_0"), "script:batch", "dynamo:batch"),
    *rows("densenet121", "cnn", tv("densenet121"), "script:train"),
    *rows("googlenet", "cnn", tv("googlenet", aux_logits=False, init_weights=False),
          "script:batch"),
    *rows("regnet_y_400mf", "cnn", tv("regnet_y_400mf"), "dynamo"),
    *rows("mnasnet0_5", "cnn", tv("mnasnet0_5"), "script:height:width"),
    *rows("convnext_tiny", "cnn", tv("convnext_tiny"), "script:batch"),
    *rows("mobileone_s0", "cnn", timm("mobileone_s0"), "script:batch:train"),
    *rows("repvgg_a0", "cnn", timm("repvgg_a0"), "script:train"),
    *rows("ghostnet_100", "cnn", timm("ghostnet_100"), "script:batch"),
    *rows("hrnet_w18_small", "cnn", timm("hrnet_w18_small"), "script"),
    *rows("fastvit_t8", "hybrid", timm("fastvit_t8", 256), "script:batch:train"),
    *rows("edgenext_xx_small", "hybrid", timm("edgenext_xx_small", 256), "script:batch"),
    *rows("mobilevit_xxs", "hybrid", timm("mobilevit_xxs", 256), "script:batch"),
]

TRANSFORMERS = [
    *rows("vit_tiny", "vision-transformer", timm("vit_tiny_patch16_224"), "script:batch",
          "dynamo:batch"),
    *rows("levit_128s", "vision-transformer", timm("levit_128s"), "script:batch:train"),
    *rows("mixer_s32", "mlp", timm("mixer_s32_224"), "dynamo"),
    *rows("poolformer_s12", "hybrid", timm("poolformer_s12"), "script:batch"),
    *rows("pvt_v2_b0", "vision-transformer", timm("pvt_v2_b0"), "script:batch"),
    *rows("xcit_nano", "vision-transformer", timm("xcit_nano_12_p16_224"), "script:batch"),
    *rows("swin_t", "vision-transformer", tv("swin_t"), "script:batch", "dynamo"),
    *rows("swin_hf", "vision-transformer",
          image(swin_of_transformers, settings={"height": [224, 448], "width": [224, 224]}),
          "script:batch:height:width"),
    *rows("swin_v2", "vision-transformer", image(swin_v2, 256), "script:batch"),
    *rows("dinov2", "vision-transformer", image(dinov2, outputs=("features", "pooled")),
          "dynamo:batch"),
]

ROWS = [*CONVOLUTIONAL, *TRANSFORMERS]
