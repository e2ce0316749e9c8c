"""Plain values of the catalogue: variants, flags, targets, options, loads, bundled studies, microbenchmarks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from burnish.base.processor import Processor
from burnish.catalogue.answers import answered_by
from burnish.catalogue.bundled.model import Study as BundledFile
from burnish.catalogue.deployment import Deployment
from burnish.catalogue.flags import Flag, Target, as_json, target_as_json
from burnish.catalogue.micro import Micro
from burnish.catalogue.options import Option
from burnish.model.recipe import Variant
from burnish.model.workload import Workload
from burnish.search.space import Space
from burnish.study.extras.weights import file_of
from burnish.study.planning.study_plan import StudyPlan
from burnish.study.study import Study

Values = list[dict[str, Any]]


def variants(known: Iterable[Variant]) -> Values:
    """The variants, with what each changes."""
    return [
        {"variant": variant.name, "reason": variant.reason, **vars(variant.marks), "changes": variant.recipe.changes()}
        for variant in known
    ]


def flags(entries: Iterable[Flag]) -> Values:
    """Flags with their spellings."""
    return [{**as_json(entry), "answers": answered_by("flags", entry.name)} for entry in entries]


def space(engine: str, found: Space, ways: Deployment) -> dict[str, Any]:
    """What a search may change, with its size, and ways to deploy its winner."""
    return {
        "engine": engine,
        "size": found.size,
        "choices": [
            {
                "choice": choice.name,
                "levels": list(choice.levels),
                "step": choice.step.word,
                "expected": choice.expected,
                "reason": choice.reason,
                "marks": {level: list(words) for level, words in choice.marks.items() if level in choice.levels},
            }
            for choice in found.choices
        ],
        "rungs": {name: dict(point.settings) for name, point in found.rungs.items()},
        "not_together": [
            {"levels": {name: list(levels) for name, levels in rule.together.items()}, "reason": rule.reason}
            for rule in found.forbidden
        ],
        "left_out": dict(found.left_out),
        "deployment": {
            name: {
                "words": list(way.words),
                "does": way.does,
                "reason": way.reason,
                "costs": way.costs,
                "needs": list(way.needs),
                "source": way.source,
            }
            for name, way in ways.choices.items()
        },
        "promises": {name: promise.reason for name, promise in ways.promises.items()},
    }


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


def loads(known: Iterable[Workload]) -> Values:
    """The workloads."""
    return [
        {
            "engine": load.engine,
            "workload": load.name,
            "reason": load.reason,
            "threads": load.threads,
            "design": load.design,
            "placement": load.placement or load.design.usual,
            "parameters": dict(load.parameters),
            "settings": dict(load.settings),
        }
        for load in known
    ]


def micros(known: Iterable[Micro]) -> Values:
    """The microbenchmarks: functions that can be timed alone."""
    return [
        {"micro": micro.name, "engine": micro.engine, "does": micro.does, "reason": micro.reason} for micro in known
    ]


def studies(known: Iterable[tuple[BundledFile, Sequence[str]]]) -> Values:
    """The bundled studies, each with the engines that it can be run on."""
    return [
        {
            "study": study.name,
            "title": study.title,
            "reason": study.reason,
            "sources": study.sources,
            "engines": list(engines),
            "rows": [row.name for row in study.rows],
        }
        for study, engines in known
    ]


def bundled_plan(table: Study, plan: StudyPlan) -> dict[str, Any]:
    """The plan of a bundled study: its cost, and every comparison."""
    return {
        "study": file_of(table).name,
        "title": file_of(table).title,
        "engine": table.engine.name,
        **plan.as_dict(),
        "comparisons": [
            {
                "key": comparison.key,
                "row": comparison.row,
                "title": table.row(comparison.row).title,
                "row_reason": table.row(comparison.row).reason,
                "published": comparison.published.words if comparison.published else None,
                "base": comparison.base,
                "candidate": comparison.label,
                "workload": comparison.workload.name if comparison.workload else None,
                "reason": comparison.reason,
                "shows": comparison.shows,
            }
            for comparison in table.comparisons
        ],
    }
