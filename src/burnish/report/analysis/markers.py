"""Rendered parts of Markdown files, between markers; text outside of the markers is kept. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from burnish.base.errors import UserError, unknown
from burnish.report.contents import document, verdict_sections
from burnish.report.render.markdown import markdown, sections
from burnish.report.result import Result

PARTS: Mapping[str, Callable[[Result], str]] = {
    "report": lambda result: markdown(document(result)),
    "verdicts": lambda result: sections(verdict_sections(result)),
}
"""What can be rendered between markers: the complete report of a record, or only its tables of verdicts."""

USUAL_PART = "report"

END = "<!-- burnish: end -->"
_BEGIN = re.compile(r"<!-- burnish: begin (?P<name>\S+)(?: (?P<part>\S+))? -->")


def begin(name: str, part: str = USUAL_PART) -> str:
    """The marker before a rendered part."""
    return f"<!-- burnish: begin {name} -->" if part == USUAL_PART else f"<!-- burnish: begin {name} {part} -->"


def has_markers(text: str) -> bool:
    """Whether a text has markers for rendered parts."""
    return any(_BEGIN.fullmatch(line.strip()) for line in text.splitlines())


def filled(text: str, where: str, rendered: Callable[[str, str], str]) -> str:
    """A file's text with everything between its markers rendered anew.

    Args:
        text: the file as it is.
        where: its name, for messages.
        rendered: renders a part, given the record's name and the part's.

    Raises:
        UserError: a begin or end marker is missing, or a part is unknown.
    """
    lines: list[str] = []
    open_at = 0
    for number, line in enumerate(text.splitlines(), 1):
        marker = _BEGIN.fullmatch(line.strip())
        if open_at and (marker or line.strip() == END):
            if marker:
                raise UserError(f"{where}: line {number} begins a rendered part within that of line {open_at}; end it")
            open_at = 0
        elif line.strip() == END:
            raise UserError(f"{where}: line {number} ends a rendered part that has not begun")
        if open_at:
            continue
        lines.append(line)
        if marker:
            part = marker["part"] or USUAL_PART
            if part not in PARTS:
                raise unknown(f"part in {where}, line {number}", part, PARTS)
            lines += rendered(marker["name"], part).rstrip("\n").split("\n")
            open_at = number
    if open_at:
        raise UserError(f"{where}: the rendered part that begins in line {open_at} has no {END}")
    return "\n".join(lines) + ("\n" if text.endswith("\n") else "")


def first_difference(present: str, expected: str) -> tuple[int, str | None, str | None] | None:
    """(number, present line, expected line) of the first difference, None for a missing line; None if there is none."""
    if present == expected:
        return None
    present_lines, expected_lines = present.split("\n"), expected.split("\n")
    number = next(
        (n for n, pair in enumerate(zip(present_lines, expected_lines, strict=False)) if pair[0] != pair[1]), None
    )
    if number is None:
        number = min(len(present_lines), len(expected_lines))
    return (
        number + 1,
        present_lines[number] if number < len(present_lines) else None,
        expected_lines[number] if number < len(expected_lines) else None,
    )
