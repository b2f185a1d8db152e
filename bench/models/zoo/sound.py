"""Speech and sound, and other series in time."""
import torch

from zoo.entry import Case, rows
from zoo.text import Named, VOCABULARY, ids, make_model


def one_input(make, name, shape, outputs, axes):
    """A network of one real tensor; `axes` has names of its sizes after the batch's."""
    def build(batch):
        return Case(make(), {name: torch.randn(batch, *shape)}, list(outputs),
                    {name: {0: "batch", **axes}}, settings={"samples": [4000, 4480],
                                                           "frames": [48, 80]})
    return build


def speech(kind, config, **options):
    return one_input(lambda: Named(make_model(kind, config, **options), ["input_values"]),
                     "input_values", (4800,), ["logits"], {1: "samples"})


WAV2VEC2 = {"hidden_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4,
            "intermediate_size": 256, "vocab_size": 32, "conv_dim": [64] * 7,
            "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4}
WHISPER = {"vocab_size": VOCABULARY, "d_model": 128, "encoder_layers": 2, "decoder_layers": 2,
           "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 256,
           "decoder_ffn_dim": 256, "max_source_positions": 100, "num_mel_bins": 80,
           "max_target_positions": 32, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
           "decoder_start_token_id": 1}


class WhisperEncoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = make_model("WhisperModel", "WhisperConfig", **WHISPER).encoder

    def forward(self, features):
        return self.encoder(features)[0]


class WhisperDecoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        model = make_model("WhisperForConditionalGeneration", "WhisperConfig", **WHISPER)
        self.decoder, self.head = model.model.decoder, model.proj_out

    def forward(self, tokens, encoded):
        hidden = self.decoder(input_ids=tokens, attention_mask=torch.ones_like(tokens),
                              encoder_hidden_states=encoded, use_cache=False)[0]
        return self.head(hidden)


def whisper_decoder(batch):
    inputs = {"tokens": ids(batch, 8), "encoded": torch.randn(batch, 100, 128)}
    return Case(WhisperDecoder(), inputs, ["logits"],
                {"tokens": {0: "batch", 1: "sequence"}, "encoded": {0: "batch"}},
                {"tokens": [0, VOCABULARY - 1]})


class Separable(torch.nn.Module):
    """A block of Conv-TasNet: expand, a dilated filter of each channel, and back."""

    def __init__(self, width, inner, dilation):
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv1d(width, inner, 1), torch.nn.PReLU(), torch.nn.GroupNorm(1, inner, 1e-8),
            torch.nn.Conv1d(inner, inner, 3, padding=dilation, dilation=dilation, groups=inner),
            torch.nn.PReLU(), torch.nn.GroupNorm(1, inner, 1e-8))
        self.residual, self.skip = (torch.nn.Conv1d(inner, width, 1) for _ in range(2))

    def forward(self, x):
        y = self.body(x)
        return x + self.residual(y), self.skip(y)


class ConvTasNet(torch.nn.Module):
    """Separates sources in a waveform: Luo and Mesgarani, 2019."""

    def __init__(self, filters=128, width=64, inner=128, depth=6, stacks=2, sources=2):
        super().__init__()
        self.sources = sources
        self.encode = torch.nn.Conv1d(1, filters, 16, 8, bias=False)
        self.enter = torch.nn.Sequential(torch.nn.GroupNorm(1, filters, 1e-8),
                                         torch.nn.Conv1d(filters, width, 1))
        self.blocks = torch.nn.ModuleList(Separable(width, inner, 2 ** k)
                                          for _ in range(stacks) for k in range(depth))
        self.mask = torch.nn.Sequential(torch.nn.PReLU(),
                                        torch.nn.Conv1d(width, sources * filters, 1))
        self.decode = torch.nn.ConvTranspose1d(filters, 1, 16, 8, bias=False)

    def forward(self, waveform):
        encoded = self.encode(waveform)
        x, total = self.enter(encoded), 0
        for block in self.blocks:
            x, skip = block(x)
            total = total + skip
        batch, filters, frames = encoded.shape
        masks = torch.sigmoid(self.mask(total)).view(batch, self.sources, filters, frames)
        masked = (masks * encoded[:, None]).view(batch * self.sources, filters, frames)
        return self.decode(masked).view(batch, self.sources, -1)


class KeywordSpotter(torch.nn.Module):
    """Depthwise separable convolutions over a spectrogram: Zhang et al., 2017."""

    def __init__(self, width=64, words=12):
        super().__init__()
        def block(a, b, size, **options):
            return [torch.nn.Conv2d(a, b, size, padding=size // 2, bias=False, **options),
                    torch.nn.BatchNorm2d(b), torch.nn.ReLU()]
        body = block(1, width, 5, stride=2)
        for _ in range(4):
            body += [*block(width, width, 3, groups=width), *block(width, width, 1)]
        self.body, self.head = torch.nn.Sequential(*body), torch.nn.Linear(width, words)

    def forward(self, features):
        return self.head(self.body(features).mean((2, 3)))


def spectrogram_transformer():
    model = make_model("ASTForAudioClassification", "ASTConfig", hidden_size=128,
                       num_hidden_layers=3, num_attention_heads=4, intermediate_size=256,
                       max_length=128, num_mel_bins=64)
    return Named(model, ["input_values"])


def patch_tst():
    model = make_model("PatchTSTForPrediction", "PatchTSTConfig", num_input_channels=4,
                       context_length=96, patch_length=8, patch_stride=8, prediction_length=24,
                       d_model=64, num_hidden_layers=2, num_attention_heads=4, ffn_dim=128)
    return Named(model, ["past_values"])


class TemporalConvolutions(torch.nn.Module):
    """Dilated causal convolutions with residuals, as in TCN and WaveNet."""

    def __init__(self, width=64, depth=6):
        super().__init__()
        self.enter = torch.nn.Conv1d(4, width, 1)
        self.filters = torch.nn.ModuleList(
            torch.nn.Conv1d(width, 2 * width, 3, dilation=2 ** k) for k in range(depth))
        self.mixers = torch.nn.ModuleList(torch.nn.Conv1d(width, width, 1) for _ in range(depth))
        self.leave = torch.nn.Conv1d(width, 4, 1)

    def forward(self, series):
        x, skip = self.enter(series), 0
        for gate, mix in zip(self.filters, self.mixers):
            padded = torch.nn.functional.pad(x, (2 * gate.dilation[0], 0))
            a, b = gate(padded).chunk(2, 1)
            y = mix(torch.tanh(a) * torch.sigmoid(b))
            x, skip = x + y, skip + y
        return self.leave(torch.relu(skip))


ROWS = [
    *rows("wav2vec2", "speech", speech("Wav2Vec2ForCTC", "Wav2Vec2Config", **WAV2VEC2),
          "script:batch:samples", "dynamo"),
    *rows("hubert", "speech", speech("HubertForCTC", "HubertConfig", **WAV2VEC2), "script:batch"),
    *rows("whisper_encoder", "speech",
          one_input(WhisperEncoder, "features", (80, 200), ["hidden"], {}),
          "script:batch", "dynamo"),
    *rows("whisper_decoder", "speech", whisper_decoder, "script:batch:sequence"),
    *rows("conv_tasnet", "speech",
          one_input(ConvTasNet, "waveform", (1, 4800), ["sources"], {2: "samples"}),
          "script:batch:samples", "dynamo"),
    *rows("keyword_spotter", "speech",
          one_input(KeywordSpotter, "features", (1, 48, 10), ["scores"], {2: "frames"}),
          "script:batch:frames:train", "dynamo:batch"),
    *rows("conformer", "speech", speech("Wav2Vec2ConformerForCTC", "Wav2Vec2ConformerConfig",
                                        position_embeddings_type="relative", **WAV2VEC2),
          "script:batch:train", "dynamo"),
    *rows("spectrogram_transformer", "speech",
          one_input(spectrogram_transformer, "input_values", (128, 64), ["logits"], {}),
          "script:batch"),
    *rows("patch_tst", "series", one_input(patch_tst, "past_values", (96, 4), ["forecast"], {}),
          "dynamo"),
    *rows("tcn", "series",
          one_input(TemporalConvolutions, "series", (4, 64), ["forecast"], {2: "frames"}),
          "script:batch:frames", "dynamo"),
]
