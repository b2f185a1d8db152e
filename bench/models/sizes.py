"""The other models' architectures at other sizes: small ones to train agents on, and deeper, wider or
longer ones to see whether what they learned carries over. Written only when asked for by name."""
import cnn
import transformer

CHANNELS = [64, 128, 256, 512]

MODELS = {
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
