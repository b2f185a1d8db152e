"""Plots as SVG files with the same bytes each time. Needs matplotlib."""
import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "regraft"
from matplotlib import pyplot  # noqa: E402


def save(figure, path, **more):
    figure.savefig(path, metadata={"Date": None}, **more)
    pyplot.close(figure)
