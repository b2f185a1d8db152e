#!/usr/bin/env python3
"""What `cmake --install` makes: it runs wherever it lies.

  python install_test.py BUILD_FOLDER CMAKE
"""
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, CMAKE = sys.argv[1:3]


def run(*command, **options):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300,
                          **options)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.keep = tempfile.TemporaryDirectory()
        made = pathlib.Path(cls.keep.name) / "made"
        done = run(CMAKE, "--install", BUILD, "--prefix", made)
        assert done.returncode == 0, done.stderr
        cls.prefix = pathlib.Path(cls.keep.name) / "moved here"
        shutil.move(made, cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.keep.cleanup()

    def find(self, name):
        found = list(self.prefix.rglob(name))
        self.assertEqual(len(found), 1, f"{name}: {found}")
        return found[0]

    def test_the_program_finds_its_rules_where_it_lies(self):
        shown = run(self.prefix / "bin/regraft", "rules", "show", "-q", "--json", "-")
        files = {rule["file"] for rule in json.loads(shown.stdout)}
        self.assertTrue(files, shown.stderr)
        for file in files:
            self.assertEqual(pathlib.Path(file).resolve().parent,
                             (self.prefix / "share/regraft/substitutions").resolve())

    def test_a_link_to_the_program_finds_them_too(self):
        link = pathlib.Path(self.keep.name) / "link"
        link.symlink_to(self.prefix / "bin/regraft")
        shown = run(link, "rules", "show", "-q", "--json", "-")
        self.assertIn("moved here", json.loads(shown.stdout)[0]["file"])

    def test_the_library_finds_its_rules_where_it_lies(self):
        library = ctypes.CDLL(str(self.find("libregraft.so")))
        library.regraft_start.restype = ctypes.c_void_p
        library.regraft_report.restype = ctypes.c_char_p
        handle = ctypes.c_void_p(library.regraft_start(b"rules show", b"{}", None, 0))
        library.regraft_wait(handle, ctypes.c_double(-1), None, None)
        rules = json.loads(library.regraft_report(handle, None))
        library.regraft_free(handle)
        self.assertIn("moved here", rules[0]["file"])

    def test_profiles_policies_and_the_package_are_there(self):
        for name in ("profiles/*.profile", "policies/default.policy", "python/regraft/serve.py",
                     "python/regraft/py.typed"):
            self.assertTrue(list((self.prefix / "share/regraft").glob(name)), name)
        self.assertEqual(list(self.prefix.rglob("__pycache__")), [])
        listed = run(self.prefix / "bin/regraft", "cost", "list", "--json", "-",
                     env={**os.environ, "HOME": self.keep.name, "XDG_CACHE_HOME": self.keep.name})
        self.assertIn("moved here", listed.stdout, listed.stderr)

    def test_the_header_compiles_and_links(self):
        compiler = shutil.which("cc")
        if not compiler:
            self.skipTest("no C compiler")
        source, program = (pathlib.Path(self.keep.name) / name for name in ("use.c", "use"))
        source.write_text("#include <regraft_env.h>\n#include <stdio.h>\n"
                          "int main(void) { return puts(regraft_version()) < 0; }\n")
        library = self.find("libregraft.so")
        made = run(compiler, "-Wall", "-Werror", "-pedantic", f"-I{self.prefix / 'include'}",
                   source, library, f"-Wl,-rpath,{library.parent}", "-o", program)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        self.assertEqual(run(program).stdout, run(self.prefix / "bin/regraft", "--version").stdout
                         .split()[-1] + "\n")

    def test_the_library_shows_its_interface_alone(self):
        if not shutil.which("nm"):
            self.skipTest("no nm")
        shown = run("nm", "-D", "--defined-only", self.find("libregraft.so")).stdout.splitlines()
        names = {line.split()[-1].split("@")[0] for line in shown}
        declared = set()
        for header in ("regraft.h", "regraft_env.h"):
            declared |= set(re.findall(r"REGRAFT_EXPORT [^;(]*?(regraft_\w+)\(",
                                       self.find(header).read_text()))
        self.assertEqual(names - {"REGRAFT_1"}, declared)

    def test_completions_name_the_commands(self):
        scripts = {"bash": self.find("bash-completion") / "completions/regraft",
                   "zsh": self.find("_regraft"), "fish": self.find("regraft.fish")}
        for shell, script in scripts.items():
            for word in ("optimize", "validate", "max-size", "backtracking", "court"):
                self.assertIn(word, script.read_text(), shell)
            if shutil.which(shell):
                checked = run(shell, "-n", script)
                self.assertEqual((checked.returncode, checked.stderr), (0, ""), shell)

    def completed(self, *words):
        """What bash offers for the last of the words."""
        line = " ".join(f"'{word}'" for word in ("regraft", *words))
        script = self.find("bash-completion") / "completions/regraft"
        code = (f"source '{script}'; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _regraft; "
                "printf '%s\\n' \"${COMPREPLY[@]}\"")
        return run("bash", "-c", code, cwd=self.prefix).stdout.split()

    def test_bash_completes(self):
        self.assertEqual(self.completed("opt"), ["optimize"])
        self.assertIn("show", self.completed("rules", "s"))
        self.assertIn("--max-size", self.completed("optimize", "--max"))
        self.assertEqual(self.completed("optimize", "--search", "back"), ["backtracking"])
        self.assertIn("share", self.completed("optimize", "sh"))

    def test_the_manual_page_is_clean(self):
        page = self.find("regraft.1")
        text = page.read_text()
        for word in (".SH NAME", ".SS optimize", "EXIT STATUS"):
            self.assertIn(word, text)
        if shutil.which("groff"):
            done = run("groff", "-man", "-Tutf8", "-ww", page)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
