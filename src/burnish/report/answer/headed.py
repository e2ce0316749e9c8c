"""The first two lines of a short report: what was compared, where and when."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from burnish.report.compose import points
from burnish.report.document import Paragraph, Role, Section, Span
from burnish.report.words import plural

if TYPE_CHECKING:
    from burnish.report.result import Result

_PACKAGE = "Debian source package "
_PROGRAMS = "existing server programs"
_LEFT_OUT = ("Linux ", "hypervisor ", "THP ")
"""Beginnings of facts of the host that are in the whole report only."""


def section(result: Result, title: str = "") -> Section:
    """What was compared; host and day, and what makes the whole unreliable.

    Args:
        result: the run.
        title: the first line; '' for builds, programs or conditions against a baseline.
    """
    where = f"{host(result.host)}, {day(result)}"
    warnings = [
        f"FORCED: this host's calibration failed for {', '.join(result.forced)}; its verdicts cannot be relied on"
    ]
    return Section(
        "heading",
        (
            Paragraph(Span(title or compared(result), Role.STRONG)),
            Paragraph(Span(where, Role.ASIDE)),
            points(warnings if result.forced else ()),
        ),
    )


def compared(result: Result) -> str:
    """``mariadb 1:10.11.18-0+deb12u1 (bookworm): 7 builds against baseline, 2 loads``."""
    candidates = list(dict.fromkeys(row.candidate for row in result.rows))
    missing = [build.variant for build in result.builds if build.failure and build.variant not in candidates]
    count = len(candidates) + len(missing)
    loads = len(dict.fromkeys(row.workload for row in result.rows))
    noun = "build" if result.verb == "tune" else "candidate"
    who = candidates[0] if count == len(candidates) == 1 else plural(count, noun)
    on = f", {plural(loads, 'load')}" if loads else ""
    return f"{source(result)}: {who} against {result.baseline}{on}"


def source(result: Result) -> str:
    """The source, short: package with version, or what it is."""
    text = result.source.removeprefix(_PACKAGE)
    if text == _PROGRAMS:
        return result.engine
    return text if text.startswith(result.engine) else f"{result.engine}, {text}"


def host(line: str) -> str:
    """A host's line without kernel, hypervisor and the like; of several hosts each after its letter."""
    return "; ".join(_short(one) for one in line.split("; "))


def _short(line: str) -> str:
    facts = [fact for fact in line.split(", ") if not fact.startswith(_LEFT_OUT)]
    processor = facts[0].partition(" (family/model/stepping")[0] if facts else line
    return ", ".join((processor, *(fact.removeprefix("Debian GNU/Linux ").strip() for fact in facts[1:2])))


def day(result: Result) -> str:
    """The day on which it ended, or that it has not."""
    at = datetime.fromisoformat(result.ended or result.begun)
    return f"{at.day} {at:%b %Y}" if result.ended else f"begun {at.day} {at:%b %Y}, not finished"
