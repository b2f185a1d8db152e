"""Parts of diffusion pipelines, with reduced widths."""
import torch

from zoo.entry import Case, rows


class First(torch.nn.Module):
    """The sample that a network of diffusers predicts."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *tensors):
        return self.model(**dict(zip(self.names, tensors)), return_dict=False)[0]


def diffusers(kind, **options):
    import diffusers as package
    return getattr(package, kind)(**options)


def case(model, inputs, ranges=None):
    axes = {name: {0: "batch"} for name in inputs if name != "timestep"}
    return Case(First(model, list(inputs)), inputs, ["out"], axes, ranges or {})


def unet(batch):
    """Stable Diffusion's: ResNet blocks, and transformers that look at the prompt."""
    model = diffusers(
        "UNet2DConditionModel", sample_size=16, block_out_channels=(32, 64), layers_per_block=1,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), cross_attention_dim=64,
        attention_head_dim=4, norm_num_groups=8)
    return case(model, {"sample": torch.randn(batch, 4, 16, 16), "timestep": torch.tensor(10),
                        "encoder_hidden_states": torch.randn(batch, 8, 64)}, {"timestep": [0, 999]})


def unet_plain(batch):
    model = diffusers("UNet2DModel", sample_size=16, in_channels=3, out_channels=3,
                      block_out_channels=(32, 64), layers_per_block=1, norm_num_groups=8,
                      down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                      up_block_types=("AttnUpBlock2D", "UpBlock2D"), attention_head_dim=8)
    return case(model, {"sample": torch.randn(batch, 3, 16, 16), "timestep": torch.tensor(10)},
                {"timestep": [0, 999]})


def autoencoder():
    return diffusers("AutoencoderKL", block_out_channels=(32, 64), layers_per_block=1,
                     down_block_types=("DownEncoderBlock2D",) * 2, norm_num_groups=8,
                     up_block_types=("UpDecoderBlock2D",) * 2, latent_channels=4, sample_size=32)


class VaeEncoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = autoencoder()

    def forward(self, pixels):
        return self.model.quant_conv(self.model.encoder(pixels))


class VaeDecoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = autoencoder()

    def forward(self, latent):
        return self.model.decode(latent, return_dict=False)[0]


def vae_encoder(batch):
    return Case(VaeEncoder(), {"pixels": torch.randn(batch, 3, 32, 32)}, ["moments"],
                {"pixels": {0: "batch"}})


def vae_decoder(batch):
    return Case(VaeDecoder(), {"latent": torch.randn(batch, 4, 16, 16)}, ["pixels"],
                {"latent": {0: "batch", 2: "height", 3: "width"}},
                settings={"height": [8, 16], "width": [16, 8]})


def diffusion_transformer(batch):
    """DiT: adaptive layer norms that a class and a time steer."""
    model = diffusers("DiTTransformer2DModel", num_attention_heads=4, attention_head_dim=16,
                      in_channels=4, out_channels=8, num_layers=3, sample_size=16, patch_size=2,
                      norm_num_groups=8, num_embeds_ada_norm=10)
    inputs = {"hidden_states": torch.randn(batch, 4, 16, 16),
              "timestep": torch.full((batch,), 10), "class_labels": torch.full((batch,), 3)}
    built = case(model, inputs, {"timestep": [0, 999], "class_labels": [0, 9]})
    built.axes["timestep"] = {0: "batch"}
    return built


ROWS = [
    *rows("sd_unet", "diffusion", unet, "script:batch", "dynamo"),
    *rows("ddpm_unet", "diffusion", unet_plain, "script:batch"),
    *rows("vae_encoder", "diffusion", vae_encoder, "script:batch", "dynamo"),
    *rows("vae_decoder", "diffusion", vae_decoder, "script:batch:height:width"),
    *rows("dit", "diffusion", diffusion_transformer, "script:batch", "dynamo"),
]
