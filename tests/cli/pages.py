"""What tests of HTML pages share: reading them, what every page must be, and a browser."""
import os
import pathlib
import re
import shutil
import subprocess
import urllib.parse
import xml.etree.ElementTree
import zlib

import command_line

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def parsed(path):
    """The tree of a page; an error when it is not well-formed."""
    return xml.etree.ElementTree.fromstring(
        pathlib.Path(path).read_text(encoding="utf-8").replace("<!DOCTYPE html>", ""))


def text_of(element):
    return " ".join("".join(element.itertext()).split())


def url_of(path):
    return "file://" + urllib.parse.quote(str(path))


class Pages(command_line.CommandLine):
    def assert_self_contained(self, path, trees):
        """Nothing is fetched from elsewhere, and every address leads to a page and a place in it."""
        tree = trees[path]
        ids = [e.get("id") for e in tree.iter() if e.get("id")]
        self.assertEqual(len(ids), len(set(ids)), f"{path}: an id stands twice")
        for element in tree.iter():
            for name, value in element.attrib.items():
                self.assertFalse(name.startswith("on"), f"{path}: {name}")
                if name in ("aria-labelledby", "for"):
                    for one in value.split():
                        self.assertIn(one, ids, path)
                if name not in ("href", "src", "action", "data", "xlink:href", "srcset"):
                    continue
                parts = urllib.parse.urlsplit(value)
                self.assertFalse(parts.scheme or parts.netloc, f"{path}: {value}")
                file = urllib.parse.unquote(parts.path)
                target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
                self.assertTrue(os.path.isfile(target), f"{path}: {value}")
                if parts.fragment:
                    there = [e.get("id") for e in trees[target].iter()]
                    self.assertIn(parts.fragment, there, f"{path}: {value}")

    def assert_accessible(self, path, tree):
        self.assertEqual(tree.get("lang"), "en", path)
        levels = [int(e.tag[1]) for e in tree.iter() if re.fullmatch(r"h[1-6]", e.tag)]
        self.assertEqual((levels[0], levels.count(1)), (1, 1), path)
        for above, below in zip(levels, levels[1:]):
            self.assertLessEqual(below, above + 1, f"{path}: a heading's level is left out")
        self.assertEqual(len(list(tree.iter("main"))), 1, path)
        for drawing in tree.iter("svg"):
            self.assertEqual(drawing.get("role"), "img", path)
            for kind in ("title", "desc"):
                self.assertTrue(text_of(drawing.find(kind)), path)
        labelled = {e.get("for") for e in tree.iter("label")}
        for tag in ("input", "select", "button"):
            for e in tree.iter(tag):
                self.assertIn(e.get("id"), labelled, path)
        for table in tree.iter("table"):
            self.assertTrue(all(th.get("scope") for th in table.iter("th")), path)

    def chromium(self, page, *options):
        profile = os.path.join(self.out_folder, "profile")
        run = subprocess.run(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--no-first-run", "--disable-extensions", "--host-resolver-rules=MAP * ~NOTFOUND",
             f"--user-data-dir={profile}", *options, page],
            capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, 0, run.stderr[-2000:])
        return run.stdout

    def take_picture(self, url, picture, width, height=900):
        """A screenshot that is not empty."""
        self.chromium(url, f"--screenshot={picture}", f"--window-size={width},{height}")
        data = pathlib.Path(picture).read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(int.from_bytes(data[16:20], "big"), width)
        pixels = zlib.decompress(b"".join(
            data[at + 4:at + 4 + int.from_bytes(data[at - 4:at], "big")]
            for at in (m.start() for m in re.finditer(b"IDAT", data))))
        self.assertGreater(len(set(pixels)), 100, "an empty page")

    def drawings_as_drawn(self, drawings, style, page):
        """How many boxes the drawings (SVG texts) have, and which texts do not fit theirs, or which
        overlap: "boxes 10 bad 0 ". `page`: a file to write."""
        script = """
          const bad = [];
          let boxes = 0;
          for (const svg of document.querySelectorAll("svg")) {
            const room = svg.viewBox.baseVal, rects = [];
            for (const g of svg.querySelectorAll("g")) {
              const r = g.querySelector("rect").getBBox();
              boxes += 1;
              for (const t of g.querySelectorAll("text")) {
                const b = t.getBBox();
                if (b.x < r.x || b.x + b.width > r.x + r.width || b.y + b.height > r.y + r.height + 1)
                  bad.push("text " + t.textContent);
              }
              if (r.x < 0 || r.y < 0 || r.x + r.width > room.width || r.y + r.height > room.height)
                bad.push("room " + g.textContent);
              for (const o of rects)
                if (r.x < o.x + o.width && o.x < r.x + r.width && r.y < o.y + o.height && o.y < r.y + r.height)
                  bad.push("overlap " + g.textContent);
              rects.push(r);
            }
          }
          document.title = "boxes " + boxes + " bad " + bad.length + " " + bad.slice(0, 5).join("; ");"""
        with open(page, "w", encoding="utf-8") as file:
            file.write(f"<!DOCTYPE html><html><head><meta charset='utf-8'><style>{style}</style></head>"
                       f"<body>{''.join(drawings)}<script>{script}</script></body></html>")
        dom = self.chromium(url_of(page), "--dump-dom")
        return re.search(r"<title>([^<]*)", dom).group(1)
