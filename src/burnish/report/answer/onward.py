"""The end of a short report: where the file is, and the next commands."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from burnish.report.analysis import marks
from burnish.report.analysis.taken import taken
from burnish.report.document import Literal, Section

if TYPE_CHECKING:
    from burnish.report.answer.around import Around
    from burnish.report.result import Result

REPRODUCE = "burnish reproduce {take} --run {run}"
"""Of this run: variants of other runs, and of other engines, have the same names."""

_USE = (
    ("install", "burnish install {run} --variant {take}", "install it"),
    ("package", "burnish package {run} --variant {take}", "make a package of it"),
    ("reproduce", REPRODUCE, "a script that rebuilds it"),
)
"""What can be done with a build: verb, command, what it does; the first that there is, and not more than two."""

_PACKAGING = ("install", "package")
"""Those of them that refuse a build for its marks."""

_RESUME = ("resume", "burnish resume {run}", "continues it")
_PAGE = ("report", "burnish report {run} -o {engine}.html", "a page to send")
_WHOLE = ("show", "burnish show {run} --full", "all of it")
_MOST = 2

WIDTH = 80
"""Columns within which a command has what it does beside it."""

_INDENT = 9


def section(result: Result, around: Around) -> Section:
    """Where the recommended program is, then the next commands; neither is ever broken, so that it can be copied."""
    take = taken(result)
    steps = commands(result, around, take)
    widest = max(len(command) for command, _ in steps)
    roomy = all(_INDENT + widest + 4 + len(does) <= WIDTH for _, does in steps)
    lines = [_file(around)] if take is not None else []
    for number, (command, does) in enumerate(steps):
        label = ("" if number else "next").ljust(_INDENT)
        lines.append(f"{label}{command.ljust(widest)}  # {does}" if roomy else f"{label}{command}")
    return Section("onward", (Literal(tuple(lines)),))


def _file(around: Around) -> str:
    label = "file".ljust(_INDENT)
    if not around.file:
        return f"{label}not on this machine"
    size = f"  ({around.size / 1e6:.0f} MB)" if around.size >= 1_000_000 else ""
    line = f"{label}{around.file}"
    return line + size if len(line + size) <= WIDTH else line


def commands(result: Result, around: Around, take: str | None) -> Sequence[tuple[str, str]]:
    """The next commands, each with what it does; only of verbs that there are."""
    build = next((build for build in result.builds if build.built and build.variant == take), None)
    refused = _PACKAGING if build is not None and marks.withheld(marks.of_build(build)) else ()
    there = [step for step in _USE if step[0] in around.verbs and step[0] not in refused]
    use = there[:_MOST] if around.file and build is not None else []
    words = {
        name: shlex.quote(text) for name, text in (("take", take or ""), ("run", around.run), ("engine", result.engine))
    }
    of_kept = {**words, "run": shlex.quote(around.kept or around.run)}
    fetch = [(around.pull, "fetches its build")] if around.pull and not around.file and build is not None else []
    page = [_PAGE] if "report" in around.verbs else []
    resume = [_RESUME] if around.resumes and "resume" in around.verbs else []
    given = [*((step, words) for step in resume), *((step, of_kept) for step in use)]
    given += [(step, words) for step in (*page, _WHOLE)]
    return [*fetch, *((command.format(**named), does) for (_, command, does), named in given)]
