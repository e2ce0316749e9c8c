"""Plain values of the catalogue: variants, flags, targets, options, loads, bundled studies, microbenchmarks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from burnish.base.processor import Processor
from burnish.catalogue.answers import answered_by
from burnish.catalogue.bundled.model import Study as BundledFile
from burnish.catalogue.flags import Flag, Target, as_json, target_as_json
from burnish.catalogue.micro import Micro
from burnish.catalogue.options import Option
from burnish.model.recipe import Variant
from burnish.model.workload import Workload
from burnish.study.extras.weights import file_of
from burnish.study.planning.study_plan import StudyPlan
from burnish.study.study import Study

Values = list[dict[str, Any]]


def variants(every: Iterable[Variant]) -> Values:
    """The ways to build."""
    return [
        {"variant": each.name, "reason": each.reason, **vars(each.marks), "changes": each.recipe.changes()}
        for each in every
    ]


def flags(entries: Iterable[Flag]) -> Values:
    """Flags with their spellings."""
    return [{**as_json(entry), "answers": answered_by("flags", entry.name)} for entry in entries]


def targets(entries: Iterable[Target], here: Processor) -> Values:
    """Processors and levels to build for."""
    return [{**target_as_json(entry), "runs_here": entry.runs_on(here)} for entry in entries]


def options(known: Iterable[Option]) -> Values:
    """An engine's configure options."""
    return [
        {
            **{name: value for name, value in vars(option).items() if name != "marks"},
            **vars(option.marks),
            "answers": answered_by("options", option.name),
        }
        for option in known
    ]


def loads(every: Iterable[Workload]) -> Values:
    """The loads."""
    return [
        {
            "engine": each.engine,
            "workload": each.name,
            "reason": each.reason,
            "threads": each.threads,
            "design": each.design,
            "parameters": dict(each.parameters),
            "settings": dict(each.settings),
        }
        for each in every
    ]


def micros(every: Iterable[Micro]) -> Values:
    """The functions that can be timed by themselves."""
    return [{"micro": each.name, "engine": each.engine, "does": each.does, "reason": each.reason} for each in every]


def studies(every: Iterable[BundledFile]) -> Values:
    """The bundled studies."""
    return [
        {
            "study": each.name,
            "title": each.title,
            "reason": each.reason,
            "sources": each.sources,
            "rows": [row.name for row in each.rows],
        }
        for each in every
    ]


def bundled_plan(table: Study, plan: StudyPlan) -> dict[str, Any]:
    """A bundled study before it is run: what it costs, and every comparison."""
    return {
        "study": file_of(table).name,
        "title": file_of(table).title,
        "engine": table.engine.name,
        **plan.as_dict(),
        "comparisons": [
            {
                "key": each.key,
                "row": each.row,
                "title": table.row(each.row).title,
                "row_reason": table.row(each.row).reason,
                "published": each.published.words if each.published else None,
                "base": each.base,
                "candidate": each.label,
                "workload": each.workload.name if each.workload else None,
                "reason": each.reason,
                "shows": each.shows,
            }
            for each in table.comparisons
        ],
    }
