"""Rendered parts of Markdown files: between markers, so that what people wrote around them stays; pure."""

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
"""What of a record can stand between markers: the whole report, or its tables of verdicts alone."""

USUAL_PART = "report"

END = "<!-- burnish: end -->"
_BEGIN = re.compile(r"<!-- burnish: begin (?P<name>\S+)(?: (?P<part>\S+))? -->")


def begin(name: str, part: str = USUAL_PART) -> str:
    """The marker before a rendered part."""
    return f"<!-- burnish: begin {name} -->" if part == USUAL_PART else f"<!-- burnish: begin {name} {part} -->"


def has_markers(text: str) -> bool:
    """Whether parts of a file are rendered."""
    return any(_BEGIN.fullmatch(line.strip()) for line in text.splitlines())


def filled(text: str, where: str, rendered: Callable[[str, str], str]) -> str:
    """A file's text with everything between its markers rendered anew.

    Args:
        text: the file as it is.
        where: its name, for messages.
        rendered: from a record's name and a part's to what stands there.

    Raises:
        UserError: a marker without its other half, or with a part that there is not.
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


def first_difference(found: str, expected: str) -> tuple[int, str | None, str | None] | None:
    """(line, as it is, as it should be) of the first line that differs, None for a line that is not there."""
    if found == expected:
        return None
    one, other = found.split("\n"), expected.split("\n")
    number = next((n for n, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    if number is None:
        number = min(len(one), len(other))
    return (
        number + 1,
        one[number] if number < len(one) else None,
        other[number] if number < len(other) else None,
    )
