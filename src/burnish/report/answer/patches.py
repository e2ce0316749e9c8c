"""A series of patches in short: a sentence for all together, and a line for each build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnish.report.answer import headed
from burnish.report.compose import points
from burnish.report.document import Points, Role, Section, Span
from burnish.report.sections import patch_sentences, patches
from burnish.report.words import plural

if TYPE_CHECKING:
    from burnish.report.result import Result

MOST = 3
"""Up to this many sentences each stands above the table; of a longer series only the first, on all together."""


def sections(result: Result) -> list[Section]:
    """Title, sentences, table."""
    count = len(result.patched.members) if result.patched is not None else 0
    title = f"{headed.source(result)}: {plural(count, 'patch', 'patches')}, built as {_recipe(result)}"
    tables = [section for section in patches.verdicts(result) if section.key == "verdicts"]
    return [headed.section(result, title), _answer(result), *tables]


def _recipe(result: Result) -> str:
    return result.patched.recipe if result.patched is not None else result.baseline


def _answer(result: Result) -> Section:
    lines = patch_sentences.sentences(result)
    shown = lines if len(lines) <= MOST else lines[:1]
    more = points([f"{len(lines) - len(shown)} more sentences in the whole report"] if len(shown) < len(lines) else [])
    return Section(
        "answer",
        (Points(tuple(Span(text, Role.PLAIN if number else Role.STRONG) for number, text in enumerate(shown))), more),
    )
