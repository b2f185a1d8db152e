#!/usr/bin/env python3
"""The atlas of rules: what it shows, that it needs nothing from
elsewhere, and that a browser shows it.

  python atlas_test.py REGRAFT [TestClass[.test]]
"""
import json
import os
import pathlib
import re
import resource
import shutil
import tempfile
import time
import unittest

import command_line
from command_line import BAD_INPUT, DONE, regraft
from pages import CHROMIUM, Pages, parsed, text_of, url_of

RULES = pathlib.Path(__file__).resolve().parents[2] / "substitutions"
MOST_BYTES = 20e6
MOST_SECONDS, CORES = 60, 2


def lines_of(path):
    return [line for line in path.read_text(encoding="utf-8").splitlines()
            if line.strip() and not line.startswith("#")]


class Atlas(Pages):
    """The site of the shipped rules."""

    @classmethod
    def setUpClass(cls):
        cls.keep_site = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.keep_site.cleanup)
        cls.site = os.path.join(cls.keep_site.name, "deep", "site")
        began, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        cls.run_of_it = regraft("rules", "atlas", "-o", cls.site, "-q")
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        cls.seconds = time.monotonic() - began
        cls.cpu = now.ru_utime - used.ru_utime + now.ru_stime - used.ru_stime
        cls.pages = {str(p) for p in pathlib.Path(cls.site).rglob("*.html")}
        cls.trees = {p: parsed(p) for p in cls.pages}

    def test_there_is_a_page_for_each_rule(self):
        self.assert_exit(self.run_of_it, DONE)
        self.assertEqual(self.run_of_it.stdout, "")
        rows = {body.get("data-f"): body for body in self.trees[self.site + "/index.html"].iter("tbody")}
        files = sorted(RULES.glob("*.rules"))
        self.assertEqual(list(rows), [f.stem for f in files])
        total = 0
        for file in files:
            names = sorted(line.split()[0] for line in lines_of(file))
            pages = pathlib.Path(self.site, "rules", file.stem).glob("*.html")
            titles = sorted(text_of(self.trees[str(p)].find(".//h1")) for p in pages)
            self.assertEqual(titles, names)
            listed = [text_of(a) for a in rows[file.stem].iter("a")]
            self.assertEqual(sorted(listed), names)
            total += len(names)
        self.assertGreater(total, 1500)
        self.assertIn(f"{total} rules", text_of(self.trees[self.site + "/index.html"]))

    def test_every_rule_has_what_it_is_to_have(self):
        for path in self.pages:
            if "/rules/" not in path:
                continue
            tree = self.trees[path]
            drawings = list(tree.iter("svg"))
            self.assertEqual([text_of(d.find("title")).split(":")[0] for d in drawings],
                             ["Left side", "Right side"], path)
            for d in drawings:
                self.assertTrue([g for g in d.iter("g") if "ou" in g.get("class").split()], path)
            places = {e.get("id") for e in tree.iter()}
            self.assertLessEqual({"where", "numerics", "proof", "pays", "text"}, places, path)
            self.assertNotIn("tools", places, path)
            shown = text_of(tree)
            self.assertRegex(shown, "What is assumed|these shapes only", path)
            self.assertRegex(shown, r"Prices of onnxruntime|could not be priced", path)

    def test_a_rule_as_it_is_shown(self):
        line = next(x for x in lines_of(RULES / "fusions.rules") if x.startswith("add-batchnorm="))
        tree = next(t for p, t in self.trees.items() if "/rules/fusions/" in p
                    and text_of(t.find(".//h1")) == line.split()[0])
        shown = text_of(tree)
        self.assertIn("batchnorm(a + b, c, d, f, g, epsilon=e)", shown)
        self.assertIn("a[n,n,n,n] b[n,n,n,n] c[n] d[n] f[n] g[n]", shown)
        self.assertIn("numerics: rounding-f32", shown)
        witness = re.search(r"numerics:rounding-f32\[((?:[^\]\\]|\\.)*)\]", line).group(1)
        self.assertIn(" ".join(witness.replace("\\", "").split()), shown)
        left = list(tree.iter("svg"))[0]
        self.assertEqual([text_of(g.find("text")) for g in left.iter("g")
                          if g.get("class") == "op"], ["add", "batchnorm"])

    def test_pages_are_self_contained_and_accessible(self):
        for path in self.pages:
            self.assert_self_contained(path, self.trees)
            self.assert_accessible(path, self.trees[path])
        for file in ("style.css", "search.js"):
            text = pathlib.Path(self.site, file).read_text(encoding="utf-8")
            self.assertNotRegex(text, r"https?:|//\w|@import|url\(|fetch\(|XMLHttp")

    def test_size_and_time(self):
        sizes = [p.stat().st_size for p in pathlib.Path(self.site).rglob("*") if p.is_file()]
        print(f"atlas: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB, {self.seconds:.1f} s, "
              f"{self.cpu:.1f} s of CPU")
        self.assertLess(sum(sizes), MOST_BYTES)
        # Time that other programs take is not the atlas's.
        self.assertLess(self.cpu / CORES, MOST_SECONDS)

    def test_colours_have_contrast(self):
        """WCAG 2.1 AA: 4.5 to 1 for text."""
        def luminance(colour):
            if len(colour) == 4:
                colour = "#" + "".join(2 * c for c in colour[1:])
            parts = [int(colour[k:k + 2], 16) / 255 for k in (1, 3, 5)]
            linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

        style = pathlib.Path(self.site, "style.css").read_text(encoding="utf-8")
        themes = re.findall(r":root\{([^}]*)\}", style)
        self.assertEqual(len(themes), 2)
        for theme in themes:
            colours = dict(re.findall(r"--([\w-]+):(#\w+)", theme))
            pairs = [("ink", "paper"), ("ink", "back"), ("soft", "paper"), ("soft", "back"),
                     ("link", "paper"), ("link", "back"), ("ink", "op"), ("soft", "op"),
                     ("ink", "const"), ("soft", "const"), ("good", "good-b"), ("fair", "fair-b"),
                     ("bad", "bad-b")]
            for front, back in pairs:
                light, dark = sorted((luminance(colours[front]), luminance(colours[back])), reverse=True)
                self.assertGreaterEqual((light + 0.05) / (dark + 0.05), 4.5, (front, back))


class AtlasOptions(Pages):
    """Other files than the shipped ones."""

    def setUp(self):
        super().setUp()
        self.rules = os.path.join(self.folder, "few.rules")
        lines = (RULES / "hand.rules").read_text(encoding="utf-8").splitlines()
        pathlib.Path(self.rules).write_text("\n".join(lines[:6]) + "\n", encoding="utf-8")
        self.names = [line.split()[0] for line in lines[1:6]]

    def atlas(self, *more, out="site"):
        folder = os.path.join(self.out_folder, out)
        return folder, regraft("rules", "atlas", "-o", folder, "--rules", self.rules, *more)

    def test_the_same_bytes_with_any_number_of_threads(self):
        contents = []
        for threads in (1, 2):
            folder, run = self.atlas("--threads", threads, out=f"site{threads}")
            self.assert_exit(run, DONE)
            self.assertRegex(run.stdout, r"^5 rules in .* s: ")
            files = sorted(p for p in pathlib.Path(folder).rglob("*") if p.is_file())
            contents.append([(str(p.relative_to(folder)), p.read_bytes()) for p in files])
        self.assertEqual(contents[0], contents[1])
        self.assertEqual(len(contents[0]), 5 + 4)

    def test_what_tools_apply(self):
        court = os.path.join(self.folder, "court.json")
        with open(court, "w", encoding="utf-8") as file:
            entry = {"tool": "a<b>&\"c\"", "version": "1.2", "result": "applies it"}
            json.dump({self.names[0]: [entry], "another": [entry]}, file)
        folder, run = self.atlas("--court", court, "-q")
        self.assert_exit(run, DONE)
        self.assertIn("1 of its names are of no rule here", run.stderr)
        tree = parsed(f"{folder}/rules/few/{self.names[0]}.html")
        cells = [text_of(td) for td in tree.iter("td")]
        self.assertIn("a<b>&\"c\"", cells)
        self.assertIn("applies it", cells)
        self.assertNotIn("Tools that apply it", text_of(parsed(f"{folder}/rules/few/{self.names[1]}.html")))
        for text in ("[]", "{\"r\": [{\"tool\": 1}]}", "{", "{\"r\": 3}"):
            with open(court, "w", encoding="utf-8") as file:
                file.write(text)
            shutil.rmtree(folder, ignore_errors=True)
            self.assert_refused(self.atlas("--court", court)[1], "court.json")

    def test_inputs_survive(self):
        folder, run = self.atlas("-q")
        self.assert_exit(run, DONE)
        rules = os.path.join(folder, "index.html")
        shutil.copy(self.rules, rules)
        run = regraft("rules", "atlas", "-o", folder, "--rules", rules)
        self.assert_exit(run, BAD_INPUT)
        self.assertIn("different files", run.stderr)
        self.assertEqual(pathlib.Path(rules).read_bytes(), pathlib.Path(self.rules).read_bytes())

    def test_bad_files_are_refused(self):
        text = pathlib.Path(self.rules).read_text(encoding="utf-8")
        for broken in (text.replace("seal=", "seal=0", 1), text + "nonsense\n"):
            pathlib.Path(self.rules).write_text(broken, encoding="utf-8")
            self.assert_refused(self.atlas()[1], r"few\.rules:\d+")
        pathlib.Path(self.rules).write_text(text, encoding="utf-8")
        pathlib.Path(self.out_folder, "site").write_text("a file", encoding="utf-8")
        run = self.atlas()[1]
        self.assert_exit(run, BAD_INPUT)
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)


@unittest.skipUnless(CHROMIUM, "no browser: apt-get install chromium")
class Browser(Pages):
    """What a real browser makes of the pages."""

    @classmethod
    def setUpClass(cls):
        cls.keep_site = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.keep_site.cleanup)
        cls.site = os.path.join(cls.keep_site.name, "site")
        files = [RULES / "hand.rules", RULES / "layers.rules", RULES / "selection.rules"]
        cls.made = regraft("rules", "atlas", "-o", cls.site, "-q", "--rules", *files)
        cls.count = sum(len(lines_of(f)) for f in files)

    def url(self, path):
        return url_of(os.path.join(self.site, path))

    def found(self, query):
        """Rows that the index shows for a query, and what it says of them."""
        page = self.chromium(self.url("index.html") + query, "--dump-dom", "--virtual-time-budget=5000")
        rows = re.findall(r"<tr data-o=\"([^\"]*)\"[^>]*>", page)
        shown = [ops for tag, ops in re.findall(r"(<tr data-o=\"([^\"]*)\"[^>]*>)", page)
                 if "hidden" not in tag]
        self.assertEqual(len(rows), self.count)
        return shown, re.search(r"id=\"found\"[^>]*>([^<]*)<", page).group(1)

    def test_search(self):
        self.assert_exit(self.made, DONE)
        shown, said = self.found("")
        self.assertEqual((len(shown), said), (self.count, f"{self.count} rules"))
        shown, said = self.found("?op=matmul")
        self.assertTrue(0 < len(shown) < self.count)
        self.assertTrue(all("matmul" in ops.split() for ops in shown))
        self.assertEqual(said, f"{len(shown)} of {self.count} rules")
        layers = len(lines_of(RULES / "layers.rules"))
        self.assertEqual(len(self.found("?family=layers")[0]), layers)
        self.assertEqual(len(self.found("?family=hand&q=concat%20CONV%20xyzzy")[0]), 0)
        self.assertGreater(len(self.found("?family=hand&q=concat%20CONV")[0]), 0)

    def test_labels_fit_their_boxes(self):
        """As the browser's own fonts draw them, in all drawings of the site."""
        drawings = []
        for path in sorted(pathlib.Path(self.site).rglob("rules/*/*.html")):
            drawings += re.findall(r"<svg class=\"graph\".*?</svg>", path.read_text(encoding="utf-8"))
        self.assertGreaterEqual(len(drawings), 2 * self.count)
        style = pathlib.Path(self.site, "style.css").read_text(encoding="utf-8")
        title = self.drawings_as_drawn(drawings, style, os.path.join(self.site, "all.html"))
        self.assertRegex(title, r"^boxes [1-9]\d{3,} bad 0 ")

    def test_pages_are_drawn(self):
        hand = sorted(pathlib.Path(self.site, "rules/hand").glob("*.html"))[0]
        for page in ("index.html", "reading.html", f"rules/hand/{hand.name}"):
            for width in (1200, 400):
                picture = os.path.join(self.out_folder, "page.png")
                self.take_picture(self.url(page), picture, width)


if __name__ == "__main__":
    command_line.main()
