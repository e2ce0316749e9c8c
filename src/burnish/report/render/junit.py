"""A check as JUnit XML, which every CI server shows: a test for each load.

Written with the standard library: the part of the format that is needed here is six elements, and a dependency would be
one more thing to pin. XML has no way to write a control character, so a name's become signs for the unknown.
"""

from __future__ import annotations

from xml.etree import ElementTree as Tree

from burnish.base.visible import visible
from burnish.report.answer.checked import Check, Outcome

_ELEMENTS = {Outcome.SLOWER: "failure", Outcome.UNDECIDED: "error", Outcome.INVALID: "error"}
"""An undecided load is an error, not a skipped test: the pipeline must not take it for a pass."""


def junit(check: Check) -> str:
    """The check as a document: one suite, a test for each load."""
    outcomes = [one.outcome for one in check.loads]
    failures = outcomes.count(Outcome.SLOWER)
    errors = sum(_ELEMENTS.get(outcome) == "error" for outcome in outcomes)
    counts = {"tests": str(len(outcomes)), "failures": str(failures), "errors": str(errors)}
    root = Tree.Element("testsuites", {"name": "burnish", **counts})
    name = f"{check.engine}: {check.candidate} against {check.base}"
    suite = Tree.SubElement(root, "testsuite", {"name": name, **counts, "skipped": "0", "hostname": check.host})
    for one in check.loads:
        test = Tree.SubElement(suite, "testcase", {"classname": f"burnish.{check.engine}", "name": one.load})
        figures = (
            f"ratio {one.interval.ratio:.4f} [{one.interval.low:.4f}, {one.interval.high:.4f}]; "
            if one.interval
            else ""
        )
        text = f"{figures}{one.starts} starts; {one.reason}"
        if one.outcome in _ELEMENTS:
            element = Tree.SubElement(test, _ELEMENTS[one.outcome], {"message": text, "type": str(one.outcome)})
            element.text = check.sentence
        else:
            Tree.SubElement(test, "system-out").text = text
    Tree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + visible(Tree.tostring(root, encoding="unicode")) + "\n"
