"""Encoders and decoders of text: reduced widths and depths, the real structure."""
import torch

from zoo.entry import Case, rows

VOCABULARY = 1000
SMALL = {"vocab_size": VOCABULARY, "hidden_size": 128, "num_hidden_layers": 3,
         "num_attention_heads": 4, "intermediate_size": 256}


def make_model(kind, config, **options):
    """A model of transformers and its configuration, by name."""
    import transformers
    attention = options.pop("attention", "eager")
    settings = getattr(transformers, config)(**options)
    settings._attn_implementation = attention
    settings.use_cache = False
    return getattr(transformers, kind)(settings)


def ids(batch, length):
    return torch.randint(1, VOCABULARY, (batch, length))


class Named(torch.nn.Module):
    """Hands its tensors on by name."""

    def __init__(self, model, names, **fixed):
        super().__init__()
        self.model, self.names, self.fixed = model, names, fixed

    def forward(self, *tensors):
        return self.model(**dict(zip(self.names, tensors)), **self.fixed)


def encoder(kind, config, outputs=("hidden",), mask=True, length=16, **options):
    """Of token ids, and unless told otherwise of a mask."""
    def build(batch):
        inputs = {"input_ids": ids(batch, length)}
        ranges = {"input_ids": [0, VOCABULARY - 1]}
        if mask:
            inputs["attention_mask"] = torch.ones(batch, length, dtype=torch.int64)
            ranges["attention_mask"] = [1, 1]
        axes = {name: {0: "batch", 1: "sequence"} for name in inputs}
        model = Named(make_model(kind, config, **options), list(inputs))
        return Case(model, inputs, list(outputs), axes, ranges)
    return build


def bert_like(name, outputs=("hidden",), **options):
    return encoder(f"{name}Model", f"{name}Config", outputs, **{**SMALL, **options})


DISTIL = {"vocab_size": VOCABULARY, "dim": 128, "n_layers": 3, "n_heads": 4, "hidden_dim": 256}
T5 = {"vocab_size": VOCABULARY, "d_model": 128, "d_kv": 32, "d_ff": 256, "num_layers": 3,
      "num_heads": 4, "feed_forward_proj": "gated-gelu"}
BART = {"vocab_size": VOCABULARY, "d_model": 128, "encoder_layers": 2, "decoder_layers": 2,
        "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 256,
        "decoder_ffn_dim": 256, "max_position_embeddings": 64}
LLAMA = {**SMALL, "num_key_value_heads": 2, "max_position_embeddings": 256}
GPT2 = {"vocab_size": VOCABULARY, "n_embd": 128, "n_layer": 3, "n_head": 4, "n_positions": 64}


def pair(kind, config, **options):
    """An encoder and a decoder of text."""
    def build(batch):
        inputs = {"input_ids": ids(batch, 16), "decoder_input_ids": ids(batch, 8)}
        axes = {"input_ids": {0: "batch", 1: "sequence"}, "decoder_input_ids": {0: "batch"}}
        model = Named(make_model(kind, config, **options), list(inputs), use_cache=False)
        return Case(model, inputs, ["logits"], axes,
                    {name: [0, VOCABULARY - 1] for name in inputs})
    return build


class WithCache(torch.nn.Module):
    """A decoder's step: keys and values of the past come in, those of all tokens go out."""

    def __init__(self, model, layers):
        super().__init__()
        self.model, self.layers = model, layers

    def forward(self, input_ids, position_ids, *past):
        from transformers import DynamicCache
        cache = DynamicCache()
        for k in range(self.layers):
            cache.update(past[2 * k], past[2 * k + 1], k)
        out = self.model(input_ids=input_ids, position_ids=position_ids, past_key_values=cache,
                         use_cache=True, return_dict=True)
        present = [t for layer in out.past_key_values.layers for t in (layer.keys, layer.values)]
        return (out.logits, *present)


def cached_decoder(kind, config, **options):
    def build(batch):
        model = make_model(kind, config, **options)
        layers, heads = options["num_hidden_layers"], options["num_key_value_heads"]
        size = options["hidden_size"] // options["num_attention_heads"]
        inputs = {"input_ids": ids(batch, 1), "position_ids": torch.full((batch, 1), 6)}
        names = [f"{what}_{k}" for k in range(layers) for what in ("key", "value")]
        inputs.update({f"past_{name}": torch.randn(batch, heads, 6, size) for name in names})
        axes = {name: {0: "batch", **({2: "past"} if name.startswith("past") else {})}
                for name in inputs}
        return Case(WithCache(model, layers), inputs,
                    ["logits", *(f"present_{name}" for name in names)], axes,
                    {"input_ids": [0, VOCABULARY - 1], "position_ids": [0, 9]},
                    {"past": [4, 9]})
    return build


def clip_vision(batch):
    model = make_model("CLIPVisionModelWithProjection", "CLIPVisionConfig", hidden_size=128,
                       intermediate_size=256, num_hidden_layers=3, num_attention_heads=4,
                       image_size=96, patch_size=16, projection_dim=64)
    return Case(Named(model, ["pixel_values"]), {"pixel_values": torch.randn(batch, 3, 96, 96)},
                ["image_embedding"], {"pixel_values": {0: "batch"}})


def decoder(kind, config, **options):
    return encoder(kind, config, ("logits",), **options)


CLIP_TEXT = {**SMALL, "max_position_embeddings": 32, "projection_dim": 64,
             "eos_token_id": VOCABULARY - 1}
GEMMA = {**LLAMA, "head_dim": 32}

ENCODERS = [
    *rows("bert", "encoder", bert_like("Bert", ("hidden", "pooled")),
          "script:batch:sequence", "dynamo", "dynamo:batch:sequence"),
    *rows("roberta", "encoder", bert_like("Roberta"), "script:batch:sequence"),
    *rows("distilbert", "encoder", encoder("DistilBertModel", "DistilBertConfig", **DISTIL),
          "script:batch:sequence", "dynamo"),
    *rows("albert", "encoder", bert_like("Albert", embedding_size=64), "script:batch"),
    *rows("electra", "encoder", bert_like("Electra", embedding_size=64), "dynamo:batch"),
    *rows("mpnet", "encoder", bert_like("MPNet"), "script:batch"),
    *rows("deberta_v2", "encoder",
          bert_like("DebertaV2", relative_attention=True, pos_att_type=["p2c", "c2p"],
                    position_buckets=16, norm_rel_ebd="layer_norm", share_att_key=True),
          "script:batch:sequence"),
    *rows("modernbert", "encoder",
          bert_like("ModernBert", pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1,
                    sep_token_id=2, attention="sdpa"), "dynamo"),
    *rows("t5_encoder", "encoder", encoder("T5EncoderModel", "T5Config", **T5),
          "script:batch:sequence", "dynamo"),
    *rows("clip_text", "clip",
          encoder("CLIPTextModelWithProjection", "CLIPTextConfig", ("embedding",), **CLIP_TEXT),
          "script:batch"),
    *rows("clip_vision", "clip", clip_vision, "script:batch", "dynamo"),
]

DECODERS = [
    *rows("gpt2", "decoder", decoder("GPT2LMHeadModel", "GPT2Config", **GPT2),
          "script:batch:sequence", "dynamo"),
    *rows("llama", "decoder", decoder("LlamaForCausalLM", "LlamaConfig", **LLAMA),
          "script:batch:sequence", "dynamo"),
    *rows("llama_cache", "decoder", cached_decoder("LlamaForCausalLM", "LlamaConfig", **LLAMA),
          "script:batch:past", "dynamo:batch:past"),
    *rows("qwen2", "decoder", decoder("Qwen2ForCausalLM", "Qwen2Config", **LLAMA),
          "dynamo:batch:sequence"),
    *rows("qwen2_cache", "decoder", cached_decoder("Qwen2ForCausalLM", "Qwen2Config", **LLAMA),
          "script:batch:past", "dynamo"),
    *rows("gemma2", "decoder", decoder("Gemma2ForCausalLM", "Gemma2Config", **GEMMA), "dynamo"),
    *rows("phi3", "decoder", decoder("Phi3ForCausalLM", "Phi3Config", pad_token_id=0, **LLAMA),
          "script:batch"),
    *rows("t5", "encoder-decoder", pair("T5ForConditionalGeneration", "T5Config", **T5,
                                        num_decoder_layers=2), "script:batch"),
    *rows("bart", "encoder-decoder", pair("BartForConditionalGeneration", "BartConfig", **BART),
          "script:batch"),
]

ROWS = [*ENCODERS, *DECODERS]
