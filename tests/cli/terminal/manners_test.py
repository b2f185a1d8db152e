#!/usr/bin/env python3
"""Colour, width and suggestions: what the program shows on a terminal, and what elsewhere.

  python manners_test.py REGRAFT [TestClass[.test]]
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import time

import common
from common import command_line, model_of, node
from command_line import BAD_INPUT, DONE, USAGE, regraft

COLOUR = re.compile(r"\033\[\d+m")
CONTROL = re.compile(r"\033\[[0-9;]*[A-Za-z]")
PLAIN = {k: v for k, v in os.environ.items()
         if k not in ("NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM", "COLUMNS")}


def on_terminal(*arguments, columns=80, limit=120, **environment):
    """Exit code and what a terminal of that width is sent, stdout and stderr together."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    run = subprocess.Popen([command_line.program(), *map(str, arguments)], stdin=theirs,
                           stdout=theirs, stderr=theirs,
                           env={**PLAIN, "TERM": "xterm", **environment})
    os.close(theirs)
    said = b""
    while True:
        try:
            block = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        said += block
    os.close(ours)
    return run.wait(timeout=limit), said.decode().replace("\r\n", "\n")


def piped(*arguments, **environment):
    run = regraft(*arguments, env={**PLAIN, "TERM": "xterm", **environment})
    return run.returncode, run.stdout + run.stderr


class Models(common.Terminal):
    def relus(self, count=3):
        nodes = [node("Relu", [f"v{k}"], [f"v{k + 1}"]) for k in range(count)]
        return self.saved(model_of(nodes, {"v0": [4, 4]}, {f"v{count}": [4, 4]}))

    def work(self):
        return "simplify", self.relus(), self.out


class Colour(Models):
    def test_changes_are_coloured_on_a_terminal(self):
        code, said = on_terminal(*self.work())
        self.assertEqual(code, DONE, said)
        self.assertRegex(said, r"Relu +3 +1 +\033\[32m-2\033\[0m\n")

    def test_nowhere_else(self):
        self.assertNotIn("\033", piped(*self.work())[1])

    def test_what_the_environment_asks_for(self):
        for terminal, environment, coloured in (
                (True, {"NO_COLOR": "1"}, False), (True, {"NO_COLOR": ""}, True),
                (True, {"TERM": "dumb"}, False), (True, {"CLICOLOR": "0"}, False),
                (True, {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, False),
                (False, {"CLICOLOR_FORCE": "1"}, True), (False, {"CLICOLOR_FORCE": "0"}, False),
                (False, {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, False)):
            with self.subTest(terminal=terminal, **environment):
                code, said = (on_terminal if terminal else piped)(*self.work(), **environment)
                self.assertEqual(code, DONE, said)
                self.assertEqual(bool(COLOUR.search(said)), coloured, said)

    def test_verdicts_have_colours(self):
        a, b = self.relus(3), self.saved(model_of([node("Sigmoid", ["v0"], ["v3"])], {"v0": [4, 4]},
                                                  {"v3": [4, 4]}), "other.onnx")
        self.assertRegex(on_terminal("validate", a, a)[1], r"\033\[32mproved +\033\[0m v3")
        self.assertRegex(on_terminal("validate", a, b)[1], r"\033\[31mrefuted +\033\[0m v3")
        self.assertNotIn("\033", piped("validate", a, b)[1])

    def test_errors_are_red_and_warnings_yellow(self):
        code, said = on_terminal("stats", "missing.onnx")
        self.assertEqual(code, BAD_INPUT)
        self.assertTrue(said.startswith("\033[31mregraft:\033[0m "), said)
        code, said = on_terminal("optimize", self.relus(), self.out, "--no-measure", "--max-size",
                                 "10", "--check", "0")
        self.assertEqual(code, DONE, said)
        self.assertIn("regraft: \033[33mwarning:\033[0m the original stays", said)

    def test_reports_for_machines_are_never_coloured(self):
        code, said = piped(*self.work(), "-q", "--json", "-", CLICOLOR_FORCE="1")
        self.assertEqual(code, DONE)
        self.assertNotIn("\033", said)


class Commands(Models):
    def assert_fits(self, text, columns):
        longest = max(CONTROL.sub("", text).splitlines(), key=len)
        self.assertLessEqual(len(longest), columns, longest)

    def subcommands(self, *path):
        """All of them, those below others too."""
        said = regraft(*path, "--help", env=PLAIN).stdout
        _, _, below = said.partition("Subcommands:")
        found = [(*path, line.split()[0]) for line in below.splitlines()
                 if re.match(r"  \w", line)]
        return [path] + [deeper for sub in found for deeper in self.subcommands(*sub)]


class Unread(Models):
    def test_messages_that_nobody_can_read_change_nothing(self):
        program = command_line.program()
        for command, code in ((self.work(), DONE), (("stats", "/no"), BAD_INPUT), (("--no",), USAGE)):
            words = " ".join(map(str, (program, *command)))
            for nowhere in ("2>/dev/full", "2>&-"):
                run = subprocess.run(f"{words} {nowhere}", shell=True, capture_output=True)
                self.assertEqual(run.returncode, code, (words, nowhere))


class Width(Commands):
    def test_help(self):
        commands = self.subcommands()
        self.assertGreater(len(commands), 20)
        for command in commands:
            self.assert_fits(regraft(*command, "--help", env=PLAIN).stdout, 80)
            for columns in (40, 60, 100):
                with self.subTest(command=command, columns=columns):
                    run = regraft(*command, "--help", env={**PLAIN, "COLUMNS": str(columns)})
                    self.assertEqual(run.returncode, DONE)
                    self.assert_fits(run.stdout, columns)

    def test_help_says_the_same_at_any_width(self):
        def words(columns):
            said = regraft("optimize", "--help", env={**PLAIN, "COLUMNS": str(columns)}).stdout
            return re.sub(r"\s+", "", said)
        self.assertEqual(words(40), words(200))

    def test_help_on_a_terminal(self):
        for columns in (40, 60, 80):
            code, said = on_terminal("optimize", "--help", columns=columns)
            self.assertEqual(code, DONE)
            self.assert_fits(said, columns)

    def long_names(self):
        name = "a.very.long.domain.that.no.narrow.terminal.can.show:WithALongType"
        domain, kind = name.split(":")
        model = model_of([node(kind, ["x"], ["y"], domain=domain)], {"x": [4]}, {"y": [4]})
        model.opset_import.add(domain=domain, version=1)
        return self.saved(model, "long.onnx"), name

    def test_tables(self):
        model, name = self.long_names()
        for columns in (40, 60, 80):
            code, said = on_terminal("stats", model, columns=columns)
            self.assertEqual(code, DONE, said)
            rows = [line for line in said.splitlines() if line.startswith("a.very")]
            self.assertEqual(len(rows), 1, said)
            self.assertIn("..", rows[0])
            self.assert_fits("\n".join(line for line in said.splitlines() if set(line) == {"-"}),
                             columns)
            if columns >= 60:  # numbers stay whole, even where they do not fit
                self.assert_fits(rows[0], columns)
            code, said = on_terminal(*self.work(), columns=columns)
            self.assertEqual(code, DONE, said)
            self.assert_fits(said[:said.index("file size")], columns)
        self.assertIn(name, piped("stats", model)[1])  # files have no width

    def test_progress(self):
        model = self.tiny("tiny_vit")
        for columns, environment in ((40, {}), (80, {}), (40, {"TERM": "dumb"})):
            code, said = on_terminal(
                "optimize", model, self.out, "--no-measure", "--search", "annealing", "--budget",
                "1000000000", "--time", "4", "--cost", "roofline", columns=columns, **environment)
            self.assertEqual(code, DONE, said)
            lines = said.split("\r")[1:]
            if environment:
                self.assertNotIn("\033", said)
                continue
            self.assertGreater(len(lines), 3, said)
            for line in lines[:-1]:  # the last has the results behind it
                self.assert_fits(line, columns - 1)

    def test_no_progress_where_it_is_quiet(self):
        code, said = on_terminal("optimize", self.tiny("tiny_vit"), self.out, "--no-measure",
                                 "--quiet", "--budget", "2000", "--cost", "roofline")
        self.assertEqual((code, said), (DONE, ""))


def mistyped(word):
    """Two neighbours exchanged, or else a letter more."""
    for k in range(len(word) - 1):
        if word[k] != word[k + 1] and word[k].isalpha() and word[k + 1].isalpha():
            return word[:k] + word[k + 1] + word[k] + word[k + 2:]
    return word + "x"


class Suggestions(Commands):
    def help(self, command):
        said = regraft(*command, "--help", env={**PLAIN, "COLUMNS": "9999"}).stdout
        return said

    def options(self, command):
        return sorted(set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", self.help(command), re.M)))

    def test_subcommands(self):
        for command in self.subcommands()[1:]:
            *path, name = command
            with self.subTest(command=command):
                run = regraft(*path, mistyped(name))
                self.assert_exit(run, USAGE)
                self.assertIn("did you mean '", run.stderr)

    def test_options(self):
        count = 0
        for command in self.subcommands():
            if not self.options(command):
                continue
            for option in self.options(command):
                with self.subTest(command=command, option=option):
                    run = regraft(*command, "--" + mistyped(option[2:]))
                    self.assert_exit(run, USAGE)
                    self.assertIn("did you mean '--", run.stderr)
                    count += 1
        self.assertGreater(count, 100)

    def test_options_that_take_names(self):
        """Each value that --help lists, mistyped."""
        count = 0
        for command in self.subcommands():
            for option, names in re.findall(r"^  (?:-\w,)?(--[\w-]+) TEXT:\{([^}]*)\}",
                                            self.help(command), re.M):
                for name in names.split(","):
                    with self.subTest(command=command, option=option, name=name):
                        run = regraft(*command, option, mistyped(name))
                        self.assert_exit(run, USAGE)
                        self.assertIn("did you mean '", run.stderr)
                        count += 1
        self.assertGreater(count, 40)

    def assert_suggests(self, meant, code, *arguments, **environment):
        run = regraft(*arguments, env={**os.environ, **environment})
        self.assert_exit(run, code)
        self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
        self.assertIn(f"did you mean '{meant}'?", run.stderr)

    def test_what_only_the_work_knows(self):
        rules = self.rules("relu-relu=relu.0dc5")
        values = {"tokens": ["batch", "length"]}
        model = self.saved(model_of([node("Relu", ["tokens"], ["y"])], values,
                                    {"y": ["batch", "length"]}))
        to = ["optimize", model, self.out]
        wrong_rules, wrong_model = rules.replace("few", "fwe"), model.replace("model.", "modle.")
        for arguments, meant in (
                ([*to, "--disable-rule", "relu-rleu=relu.0dc5"], "relu-relu=relu.0dc5"),
                ([*to, "--rules", wrong_rules], rules),
                (["verify", wrong_rules, "-o", self.out], rules),
                (["rules", "show", wrong_rules], rules),
                ([*to, "--dim", "bacth=3"], "batch"), ([*to, "--shape", "tokns=1,2"], "tokens"),
                ([*to, "--typical", "lenght=3"], "length"),
                (["optimize", wrong_model, self.out], model), (["stats", wrong_model], model),
                (["generate", "--ops", "croe", "-o", self.out], "core"),
                (["bench", "learn", "--graphs", model, "--methods", "gredy"], "greedy")):
            with self.subTest(arguments=arguments):
                self.assert_suggests(meant, BAD_INPUT, *arguments)
        shipped = str(common.RULES / "core.rules")
        run = regraft(*to, "--rules", "core")
        self.assert_exit(run, BAD_INPUT)
        self.assertIn("core.rules'?", run.stderr)
        self.assert_suggests("roofline", USAGE, *to, "--cost", "rofline")
        self.assertTrue(os.path.exists(shipped))

    def test_what_is_like_nothing_gets_none(self):
        for arguments in (["frobnicate"], ["optimize", "--zzzzzzzz"],
                          ["optimize", "--search", "zzzzzzzz"]):
            self.assertNotIn("did you mean", regraft(*arguments).stderr)


if __name__ == "__main__":
    command_line.main()
