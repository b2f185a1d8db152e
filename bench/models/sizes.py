"""The other models' architectures at other sizes: small ones to train agents on, and deeper, wider or
longer ones to see whether what they learned carries over. Written only when asked for by name."""
import cnn
import mobile
import transformer

CHANNELS = [64, 128, 256, 512]

# Rows of small MobileNets, a family on which greedy descent is not optimal.
MOBILES = [
    [(3, 16, 16, 1, 0, 2), (5, 24, 16, 0, 1, 1)],
    [(5, 16, 16, 1, 0, 2), (3, 32, 16, 0, 1, 1)],
    [(3, 16, 16, 1, 0, 2), (5, 24, 16, 0, 0, 1)],
    [(3, 16, 16, 1, 0, 1), (3, 24, 16, 0, 1, 1)],
    [(3, 16, 16, 1, 0, 2), (3, 32, 24, 1, 1, 2)],
    [(5, 16, 16, 1, 0, 1), (5, 24, 16, 0, 0, 1)],
]


def mobile_named(k):
    name = f"mobile_{k}"
    return name, lambda seed: mobile.mobilenet_v3(name, MOBILES[k], 32, 24, 16, 10, seed)


MODELS = {
    **dict(map(mobile_named, range(len(MOBILES)))),
    "bert_2x64": lambda seed: transformer.bert("bert_2x64", 2, 128, 2, 512, 1000, 1, 64, seed),
    "densenet_2": lambda seed: cnn.densenet("densenet_2", [3, 6], 16, 32, 96, 100, seed),
    "resnet10": lambda seed: cnn.resnet("resnet10", cnn.basic_block, [1, 1, 1, 1], CHANNELS, 224,
                                        1000, seed),
    "resnet34_320": lambda seed: cnn.resnet("resnet34_320", cnn.basic_block, [3, 4, 6, 3], CHANNELS,
                                            320, 1000, seed),
    "bert_12x384": lambda seed: transformer.bert("bert_12x384", 12, 768, 12, 3072, 30522, 1, 384,
                                                 seed),
    "lora_mlp_12": lambda seed: transformer.lora_mlp("lora_mlp_12", 12, 64, 512, 8, seed),
}
