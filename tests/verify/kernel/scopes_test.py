#!/usr/bin/env python3
"""What tests/verify/kernel/scopes_test.cpp shows the kernel in C++, shown to the one in Python: names
that leave the range in which they mean something, and steps where a sum must stay what it is.

  python scopes_test.py
"""
import pathlib
import sys
import unittest
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))

from regraft.kernel import sizes  # noqa: E402
from regraft.kernel.claims import Partial  # noqa: E402
from regraft.kernel.derivations import Context, Goal, Lines  # noqa: E402
from regraft.kernel.terms import ZERO, Atom, Product, apply, difference, sum_of  # noqa: E402


class Scopes(unittest.TestCase):
    def setUp(self):
        self.symbols = sizes.Symbols()
        for name in ("n", "m"):
            self.symbols.make(name, 1)
        for name in ("i", "j", "k", "l", "u", "v"):
            self.symbols.make(name)
        self.symbols.claimed = {"n", "m", "i", "j"}

    def facts(self, *texts):
        return tuple(sizes.read_fact(self.symbols, text.split()) for text in texts)

    def read(self, *positions):
        return Atom("read", 0, tuple(self.symbols.read(p) for p in positions))

    def maximum(self, name, guard, of):
        return Atom("max", argument=sum_of(of), bound=(name,), guard=self.facts(*guard))

    def product(self, c, bound, guard, *atoms):
        return Product(Fraction(c), tuple(bound), self.facts(*guard), atoms)

    def answer(self, products, text, defined=None):
        """Empty: the lines show the sum to be 0."""
        try:
            lines = Lines(text)
            Goal(Context(self.symbols, (), (), defined), tuple(products)).run(lines)
            return "more lines" if lines.rest else ""
        except sizes.Refused as refused:
            return str(refused)

    def refuses(self, products, text):
        self.assertNotEqual(self.answer(products, text), "", text)

    def accepts(self, products, text):
        self.assertEqual(self.answer(products, text), "", text)

    def exp(self):
        return apply("exp", sum_of(self.read()))[0].atoms[0]

    def relu(self, *products):
        return apply("relu", products)[0].atoms[0]

    def test_a_law_binds_no_index_of_the_guard(self):
        total = self.product(1, "k", ["ge k", "ge n-1-k"], self.read("k"))
        same = apply("log", apply("exp", (total,)))[0].atoms[0]
        self.refuses([self.product(1, "", ["ge -1-k"], same)], "law undo 0 0\ndrop 1|lin 1 2\nend\n")
        plain = total._replace(coefficient=Fraction(-1), guard=self.facts("ge -1-j") + total.guard)
        self.accepts([self.product(1, "", ["ge -1-j"], same), plain],
                     "law undo 0 0\npair 1 2 0 k k\nend\n")

    def test_where_a_maximum_is_reached_stays_in_its_goal(self):
        there = "\nattain 0.0 u reached 0"
        every = self.maximum("k", ["ge k", "ge n-1-k"], self.read("k"))
        one = self.maximum("l", ["ge l", "ge -l"], self.read("l"))
        products = [self.product(1, "", [], self.relu(*sum_of(every))),
                    self.product(-1, "", [], self.relu(*sum_of(one)))]
        self.refuses(products, "inside 0 0" + there + "|least n;lin 1 2\nlaw fact 0 0 0 0\nend\ninside 1 0" +
                     there + "\nlaw fact 0 0 0 0\nend\npair 2 3 0\nend\n")

    def test_only_what_must_be_zero_is_multiplied(self):
        square = self.product(1, "", [], self.exp(), self.exp())
        self.refuses([self.product(1, "", [], self.relu(*sum_of(self.exp()))),
                      self.product(-1, "", [], self.relu(square))],
                     "inside 0 0\nmultiply 0.0\nend\npair 1 2 0\nend\n")
        self.refuses([self.product(-1, "", [], self.exp())], "infer 0\nmultiply 0\nend\nend\n")
        self.refuses(difference(sum_of(self.exp()), (square,)),
                     "body 0 -\nmultiply 0.0\nend\npair 1 2 0 1\nend\n")

    def test_what_multiplies_is_free_of_the_indices(self):
        def lines(s):
            return (f"whole {s}*{s}+1 >|either {s};lin 1 2*2;lin 1 2*2 2:2\nmultiply #0\n"
                    "pin 2 0 0\npin 3 0 1\n")
        first = self.product(1, "k", ["eq k"], self.read())
        second = self.product(-1, "k", ["eq k-1"], self.read())
        self.refuses([first._replace(coefficient=Fraction(2)), second],
                     lines("k") + "value 4 1\nvalue 5 1\npair 6 7 0\nend\n")
        self.accepts([first, second], lines("j") + "pair 4 5 0 1\nend\n")

    def test_maxima_that_are_compared_do_not_share_their_indices(self):
        window = self.maximum("k", ["ge k", "ge m-1-k"], self.read("u+k"))
        one = self.maximum("v", ["ge v", "ge m-1-v"], self.read("l"))
        self.refuses([self.product(1, "u", ["ge u", "ge n-1-u"], window),
                      self.product(-1, "l", ["ge l-k", "ge n-1-l+k"], one)],
                     "pair 0 1 0 u+k l-k\nindices k v\npair 0 1 0\nend\nend\n")

    def test_a_maximum_elsewhere_is_no_reason_for_a_free_index(self):
        below = self.maximum("l", ["ge l", "ge k-l"], self.read("l"))
        defined = [Partial(self.maximum("k", ["ge k", "ge n-1-k"], self.read("k")), (), ())]
        self.assertNotEqual(self.answer([self.product(1, "", ["ge -1-k"], below)],
                                        "attain 0.0 u as 0 k\ndrop 0|lin 1 2 3\nend\n", defined), "")

    def test_what_a_claim_is_about_is_no_name_of_an_index(self):
        products = [self.product(1, "k", ["eq k"], self.read("k"))]
        self.assertIn("names no index", self.answer(products, "alias 0 0 i\nend\n"))

    def test_nothing_is_learnt_from_a_number_times_zero(self):
        goal = Goal(Context(self.symbols, ()), sum_of(self.read()))
        goal.learn((self.product(0, "", [], self.read()),), ZERO)
        self.assertFalse(goal.shown())


if __name__ == "__main__":
    unittest.main()
