"""Transformers in the form that exporters write."""
import numpy as np
from onnx import TensorProto

from builder import Builder


def bert(name, layers, width, heads, inner, vocabulary, batch, length, seed, opset=17,
         only_pooled=False):
    """Devlin et al., BERT, 2019: embeddings, encoder (norm after each half), pooler. What
    classifies is `only_pooled`: of the last layer it reads the first token."""
    b = Builder(name, seed, opset)
    shape = [batch, length]
    ids = b.input("input_ids", shape, TensorProto.INT64)
    attention_mask = b.input("attention_mask", shape, TensorProto.INT64)
    kinds = b.input("token_type_ids", shape, TensorProto.INT64)
    x = bert_embeddings(b, ids, kinds, vocabulary, width, length)
    mask = b.op("Unsqueeze", [attention_mask, b.ints("axes", [1, 2])])
    mask = b.op("Sub", [b.floats("one", 1.0), b.op("Cast", [mask], to=TensorProto.FLOAT)])
    mask = b.op("Mul", [mask, b.floats("lowest", np.finfo(np.float32).min)])
    for _ in range(layers):
        attended = b.attention(x, width, heads, mask)
        x = b.layer_norm(b.op("Add", [attended, x]), width, 1e-12)
        y = b.linear(b.gelu(b.linear(x, width, inner)), inner, width)
        x = b.layer_norm(b.op("Add", [y, x]), width, 1e-12)
    first = b.op("Gather", [x, b.constant("first", np.int64(0))], axis=1)
    weight = b.normal("pooler_weight", (width, width), width ** -0.5)
    pooled = b.op("Tanh", [b.op("Gemm", [first, weight, b.normal("pooler_bias", (width,), 0.05)],
                                transB=1)])
    if not only_pooled:
        b.output(x, "last_hidden_state", [batch, length, width])
    b.output(pooled, "pooler_output", [batch, width])
    return b.model()


def bert_embeddings(b, ids, kinds, vocabulary, width, length):
    words = b.op("Gather", [b.normal("word_embeddings", (vocabulary, width), 0.5), ids])
    types = b.op("Gather", [b.normal("type_embeddings", (2, width), 0.5), kinds])
    positions = b.op("Gather", [b.normal("position_embeddings", (length, width), 0.5),
                                b.ints("position_ids", [list(range(length))])])
    x = b.op("Add", [b.op("Add", [words, types]), positions])
    return b.layer_norm(x, width, 1e-12)


def albert(name, layers, width, heads, inner, vocabulary, narrow, length, seed):
    """Lan et al., ALBERT, 2020: a narrow embedding, widened by a product. Layers have weights of
    their own here."""
    b = Builder(name, seed)
    ids = b.input("input_ids", [1, length], TensorProto.INT64)
    words = b.op("Gather", [b.normal("word_embeddings", (vocabulary, narrow), 0.5), ids])
    x = b.linear(words, narrow, width)
    for _ in range(layers):
        x = b.layer_norm(b.op("Add", [b.attention(x, width, heads), x]), width, 1e-12)
        y = b.linear(b.gelu(b.linear(x, width, inner)), inner, width)
        x = b.layer_norm(b.op("Add", [y, x]), width, 1e-12)
    b.output(x, "last_hidden_state", [1, length, width])
    return b.model()


def lora_mlp(name, layers, rows, width, rank, seed):
    """Hu et al., LoRA, 2022: beside each weight an additive product of two thin ones."""
    b = Builder(name, seed)
    x = b.input("input", [rows, width])
    for k in range(layers):
        thin = b.op("MatMul", [x, b.normal("lora_a", (width, rank), width ** -0.5)])
        thin = b.op("MatMul", [thin, b.normal("lora_b", (rank, width), rank ** -0.5)])
        thin = b.op("Mul", [thin, b.floats("scale", 0.5)])
        x = b.op("Add", [b.linear(x, width, width), thin])
        x = b.relu(x) if k + 1 < layers else x
    b.output(x, "output", [rows, width])
    return b.model()


def vit(name, layers, width, heads, size, patch, classes, seed):
    """Dosovitskiy et al., An Image is Worth 16x16 Words, 2021: one projection makes query, key
    and value; norm before each half; class token."""
    b = Builder(name, seed)
    tokens = (size // patch) ** 2
    x = b.conv(b.input("input", [1, 3, size, size]), 3, width, patch, patch, bias=True)
    x = b.op("Reshape", [x, b.ints("token_shape", [1, width, tokens])])
    x = b.op("Transpose", [x], perm=[0, 2, 1])
    x = b.op("Concat", [b.normal("class_token", (1, 1, width), 0.02), x], axis=1)
    x = b.op("Add", [x, b.normal("positions", (1, tokens + 1, width), 0.02)])
    for _ in range(layers):
        x = b.op("Add", [x, vit_attention(b, b.layer_norm(x, width, 1e-6), width, heads)])
        y = b.linear(b.layer_norm(x, width, 1e-6), width, 4 * width)
        x = b.op("Add", [x, b.linear(b.gelu(y), 4 * width, width)])
    first = b.op("Gather", [b.layer_norm(x, width, 1e-6), b.constant("first", np.int64(0))], axis=1)
    weight = b.normal("head_weight", (classes, width), width ** -0.5)
    logits = b.op("Gemm", [first, weight, b.normal("head_bias", (classes,), 0.05)], transB=1)
    b.output(logits, "logits", [1, classes])
    return b.model()


def vit_attention(b, x, width, heads):
    size = width // heads
    joined = b.op("Reshape", [b.linear(x, width, 3 * width),
                              b.ints("qkv_shape", [0, 0, 3, heads, size])])
    joined = b.op("Transpose", [joined], perm=[2, 0, 3, 1, 4])
    parts = b.op("Split", [joined], outputs=3, axis=0)
    query, key, value = [b.op("Squeeze", [p, b.ints("axes", [0])]) for p in parts]
    scores = b.op("MatMul", [query, b.op("Transpose", [key], perm=[0, 1, 3, 2])])
    scores = b.op("Mul", [scores, b.floats("scale", size ** -0.5)])
    mixed = b.op("MatMul", [b.op("Softmax", [scores], axis=-1), value])
    mixed = b.op("Transpose", [mixed], perm=[0, 2, 1, 3])
    mixed = b.op("Reshape", [mixed, b.ints("merge_shape", [0, 0, width])])
    return b.linear(mixed, width, width)


MODELS = {
    "bert_base": lambda seed: bert("bert_base", 12, 768, 12, 3072, 30522, 1, 128, seed),
    "bert_base_cls": lambda seed: bert("bert_base_cls", 12, 768, 12, 3072, 30522, 1, 128, seed,
                                       only_pooled=True),
    "minilm_cls": lambda seed: bert("minilm_cls", 6, 384, 12, 1536, 30522, 1, 128, seed,
                                    only_pooled=True),
    "albert_embedding": lambda seed: albert("albert_embedding", 4, 768, 12, 3072, 30000, 128, 128,
                                            seed),
    "lora_mlp": lambda seed: lora_mlp("lora_mlp", 4, 16, 1024, 16, seed),
    "tiny_lora": lambda seed: lora_mlp("tiny_lora", 2, 4, 16, 2, seed),
    "tiny_albert": lambda seed: albert("tiny_albert", 1, 16, 2, 32, 50, 4, 8, seed),
    "vit_b16": lambda seed: vit("vit_b16", 12, 768, 12, 224, 16, 1000, seed),
    "tiny_bert": lambda seed: bert("tiny_bert", 2, 16, 2, 32, 50, "batch", 8, seed),
    "tiny_bert_opset13": lambda seed: bert("tiny_bert_opset13", 1, 16, 2, 32, 50, 2, 8, seed, 13),
    "tiny_vit": lambda seed: vit("tiny_vit", 2, 16, 2, 16, 8, 10, seed),
}
