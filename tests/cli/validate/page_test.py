#!/usr/bin/env python3
"""The page of `validate --html`: what it shows of models that were proved equal, refuted and not
decided, that it needs nothing from elsewhere, and that a browser shows it; and `--numerics`.

  python page_test.py REGRAFT [TestClass[.test]]
"""
import html.parser
import json
import os
import pathlib
import re
import unittest

from validation import UNDECIDED  # finds command_line

import command_line
import numpy as np
import onnx
from command_line import BAD_INPUT, DONE, FAILED, regraft
from onnx import TensorProto, helper, numpy_helper
from pages import CHROMIUM, Pages, parsed, text_of, url_of

MOST_BYTES = 2e6
VOID = {"meta", "link", "input", "br", "hr", "img"}
ODD_NAME = "a<b>&\"c\"\u202e"


class Reader(html.parser.HTMLParser):
    """Opens and closes each element, as HTML has it."""

    def __init__(self):
        super().__init__()
        self.open, self.problems = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if re.search(r"https?:|//", value or "") or name == "src":
                self.problems.append(f"{name}={value}")

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}>")


def node(kind, inputs, output, **attributes):
    return helper.make_node(kind, inputs.split(), [output], name="node_" + output, **attributes)


class Validate(Pages):
    def save(self, name, nodes, constants=None, inputs=(("x", ["batch", 4]),),
             outputs=(("y", ["batch", 4]),)):
        def infos(all_of_them):
            return [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in all_of_them]

        data = [numpy_helper.from_array(np.asarray(c, np.float32), n)
                for n, c in (constants or {}).items()]
        graph = helper.make_graph(nodes, "g", infos(inputs), infos(outputs), data)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        path = os.path.join(self.folder, name)
        onnx.save(model, path)
        return path

    def validate(self, a, b, code, *more):
        """The page's tree and the report."""
        self.page = os.path.join(self.out_folder, "page.html")
        report = os.path.join(self.out_folder, "report.json")
        run = regraft("validate", a, b, "--html", self.page, "--json", report, "--time", 60, *more)
        self.assert_exit(run, code)
        self.said = run.stdout
        text = pathlib.Path(self.page).read_text(encoding="utf-8")
        self.assertLess(len(text.encode()), MOST_BYTES)
        self.assertNotIn(self.folder, text)
        reader = Reader()
        reader.feed(text)
        reader.close()
        self.assertEqual((reader.open, reader.problems), ([], []))
        self.assertNotRegex(text, r"@import|url\(|<script")
        tree = parsed(self.page)
        self.assert_self_contained(self.page, {self.page: tree})
        self.assert_accessible(self.page, tree)
        with open(report, encoding="utf-8") as file:
            return tree, json.load(file)

    def headings(self, tree):
        return [text_of(h) for h in tree.iter("h2")]

    def drawn(self, tree):
        """Operators of each drawing."""
        return [[text_of(g.find("text")) for g in svg.iter("g") if g.get("class") == "op"]
                for svg in tree.iter("svg")]

    def distributed(self):
        inputs = [(n, ["batch", 4]) for n in "xcd"]
        return (self.save("sum.onnx", [node("Mul", "x c", "p"), node("Mul", "x d", "q"),
                                       node("Add", "p q", "y")], inputs=inputs),
                self.save("product.onnx", [node("Add", "c d", "s"), node("Mul", "x s", "y")],
                          inputs=inputs))

    def softmaxes(self, columns=4):
        def one(name, axis):
            shapes = [["batch", columns]]
            return self.save(name, [node("Relu", "x", ODD_NAME),
                                    helper.make_node("Softmax", [ODD_NAME], ["y"], axis=axis)],
                             inputs=[("x", shapes[0])], outputs=[("y", shapes[0])])
        return one("rows.onnx", -1), one("columns.onnx", 0)

    def circles(self):
        return (self.save("plain.onnx", [node("Relu", "x", "y")]),
                self.save("circle.onnx", [
                    node("Relu", "x", "r"), node("Sin", "x", "s"), node("Cos", "x", "c"),
                    node("Mul", "s s", "s2"), node("Mul", "c c", "c2"), node("Add", "s2 c2", "one"),
                    node("Mul", "r one", "y")]))


class Contents(Validate):
    def test_proved(self):
        tree, report = self.validate(*self.distributed(), DONE)
        self.assertEqual(report["verdict"], "proved")
        shown = text_of(tree.find(".//main"))
        self.assertIn("Does product.onnx compute the same as sum.onnx?", shown)
        self.assertIn("its output is proved equal over the real numbers, for all inputs and all "
                      "values of the open sizes batch", shown)
        self.assertIn("How it was proved", self.headings(tree))
        windows = [w for w in report["windows"] if w["verdict"] in ("proved:all-sizes", "proved:solver")]
        sections = [s for s in tree.iter("section")]
        self.assertEqual(len(sections), len(windows))
        self.assertEqual(len(self.drawn(tree)), 2 * len(windows))
        self.assertIn(sorted(["mul", "mul", "add"]), [sorted(d) for d in self.drawn(tree)])
        merges = sum(w["count"] for w in windows)
        self.assertEqual(sum(int(n) for n in re.findall(r"serves (\d+) merge", shown)), merges)
        self.assertNotIn("numerics", shown)

    def test_equal_by_structure(self):
        a, b = (self.save(name, [node("Relu", "x", "y")]) for name in ("a.onnx", "b.onnx"))
        tree, _ = self.validate(a, b, DONE)
        self.assertIn("1 output is equal by structure alone", text_of(tree.find(".//main")))
        self.assertEqual(self.drawn(tree), [])

    def test_up_to_constants(self):
        one, two = np.float32([0.1, 0.2, 0.3, 0.7]), np.float32([1.7, 3.3, 0.9, 1.1])
        a = self.save("a.onnx", [node("Mul", "x one", "p"), node("Mul", "p two", "y")],
                      {"one": one, "two": two})
        b = self.save("b.onnx", [node("Mul", "x both", "y")], {"both": one * two})
        tree, report = self.validate(a, b, DONE)
        self.assertEqual(report["verdict"], "proved-up-to-constants")
        self.assertTrue(report["constants"])
        self.assertIn("Constants that were computed anew", self.headings(tree))
        cells = [text_of(td) for td in tree.iter("td")]
        self.assertIn("both", cells)
        for constant in report["constants"]:
            if constant["deviation"] > 0:
                self.assertIn(f"{constant['deviation']:.2e}", cells)
                self.assertIn(f"{constant['bound']:.2e}", cells)

    def test_refuted(self):
        tree, report = self.validate(*self.softmaxes(), FAILED)
        found = report["counterexample"]
        shown = text_of(tree.find(".//main"))
        self.assertIn("Counterexample", self.headings(tree))
        position = ", ".join(map(str, found["position"]))
        self.assertIn(f"output 'y' at [{position}] is {found['a']:.9g} in the first model and "
                      f"{found['b']:.9g} in the second", shown)
        data = found["inputs"]["x"]["data"]
        cells = [text_of(td) for td in tree.iter("td")]
        self.assertEqual(cells[cells.index("batch") + 1], str(found["sizes"]["batch"]))
        self.assertIn(f"float32[{','.join(map(str, found['inputs']['x']['shape']))}]", cells)
        self.assertTrue([c for c in cells if c.startswith("[[") and
                         [float(n) for n in re.findall(r"[-\d.e+]+", c)] == data])
        self.assertEqual(self.drawn(tree)[:2], [["softmax"], ["softmax"]])
        first, second = (text_of(svg) for svg in list(tree.iter("svg"))[:2])
        self.assertIn("axis=-1", first)
        self.assertIn("axis=0", second)
        self.assertIn("a<b>&\"c\"", first)
        replayed = found["replayed"]
        self.assertIn(f"run in {replayed}" if replayed else "not replayed", shown)

    def test_long_inputs_are_shortened(self):
        tree, report = self.validate(*self.softmaxes(columns=5000), FAILED)
        shape = report["counterexample"]["inputs"]["x"]["shape"]
        cell, = [text_of(td) for td in tree.iter("td") if "elements: " in text_of(td)]
        self.assertTrue(cell.startswith(f"{np.prod(shape)} elements: "), cell)
        self.assertLess(len(cell), 1000)

    def test_another_interface(self):
        a = self.save("a.onnx", [node("Relu", "x", "y")])
        b = self.save("b.onnx", [node("Relu", "x", "y"), node("Sum", "x z", "w")],
                      inputs=[("x", ["batch", 4]), ("z", ["batch", 4])],
                      outputs=[("w", ["batch", 4, 1])])
        tree, report = self.validate(a, b, FAILED)
        self.assertTrue(report["interface"])
        self.assertIn("Differences of the interfaces", self.headings(tree))
        items = [text_of(li) for li in tree.iter("li")]
        for difference in report["interface"]:
            self.assertIn(difference, items)

    def test_unknown(self):
        tree, report = self.validate(*self.circles(), UNDECIDED)
        self.assertTrue(report["unknown"])
        shown = text_of(tree.find(".//main"))
        self.assertIn("What was not decided", self.headings(tree))
        self.assertIn("Not decided. Proved: 0 of 1 outputs", shown)
        smallest = report["unknown"][0]
        self.assertIn("Reason: " + smallest["reason"], shown)
        pictures = list(tree.iter("svg"))
        for svg, side in zip(pictures, ("a_nodes", "b_nodes")):
            drawn = {t for g in svg.iter("g") if g.get("class") == "op" for t in
                     [text_of(t) for t in g.iter("text")]}
            for name in smallest[side]:
                self.assertIn(name, drawn)
        self.assertIn("sin", self.drawn(tree)[1])

    def test_a_large_model(self):
        """A thousand nodes, each window another rule."""
        def chain(name, layers):
            nodes, constants, value = [], {}, "x"
            for k in range(250):
                out = "y" if k == 249 else f"h{k}"
                nodes += layers(k, value, out, constants)
                value = out
            return self.save(name, nodes, constants)

        def two(k, value, out, constants):
            constants[f"k{k}"] = np.float32(2 * k + 3)
            return [node("Mul", f"{value} k{k}", f"p{k}"), node("Relu", value, f"q{k}"),
                    node("Sub", f"p{k} {value}", f"s{k}"), node("Add", f"s{k} q{k}", out)]

        def one(k, value, out, constants):
            constants[f"k{k}"] = np.float32(2 * k + 2)
            return [node("Mul", f"{value} k{k}", f"p{k}"), node("Relu", value, f"q{k}"),
                    node("Add", f"p{k} q{k}", out)]

        tree, report = self.validate(chain("long.onnx", two), chain("short.onnx", one), DONE)
        self.assertGreater(report["nodes"]["a"], 1000)
        self.assertGreater(len(report["windows"]), 200)
        print(f"page of a large model: {os.path.getsize(self.page) / 1e3:.0f} kB, "
              f"{report['seconds']:.1f} s")
        shown = text_of(tree.find(".//main"))
        self.assertRegex(shown, r"Of \d+ rules, the \d+ that serve most merges are drawn")
        self.assertRegex(shown, r"\d+ further rules are left out")
        self.assertLess(len(self.drawn(tree)), 100)

    def test_one_file_is_not_two(self):
        a, b = self.distributed()
        page = os.path.join(self.out_folder, "page.html")
        for clash in ("--json", "--certificate"):
            self.assert_refused(regraft("validate", a, b, "--html", page, clash, page), "page")
        before = pathlib.Path(b).read_bytes()
        self.assert_refused(regraft("validate", a, b, "--html", b), "product.onnx")
        self.assertEqual(pathlib.Path(b).read_bytes(), before)

    def test_nothing_is_written_of_bad_models(self):
        a, b = self.distributed()
        pathlib.Path(b).write_bytes(b"no model")
        run = regraft("validate", a, b, "--html", os.path.join(self.out_folder, "page.html"))
        self.assert_refused(run, "product.onnx")


class Numerics(Validate):
    def test_windows_are_judged(self):
        tree, report = self.validate(*self.distributed(), DONE, "--numerics")
        window, = report["windows"]
        self.assertIn(window["numerics"], ("exact", "rounding", "rounding-f32", "unsafe"))
        self.assertIn(f"numerics: {window['numerics']}", text_of(tree.find(".//main")))
        self.assertIn(f"in floating point: 1 {window['numerics']}", self.said)

    def test_a_window_that_overflows(self):
        a = self.save("a.onnx", [node("Softmax", "x", "y")])
        b = self.save("b.onnx", [node("Exp", "x", "e"), node("ReduceL1", "e", "s", axes=[-1]),
                                 node("Div", "e s", "y")])
        tree, report = self.validate(a, b, DONE, "--numerics")
        judged = [w for w in report["windows"] if w["numerics"] == "unsafe"]
        self.assertTrue(judged, report["windows"])
        self.assertIn(judged[0]["witness"], text_of(tree.find(".//main")))
        self.assertIn("unsafe", self.said)

    def test_large_sizes_that_are_fixed(self):
        """They are judged at small ones where the window holds at these."""
        shape, heads = [16, 640, 1024], [16, 640, 16, 64]
        to = np.int64(heads)

        def model(name, nodes, out):
            graph = helper.make_graph(
                nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                [helper.make_tensor_value_info("y", TensorProto.FLOAT, out)],
                [numpy_helper.from_array(to, "to"),
                 numpy_helper.from_array(np.float32(0.5), "half"),
                 numpy_helper.from_array(np.float32(1 / 1024), "part")])
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                      ir_version=8)
            path = os.path.join(self.folder, name)
            onnx.save(model, path)
            return path

        a = model("a.onnx", [node("Reshape", "x to", "r"), node("Mul", "r half", "h"),
                             node("Relu", "h", "y")], heads)
        b = model("b.onnx", [node("Relu", "x", "p"), node("Mul", "p half", "h"),
                             node("Reshape", "h to", "y")], heads)
        _, report = self.validate(a, b, DONE, "--numerics")
        self.assertEqual([w["numerics"] for w in report["windows"]], ["rounding"])

        a = model("mean.onnx", [node("Abs", "x", "u"), node("ReduceMean", "u", "y", axes=[2])],
                  [16, 640, 1])
        b = model("sum.onnx", [node("ReduceL1", "x", "s", axes=[2]), node("Mul", "s part", "y")],
                  [16, 640, 1])
        tree, report = self.validate(a, b, DONE, "--numerics")
        self.assertEqual({w["numerics"] for w in report["windows"]}, {"unknown"}, report["windows"])
        self.assertIn("numerics: unknown", text_of(tree.find(".//main")))

    def test_not_unless_asked_for(self):
        _, report = self.validate(*self.distributed(), DONE)
        self.assertNotIn("numerics", report["windows"][0])
        self.assertNotIn("in floating point", self.said)


@unittest.skipUnless(CHROMIUM, "no browser: apt-get install chromium")
class Browser(Validate):
    """What a real browser makes of the pages."""

    def test_pages_are_drawn_and_labels_fit(self):
        drawings = []
        for models, code in ((self.distributed(), DONE), (self.softmaxes(), FAILED),
                             (self.circles(), UNDECIDED)):
            self.validate(*models, code)
            for width in (1200, 400):
                picture = os.path.join(self.out_folder, "page.png")
                self.take_picture(url_of(self.page), picture, width)
            page = pathlib.Path(self.page).read_text(encoding="utf-8")
            drawings += re.findall(r"<svg class=\"graph\".*?</svg>", page, re.S)
            style = re.search(r"<style>(.*?)</style>", page, re.S).group(1)
        self.assertGreaterEqual(len(drawings), 6)
        title = self.drawings_as_drawn(drawings, style, os.path.join(self.out_folder, "all.html"))
        self.assertRegex(title, r"^boxes \d\d+ bad 0 ")


if __name__ == "__main__":
    command_line.main()
