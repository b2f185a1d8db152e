"""Networks that answer for each place: segmentation, detection, flow, super-resolution."""
import torch

from zoo.entry import Case, rows
from zoo.vision import image


def segmentation(name):
    def make():
        import torchvision
        return torchvision.models.get_model(name, weights=None, weights_backbone=None,
                                            num_classes=21)
    return image(make, 128, ("masks",))


def segformer():
    from transformers import SegformerConfig, SegformerForSemanticSegmentation
    config = SegformerConfig(num_labels=21)
    return SegformerForSemanticSegmentation(config)


def smp(name, encoder):
    def make():
        import segmentation_models_pytorch as package
        return getattr(package, name)(encoder_name=encoder, encoder_weights=None, classes=5)
    return image(make, 128, ("masks",))


def yolo(config):
    """With its head in the form that is exported: boxes and scores in one tensor."""
    def make():
        from ultralytics.nn.tasks import DetectionModel
        model = DetectionModel(config, ch=3, nc=80, verbose=False)
        for module in model.modules():
            if hasattr(module, "export"):
                module.export, module.format = True, "onnx"
        return model
    return image(make, 192, ("boxes",))


def detr_config(kind, **options):
    from transformers import ResNetConfig
    backbone = ResNetConfig(embedding_size=32, hidden_sizes=[32, 64, 128, 256], depths=[2, 2, 2, 2],
                            layer_type="basic", out_features=["stage4"])
    return kind(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None,
                backbone_config=backbone, num_queries=20, **options)


class Detr(torch.nn.Module):
    """DETR for whole images: its mask of pixels is all ones."""

    def __init__(self):
        super().__init__()
        from transformers import DetrConfig, DetrForObjectDetection
        self.model = DetrForObjectDetection(detr_config(
            DetrConfig, d_model=128, encoder_layers=2, decoder_layers=2, encoder_ffn_dim=256,
            decoder_ffn_dim=256, encoder_attention_heads=4, decoder_attention_heads=4))

    def forward(self, pixels):
        return self.model(pixels)


def yolos():
    from transformers import YolosConfig, YolosForObjectDetection
    config = YolosConfig(hidden_size=192, num_hidden_layers=4, num_attention_heads=3,
                         intermediate_size=384, image_size=[128, 128], num_detection_tokens=20)
    return YolosForObjectDetection(config)


class Detector(torch.nn.Module):
    """A detector of torchvision for one image, with its post-processing."""

    def __init__(self, name, **options):
        super().__init__()
        import torchvision
        self.model = torchvision.models.get_model(name, weights=None, weights_backbone=None,
                                                  **options)

    def forward(self, pixels):
        found = self.model([pixels[0]])[0]
        return found["boxes"], found["scores"], found["labels"]


def detector(name, size, **options):
    return image(lambda: Detector(name, **options), size, ("boxes", "scores", "labels"))


class SsdHeads(torch.nn.Module):
    """SSDLite up to its heads: what runs before boxes are chosen."""

    def __init__(self):
        super().__init__()
        import torchvision
        model = torchvision.models.get_model("ssdlite320_mobilenet_v3_large", weights=None,
                                             weights_backbone=None)
        self.backbone, self.head = model.backbone, model.head

    def forward(self, pixels):
        found = self.head(list(self.backbone(pixels).values()))
        return found["bbox_regression"], found["cls_logits"]


def raft(batch):
    import torchvision
    model = torchvision.models.get_model("raft_small", weights=None)

    class Flow(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, first, second):
            return self.model(first, second, num_flow_updates=3)[-1]
    images = {name: torch.randn(batch, 3, 128, 128) for name in ("first", "second")}
    return Case(Flow(), images, ["flow"], {name: {0: "batch"} for name in images})


class Espcn(torch.nn.Module):
    """Super-resolution by sub-pixel convolution."""

    def __init__(self, scale=3):
        super().__init__()
        sizes = [(3, 64, 5), (64, 32, 3), (32, 3 * scale * scale, 3)]
        layers = [torch.nn.Conv2d(a, b, k, padding=k // 2) for a, b, k in sizes]
        self.body = torch.nn.Sequential(layers[0], torch.nn.Tanh(), layers[1], torch.nn.Tanh(),
                                        layers[2], torch.nn.PixelShuffle(scale))

    def forward(self, pixels):
        return self.body(pixels).clamp(0, 1)


class Style(torch.nn.Module):
    """Style transfer: instance norms, reflected borders, nearest-neighbour upsampling."""

    def __init__(self, width=16):
        super().__init__()
        def block(a, b, stride=1, up=False):
            head = [torch.nn.Upsample(scale_factor=2)] if up else []
            return [*head, torch.nn.ReflectionPad2d(1), torch.nn.Conv2d(a, b, 3, stride),
                    torch.nn.InstanceNorm2d(b, affine=True), torch.nn.ReLU()]
        self.head = torch.nn.Sequential(*block(3, width), *block(width, 2 * width, 2))
        self.body = torch.nn.ModuleList(
            torch.nn.Sequential(*block(2 * width, 2 * width)) for _ in range(4))
        self.tail = torch.nn.Sequential(*block(2 * width, width, up=True),
                                        torch.nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, pixels):
        x = self.head(pixels)
        for block in self.body:
            x = x + block(x)
        return self.tail(x)


def swin2sr():
    from transformers import Swin2SRConfig, Swin2SRForImageSuperResolution
    config = Swin2SRConfig(image_size=32, embed_dim=32, depths=[2, 2], num_heads=[2, 2],
                           window_size=8, upscale=2)
    return Swin2SRForImageSuperResolution(config)


ROWS = [
    *rows("deeplabv3", "segmentation", segmentation("deeplabv3_mobilenet_v3_large"),
          "script:batch", "dynamo"),
    *rows("lraspp", "segmentation", segmentation("lraspp_mobilenet_v3_large"),
          "script:batch:height:width"),
    *rows("fcn_resnet50", "segmentation", segmentation("fcn_resnet50"), "dynamo:batch"),
    *rows("segformer", "segmentation", image(segformer, 128, ("masks",)), "script:batch",
          "dynamo"),
    *rows("unet", "segmentation", smp("Unet", "resnet18"), "script:batch"),
    *rows("unetplusplus", "segmentation", smp("UnetPlusPlus", "mobilenet_v2"), "script:train"),
    *rows("fpn", "segmentation", smp("FPN", "resnet18"), "script:batch", "dynamo"),
    *rows("yolov8n", "detector", yolo("yolov8n.yaml"), "script:batch", "script:batch:train"),
    *rows("yolo11n", "detector", yolo("yolo11n.yaml"), "dynamo", "script"),
    *rows("detr", "detector", image(Detr, 128, ("logits", "boxes")), "script:batch", "dynamo"),
    *rows("yolos", "detector", image(yolos, 128, ("logits", "boxes")), "script:batch"),
    *rows("ssdlite", "detector", detector("ssdlite320_mobilenet_v3_large", 320), "script"),
    *rows("ssdlite_heads", "detector", image(SsdHeads, 320, ("boxes", "scores")), "script:batch"),
    *rows("faster_rcnn", "detector",
          detector("fasterrcnn_mobilenet_v3_large_320_fpn", 192), "script"),
    *rows("raft_small", "flow", raft, "script"),
    *rows("espcn", "super-resolution", image(Espcn, 48, ("pixels",)),
          "script:batch:height:width", "dynamo"),
    *rows("swin2sr", "super-resolution", image(swin2sr, 32, ("pixels",)), "script:batch"),
    *rows("style", "style-transfer", image(Style, 64, ("pixels",)), "script:height:width"),
]
