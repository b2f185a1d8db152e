"""Recommendation, graphs, recurrent networks, points and fields."""
import torch

from zoo.entry import Case, rows

FIELDS = [200, 100, 50, 400, 30, 80]  # values of each categorical field


def mlp(sizes, last=None):
    layers = []
    for a, b in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers[:-1], *([last] if last else []))


class Recommender(torch.nn.Module):
    """Embeddings of categorical fields beside numbers."""

    def __init__(self, width=16):
        super().__init__()
        self.tables = torch.nn.ModuleList(torch.nn.Embedding(n, width) for n in FIELDS)

    def embedded(self, fields):
        return torch.stack([table(fields[:, k]) for k, table in enumerate(self.tables)], 1)


class Dlrm(Recommender):
    """Dot products of all pairs of features: Naumov et al., 2019."""

    def __init__(self, width=16):
        super().__init__(width)
        count = len(FIELDS) + 1
        self.bottom = mlp([13, 64, 32, width], torch.nn.ReLU())
        self.pairs = torch.tril_indices(count, count, -1)
        self.top = mlp([width + count * (count - 1) // 2, 64, 32, 1], torch.nn.Sigmoid())

    def forward(self, numbers, fields):
        dense = self.bottom(numbers)
        all_of_them = torch.cat([dense[:, None], self.embedded(fields)], 1)
        products = all_of_them @ all_of_them.transpose(1, 2)
        return self.top(torch.cat([dense, products[:, self.pairs[0], self.pairs[1]]], 1))


class DeepFm(Recommender):
    """A factorisation machine beside a deep network: Guo et al., 2017."""

    def __init__(self, width=16):
        super().__init__(width)
        self.weights = torch.nn.ModuleList(torch.nn.Embedding(n, 1) for n in FIELDS)
        self.linear = torch.nn.Linear(13, 1)
        self.deep = torch.nn.Sequential(torch.nn.Linear(13 + width * len(FIELDS), 64),
                                        torch.nn.BatchNorm1d(64), torch.nn.ReLU(),
                                        torch.nn.Linear(64, 1))

    def forward(self, numbers, fields):
        e = self.embedded(fields)
        first = torch.stack([w(fields[:, k]) for k, w in enumerate(self.weights)], 1).sum(1)
        second = 0.5 * (e.sum(1) ** 2 - (e ** 2).sum(1)).sum(1, keepdim=True)
        deep = self.deep(torch.cat([numbers, e.flatten(1)], 1))
        return torch.sigmoid(self.linear(numbers) + first + second + deep)


class CrossNetwork(Recommender):
    """Explicit feature crosses: Wang et al., 2021 (DCN v2)."""

    def __init__(self, width=16):
        super().__init__(width)
        size = 13 + width * len(FIELDS)
        self.crosses = torch.nn.ModuleList(torch.nn.Linear(size, size) for _ in range(3))
        self.deep = mlp([size, 64, 32], torch.nn.ReLU())
        self.head = torch.nn.Linear(size + 32, 1)

    def forward(self, numbers, fields):
        x = first = torch.cat([numbers, self.embedded(fields).flatten(1)], 1)
        for cross in self.crosses:
            x = first * cross(x) + x
        return torch.sigmoid(self.head(torch.cat([x, self.deep(first)], 1)))


def recommender(kind):
    def build(batch):
        fields = torch.stack([torch.randint(0, n, (batch,)) for n in FIELDS], 1)
        inputs = {"numbers": torch.rand(batch, 13), "fields": fields}
        return Case(kind(), inputs, ["score"], {name: {0: "batch"} for name in inputs},
                    {"fields": [0, min(FIELDS) - 1]})
    return build


class GraphNetwork(torch.nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        import torch_geometric.nn as package
        layer = getattr(package, kind)
        width = 32 * options.get("heads", 1)
        self.first, self.second = layer(16, 32, **options), layer(width, 32, **options)
        self.head = torch.nn.Linear(width, 7)

    def forward(self, features, edges):
        x = torch.relu(self.first(features, edges))
        return self.head(torch.relu(self.second(x, edges)))


def graph_network(kind, **options):
    def build(_):
        inputs = {"features": torch.randn(20, 16), "edges": torch.randint(0, 20, (2, 60))}
        return Case(GraphNetwork(kind, **options), inputs, ["logits"],
                    {"features": {0: "nodes"}, "edges": {1: "edges"}}, {"edges": [0, 19]},
                    {"nodes": [20, 28], "edges": [50, 70]})
    return build


class Tagger(torch.nn.Module):
    """Labels of tokens by a bidirectional LSTM or GRU."""

    def __init__(self, kind):
        super().__init__()
        self.table = torch.nn.Embedding(1000, 64)
        self.body = kind(64, 64, num_layers=2, bidirectional=True, batch_first=True)
        self.head = torch.nn.Linear(128, 9)

    def forward(self, tokens):
        return self.head(self.body(self.table(tokens))[0])


class Crnn(torch.nn.Module):
    """Text of an image: convolutions, then a bidirectional LSTM along its width."""

    def __init__(self):
        super().__init__()
        layers, channels = [], 1
        for width, pool in ((32, (2, 2)), (64, (2, 2)), (128, (2, 1)), (128, (4, 1))):
            layers += [torch.nn.Conv2d(channels, width, 3, padding=1),
                       torch.nn.BatchNorm2d(width), torch.nn.ReLU(), torch.nn.MaxPool2d(pool)]
            channels = width
        self.body = torch.nn.Sequential(*layers)
        self.rnn = torch.nn.LSTM(128, 64, bidirectional=True)
        self.head = torch.nn.Linear(128, 37)

    def forward(self, image):
        features = self.body(image).squeeze(2).permute(2, 0, 1)
        return torch.log_softmax(self.head(self.rnn(features)[0]), 2)


def tagger(kind):
    def build(batch):
        return Case(Tagger(kind), {"tokens": torch.randint(0, 1000, (batch, 12))}, ["tags"],
                    {"tokens": {0: "batch", 1: "sequence"}}, {"tokens": [0, 999]})
    return build


def crnn(batch):
    return Case(Crnn(), {"image": torch.randn(batch, 1, 32, 96)}, ["scores"],
                {"image": {0: "batch"}})


class PointNet(torch.nn.Module):
    """Points through shared layers and a maximum, with a learned transformation of the input."""

    def __init__(self):
        super().__init__()
        def shared(*sizes):
            return torch.nn.Sequential(*(torch.nn.Sequential(
                torch.nn.Conv1d(a, b, 1), torch.nn.BatchNorm1d(b), torch.nn.ReLU())
                for a, b in zip(sizes, sizes[1:])))
        self.look, self.turn = shared(3, 32, 128), torch.nn.Linear(128, 9)
        self.body = shared(3, 64, 128, 256)
        self.head = mlp([256, 64, 10], torch.nn.Identity())

    def forward(self, points):
        turn = self.turn(self.look(points).amax(2)).view(-1, 3, 3) + torch.eye(3)
        return self.head(self.body(turn @ points).amax(2))


class Field(torch.nn.Module):
    """Colour and density of places: positions as sines and cosines, then dense layers."""

    def __init__(self, waves=6):
        super().__init__()
        self.register_buffer("frequencies", 2.0 ** torch.arange(waves))
        self.first = mlp([3 + 6 * waves, 64, 64], torch.nn.ReLU())
        self.second = mlp([64 + 3 + 6 * waves, 64, 4], torch.nn.Identity())

    def forward(self, places):
        angles = (places[..., None] * self.frequencies).flatten(1)
        encoded = torch.cat([places, angles.sin(), angles.cos()], 1)
        out = self.second(torch.cat([self.first(encoded), encoded], 1))
        return torch.sigmoid(out[:, :3]), torch.relu(out[:, 3:])


def points(batch):
    return Case(PointNet(), {"points": torch.randn(batch, 3, 64)}, ["logits"],
                {"points": {0: "batch", 2: "points"}}, settings={"points": [32, 50]})


def places(batch):
    return Case(Field(), {"places": torch.rand(8 * batch, 3)}, ["colour", "density"],
                {"places": {0: "batch"}})


ROWS = [
    *rows("dlrm", "recommendation", recommender(Dlrm), "script:batch", "dynamo:batch"),
    *rows("deepfm", "recommendation", recommender(DeepFm), "script:batch:train", "dynamo"),
    *rows("dcn_v2", "recommendation", recommender(CrossNetwork), "script:batch"),
    *rows("gcn", "graph", graph_network("GCNConv"), "script:nodes:edges"),
    *rows("gat", "graph", graph_network("GATConv", heads=2), "script:nodes:edges"),
    *rows("sage", "graph", graph_network("SAGEConv"), "script:nodes:edges", "dynamo"),
    *rows("lstm_tagger", "recurrent", tagger(torch.nn.LSTM), "script:batch:sequence"),
    *rows("gru_tagger", "recurrent", tagger(torch.nn.GRU), "script:batch:sequence", "dynamo"),
    *rows("crnn", "recurrent", crnn, "script:batch:train", "dynamo"),
    *rows("pointnet", "points", points, "script:batch:points:train", "dynamo"),
    *rows("nerf", "points", places, "script:batch", "dynamo"),
]
