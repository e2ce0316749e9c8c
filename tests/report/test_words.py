"""Figures in words: one spelling of per cent, of small times and of counts."""

from __future__ import annotations

import ast
from pathlib import Path

import burnish.report
from burnish.report.render.layout import wrap
from burnish.report.words import microseconds, milliseconds, percent, plural


def test_a_count_agrees_with_its_noun() -> None:
    assert [plural(count, "start") for count in (0, 1, 2, 1500)] == ["0 starts", "1 start", "2 starts", "1,500 starts"]
    assert [plural(count, "patch", "patches") for count in (1, 2)] == ["1 patch", "2 patches"]


def test_shares_and_times() -> None:
    assert [percent(0.424), percent(0.0062, 2), percent(11.69, 1)] == ["42 %", "0.62 %", "1,169.0 %"]
    assert [microseconds(283e-6), microseconds(0.0125)] == ["283 µs", "12.5 ms"]
    assert [milliseconds(0.00427), milliseconds(3.3)] == ["4.27 ms", "3.3 s"]


def test_no_line_begins_with_a_per_cent_sign() -> None:
    assert wrap("functions counted (10 %), and more", 22) == ["functions counted", "(10 %), and more"]


def test_no_report_formats_a_share_without_the_space() -> None:
    """``f"{x:.1%}"`` writes 42.0%; `percent` writes 42.0 %."""
    found = [
        f"{path.name}:{node.lineno}"
        for path in Path(burnish.report.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FormattedValue) and node.format_spec and ast.unparse(node.format_spec).endswith("%'")
    ]
    assert found == []
