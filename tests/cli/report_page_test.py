#!/usr/bin/env python3
"""The page of `optimize --report`: what it shows, that it needs nothing from elsewhere, how large it
gets, and what a browser makes of it.

  python3 tests/cli/report_page_test.py build/release/regraft [TestClass[.test]]
"""
import json
import os
import pathlib
import re
import subprocess
import unittest

import command_line
from command_line import DONE, regraft
from pages import CHROMIUM, Pages, parsed, text_of, url_of

import onnx
from onnx import TensorProto, helper

MOST_BYTES = 2e6
BROWSER_SCRIPT = """
  const found = {};
  const [before, after] = document.querySelectorAll(".view");
  const room = document.documentElement;
  found.overflow = room.scrollWidth - room.clientWidth;
  const shown = (box, e) => {
    const outer = box.getBoundingClientRect(), r = e.getBoundingClientRect();
    return r.top >= outer.top - 1 && r.bottom <= outer.bottom + 1 && r.left < outer.right && r.right > outer.left;
  };
  const regions = [...new Set([...document.querySelectorAll("svg g[data-r]")].map(e => e.dataset.r))];
  found.regions = regions.length;
  found.bad = [];
  const click = e => e.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  const scroll = Element.prototype.scrollTo;  // at once
  Element.prototype.scrollTo = function (to, y) {
    if (y === undefined) scroll.call(this, { ...to, behavior: "instant" });
    else scroll.call(this, to, y);
  };
  const first = box => [...box.querySelectorAll("g.hot, g.near")];
  found.start = [before, after].every(v => first(v).some(e => shown(v, e)));
  for (const r of regions)
    for (const [from, to] of [[before, after], [after, before]]) {
      const box = from.querySelector("g[data-r='" + r + "']");
      if (!box) continue;
      to.scrollTo(0, to.scrollHeight);
      click(box);
      const twins = [...to.querySelectorAll("g.hot, g.near")];
      const open = [...document.querySelectorAll(".changes details[open]")].map(e => e.dataset.r);
      if (!box.classList.contains("hot")) found.bad.push(r + " is not highlighted");
      for (const e of [box, ...twins])
        if (parseFloat(getComputedStyle(e.querySelector("rect")).strokeWidth) < 4)
          found.bad.push(r + " does not stand out");
      if (!twins.length) found.bad.push(r + " has no twin");
      else if (!twins.some(e => shown(to, e))) found.bad.push(r + ": its twin is out of sight");
      if (open.join() !== r) found.bad.push(r + ": its steps are not open");
    }
  const last = [...document.querySelectorAll(".changes details")].pop();
  last.querySelector("summary").click();
  if (!document.querySelector("svg g.hot[data-r='" + last.dataset.r + "']")) found.bad.push("list");
  const same = [...before.querySelectorAll("g.op[data-n]:not([data-r]):not(.gone)")].pop();
  click(same);
  if (!after.querySelector("g.same[data-n='" + same.dataset.n + "']")) found.bad.push("same node");
  const slider = document.getElementById("zoom"), width = () => before.firstChild.getBoundingClientRect().width;
  const natural = width();
  slider.value = 50;
  slider.dispatchEvent(new Event("input"));
  if (Math.abs(width() - natural / 2) > 1) found.bad.push("zoom");
  document.title = JSON.stringify(found);
"""


def long_chain(layers):
    """Five nodes a layer, two of which undo each other."""
    nodes, value = [], "x"

    def add(kind, inputs, out, **attributes):
        nodes.append(helper.make_node(kind, inputs, [out], **attributes))
        return out

    for k in range(layers):
        there = add("Transpose", [value], f"a{k}", perm=[1, 0])
        bent = add("Sigmoid", [there], f"b{k}")
        back = add("Transpose", [bent], f"c{k}", perm=[1, 0])
        kept = add("Add", [back, value], f"d{k}")
        value = add("Tanh", [kept], f"e{k}")
    shape = [64, 80]
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, shape)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Report(Pages):
    def optimize(self, name, *more):
        return self.optimize_file(self.tiny(name), *more)

    def optimize_file(self, path, *more, command="optimize"):
        self.page = os.path.join(self.out_folder, "page.html")
        self.json = os.path.join(self.out_folder, "report.json")
        measuring = ["--no-measure"] if command == "optimize" else []
        return regraft(command, path, "-o", self.out, "-q", *measuring, "--report", self.page,
                       "--json", self.json, *more)

    def read(self):
        """The page's tree and the report."""
        text = pathlib.Path(self.page).read_text(encoding="utf-8")
        self.assertLess(len(text.encode()), MOST_BYTES)
        self.assertNotIn(self.folder, text)
        self.assertNotRegex(text, r"@import|url\(|https?://")
        script, = re.findall(r"<script>(.*?)</script>", text, re.S)
        self.assertNotRegex(script, r"[<&]|eval|fetch|XMLHttp|innerHTML")
        tree = parsed(self.page)
        self.assert_self_contained(self.page, {self.page: tree})
        self.assert_accessible(self.page, tree)
        with open(self.json, encoding="utf-8") as file:
            return tree, json.load(file)

    def whole(self, tree):
        return [svg for svg in tree.iter("svg") if svg.get("class") == "graph whole"]

    def boxes(self, svg, kind="op"):
        found = [g for g in svg.iter("g") if kind in g.get("class").split()]
        for g in found:  # the box, and perhaps its kernel's part of the time
            widths = [float(rect.get("width")) for rect in g.iter("rect")]
            self.assertLessEqual(max(widths), widths[0])
        return found


class Contents(Report):
    def test_it_shows_what_the_report_says(self):
        self.assert_exit(self.optimize("tiny_mobileone"), DONE)
        tree, report = self.read()
        rules = report["applied"]
        self.assertTrue(rules)
        sections = {text_of(s.find("h3")): s for s in tree.iter("section")}
        self.assertLessEqual(set(sections), set(rules))
        self.assertTrue(sections)
        for name, section in sections.items():
            self.assertEqual(len(list(section.iter("svg"))), 2)
            self.assertIn(f"applied {rules[name]} time", text_of(section))
        shown = text_of(tree)
        counts = [sum(report[side]["operators"].values()) for side in ("before", "after")]
        self.assertIn(f"operators: {counts[0]} to {counts[1]}", shown)
        for side in ("before", "after"):
            self.assertIn(f"{report[side]['cost']:.1f} µs", shown)

    def test_both_models_are_drawn(self):
        self.assert_exit(self.optimize("tiny_densenet"), DONE)
        tree, report = self.read()
        before, after = self.whole(tree)
        drawn = [len(self.boxes(svg)) for svg in (before, after)]
        counts = [sum(report[side]["operators"].values()) for side in ("before", "after")]
        self.assertEqual(drawn, counts)
        nodes = [{g.get("data-n") for g in self.boxes(svg)} for svg in (before, after)]
        changed = [{g.get("data-n") for g in self.boxes(svg) if g.get("data-r") or
                    "gone" in g.get("class")} for svg in (before, after)]
        self.assertEqual(nodes[0] - nodes[1], changed[0])
        self.assertEqual(nodes[1] - nodes[0], changed[1])
        self.assertTrue(changed[0])
        inputs = {v.name for v in onnx.load(self.out).graph.input}
        self.assertEqual({text_of(g.find("text")) for g in self.boxes(after, "va")}, inputs)

    def test_every_step_is_listed_with_its_place(self):
        self.assert_exit(self.optimize("tiny_densenet"), DONE)
        tree, report = self.read()
        changes, = [e for e in tree.iter("div") if e.get("class") == "changes"]
        regions = {d.get("data-r"): d for d in changes.iter("details")}
        listed = {int(li.get("value")): (r, text_of(li)) for r, d in regions.items()
                  for li in d.iter("li")}
        self.assertEqual(len(listed), len(report["steps"]))
        for k, step in enumerate(report["steps"], 1):
            region, shown = listed[k]
            self.assertEqual(region, str(step["region"]))
            self.assertTrue(shown.startswith(step["rule"]), shown)
            gain = step["cost_before"] - step["cost_after"]
            self.assertIn("±0 µs" if abs(gain) < 0.05 else f"{abs(gain):.1f} µs", shown)
            self.assertIn("numerics: " + step["numerics"], shown)
            self.assertIn(step["verdict"], ("proved:all-sizes", "proved:solver"))
            self.assertIn("proved for all sizes", shown)
        here = [{g.get("data-r") for g in svg.iter("g") if g.get("data-r")}
                for svg in self.whole(tree)]
        beside = [{r for g in svg.iter("g") for r in (g.get("data-a") or "").split()}
                  for svg in self.whole(tree)]
        self.assertTrue(here[0])
        self.assertLessEqual(here[0] | here[1], set(regions))
        self.assertEqual(here[0] - here[1], beside[1])
        self.assertEqual(here[1] - here[0], beside[0])

    def test_kernels_add_up_to_the_prediction(self):
        self.assert_exit(self.optimize("tiny_densenet"), DONE)
        tree, report = self.read()
        table, = [e for e in tree.iter("div") if e.get("class") == "kernels"]
        sums = {"before": 0.0, "after": 0.0}
        rows = [e for e in table.iter("div") if e.get("class") == "duo"]
        for row in rows:
            spans = [text_of(s) for s in row.iter("span")]
            for name, value in zip(spans[::2], spans[1::2]):
                number, unit = value.split()
                sums[name] += float(number) * {"µs": 1, "ms": 1e3}[unit]
        for side, total in sums.items():
            self.assertAlmostEqual(total, report[side]["cost"], delta=0.06 * len(rows) + 5)

    def test_the_search_is_a_curve(self):
        self.assert_exit(self.optimize("tiny_mobileone"), DONE)
        tree, report = self.read()
        curve, = [svg for svg in tree.iter("svg") if svg.get("class") == "curve"]
        points = [text_of(c) for c in curve.iter("circle")]
        found = report["search"]["improvements"]
        self.assertEqual(len(points), len(found))
        for point, improvement in zip(points, found):
            self.assertIn(improvement["rule"], point)
            self.assertIn(f"{improvement['candidate']} candidates", point)

    def test_nothing_to_do(self):
        self.assert_exit(self.optimize("tiny_mobileone", "--budget", "0"), DONE)
        self.read()

    def test_nothing_changes(self):
        path = os.path.join(self.folder, "relu.onnx")
        info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4]) for n in "xy"]
        graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", info[:1], info[1:])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)],
                                    ir_version=8), path)
        self.assert_exit(self.optimize_file(path), DONE)
        tree, _ = self.read()
        model, = self.whole(tree)
        self.assertEqual(len(self.boxes(model)), 1)
        self.assertIn("The original stays", text_of(tree))

    def test_simplify_has_it_too(self):
        self.assert_exit(self.optimize_file(self.tiny("tiny_resnet"), command="simplify"), DONE)
        tree, _ = self.read()
        self.assertTrue(self.whole(tree))

    def test_one_file_is_not_two(self):
        run = self.optimize("tiny_mobileone", "--certificate", os.path.join(self.out_folder, "page.html"))
        self.assert_refused(run, "page")

    def test_large_models(self):
        """A thousand nodes are drawn one by one; more become stretches."""
        for layers in (200, 1000):
            path = os.path.join(self.folder, f"{layers}.onnx")
            onnx.save(long_chain(layers), path)
            self.assert_exit(self.optimize_file(path, "--search-time", 10, "--check", 0), DONE)
            tree, report = self.read()
            print(f"page of {5 * layers} nodes: {os.path.getsize(self.page) / 1e3:.0f} kB, "
                  f"{len(report['steps'])} steps")
            before = self.whole(tree)[0]
            stretches = [g for g in self.boxes(before) if "sk" in g.get("class").split()]
            alone = len(self.boxes(before)) - len(stretches)
            inside = sum(int(text_of(g.find("text")).split()[0]) for g in stretches)
            self.assertEqual(bool(stretches), layers == 1000)
            self.assertIn(alone + inside - 5 * layers, (0, 1))  # an input may be in a stretch
            self.assertTrue(report["steps"])
            self.assertTrue([g for g in before.iter("g") if g.get("data-r")])


@unittest.skipUnless(CHROMIUM, "no browser: apt-get install chromium")
class Browser(Report):
    """What a real browser makes of the page."""

    def in_browser(self, width):
        """What the script found on the page, and what the browser complained of."""
        text = pathlib.Path(self.page).read_text(encoding="utf-8")
        tried = os.path.join(self.out_folder, "tried.html")
        pathlib.Path(tried).write_text(
            text.replace("</body>", f"<script>{BROWSER_SCRIPT}</script></body>"), encoding="utf-8")
        run = subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--no-first-run", "--disable-extensions", "--host-resolver-rules=MAP * ~NOTFOUND",
             "--enable-logging=stderr", f"--user-data-dir={self.out_folder}/profile",
             f"--window-size={width},900", "--dump-dom", url_of(tried)],
            capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, 0, run.stderr[-2000:])
        said = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
        title = re.search(r"<title>(\{[^<]*)</title>", run.stdout)
        self.assertTrue(title, said)
        return json.loads(title.group(1)), said

    def test_regions_are_linked(self):
        for name in ("tiny_densenet", "tiny_lora"):
            self.assert_exit(self.optimize(name), DONE)
            for width in (1400, 400):
                found, said = self.in_browser(width)
                self.assertEqual((found["bad"], said), ([], []), f"{name}, {width} pixels")
                self.assertLessEqual(found["overflow"], 0, f"{name}, {width} pixels")
                self.assertTrue(found["start"], "what won most is shown first")
                self.assertGreater(found["regions"], 0)
                self.take_picture(url_of(self.page), os.path.join(self.out_folder, "page.png"), width)

    def test_labels_fit_their_boxes(self):
        self.assert_exit(self.optimize("tiny_densenet"), DONE)
        text = pathlib.Path(self.page).read_text(encoding="utf-8")
        drawings = re.findall(r"<svg class=\"graph.*?</svg>", text, re.S)
        style = re.search(r"<style>(.*?)</style>", text, re.S).group(1)
        title = self.drawings_as_drawn(drawings, style, os.path.join(self.out_folder, "all.html"))
        self.assertRegex(title, r"^boxes \d\d+ bad 0 ")


if __name__ == "__main__":
    command_line.main()
