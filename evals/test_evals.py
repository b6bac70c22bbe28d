"""Tests of what counts the answers: `python3 -m unittest discover evals`. They need no server and no package."""

import unittest

from arms import ARMS, ABOUT, calls_of
from formats import short, table as formats_table
from tally import interval, markup, spread, table


class Tally(unittest.TestCase):
    def test_markup_is_marks_and_calls_and_nothing_else(self):
        call = '{"name": "add", "arguments": {"a": 1}}'
        self.assertEqual(markup(f"Sure:\n```json\n{call}\n```"), len(call))
        self.assertEqual(markup(f"<tool_call>\n{call}\n</tool_call>"), len("<tool_call></tool_call>") + len(call))
        self.assertEqual(markup("a < b, f(x) = {x: 1}, <b>bold</b>, [1] and " + '{"name": "Ann", "age": 3}'), 0)

    def test_an_interval_holds_the_share_and_narrows(self):
        few, many = interval(5, 10), interval(50, 100)
        for low, high in (few, many):
            self.assertTrue(low < 0.5 < high)
        self.assertLess(many[1] - many[0], few[1] - few[0])
        self.assertEqual(interval(0, 0), (0.0, 1.0))
        self.assertGreater(interval(0, 10)[1], 0.2)

    def test_a_table_counts_what_all_arms_were_asked(self):
        row = {"category": "multiple", "calls": [{"f": {}}], "why": None, "markup": 0, "prompt_tokens": 10}
        none = row | {"category": "irrelevance", "id": "irrelevance_0"}
        rows = [
            row | {"arm": "engine", "id": "multiple_0", "why": "no call", "calls": [], "markup": 7},
            row | {"arm": "native", "id": "multiple_0"},
            row | {"arm": "native", "id": "multiple_1", "why": "wrong_count"},
            none | {"arm": "engine", "why": "called"},
            none | {"arm": "native", "calls": []},
        ]
        engine, native = table(rows, ["engine", "native"]).splitlines()[2:]
        self.assertEqual(engine, "| engine | 0/1 | 0/1 (0 to 79 %) | 0/1 | 1/1 (21 to 100 %) | 7 B | 10 |")
        self.assertEqual(native, "| native | 1/1 | 1/1 (21 to 100 %) | 1/1 | 0/1 (0 to 79 %) | 0 B | 10 |")

    def test_a_spread_is_in_points(self):
        self.assertEqual(spread([0.5, 0.5]), (0, 0))
        widest, deviation = spread([0.0, 1.0])
        self.assertEqual(widest, 100)
        self.assertAlmostEqual(deviation, 70.7, 1)


class Arms(unittest.TestCase):
    def test_every_arm_is_told(self):
        self.assertEqual(ARMS.keys(), ABOUT.keys())

    def test_calls_are_as_the_judge_takes_them(self):
        calls = [{"function": {"name": "add", "arguments": '{"a": 1}'}}, {"function": {"name": "add", "arguments": "{"}}]
        self.assertEqual(calls_of({"tool_calls": calls}), [{"add": {"a": 1}}, {"add": None}])
        self.assertEqual(calls_of({"content": "no"}), [])


class Formats(unittest.TestCase):
    def test_both_readers_are_counted_on_the_same_answers(self):
        row = {"format": "ret_fmt=json&tool_call_tag=True&func_doc_fmt=xml&prompt_fmt=plaintext&style=classic"}
        rows = [row | {"by_bfcl": "no call", "by_del": None}, row | {"by_bfcl": None, "by_del": "wrong_count"}]
        text = formats_table(rows)
        self.assertIn("| json, tagged, xml docs | 1 | 1 | 2 |", text)
        self.assertIn("BFCL's decoder: a call in 1 of 2 answers, 1 right", text)
        self.assertIn("`del parse`: a call in 2 of 2 answers, 1 right", text)

    def test_a_format_has_a_short_name(self):
        name = "ret_fmt=json&tool_call_tag=True&func_doc_fmt=xml&prompt_fmt=markdown&style=experimental"
        self.assertEqual(short(name), "json, tagged, xml docs, markdown, experimental")


if __name__ == "__main__":
    unittest.main()
