"""Plain values of runs: everything in their records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from burnish.report import plainly
from burnish.report.analysis import effects, suites
from burnish.report.analysis.effects import Effect, Series
from burnish.report.analysis.loads import over_loads
from burnish.report.analysis.ranking import ranking
from burnish.report.sections import conclusion

if TYPE_CHECKING:
    from burnish.report.analysis.deployed import Deployed
    from burnish.report.result import Result, Row


def run(result: Result) -> dict[str, Any]:
    """Everything in the result of a run, including the sentences of its report."""
    return {
        **_facts(result),
        "rows": [plainly.row(row) for row in result.rows],
        "confirmations": [plainly.row(row) for row in result.confirmations],
        "relinked": [plainly.row(row) for row in result.relinked],
        "shipped": plainly.table(result.shipped) if result.shipped else None,
        "sentences": conclusion.sentences(result),
        "ranking": _ranking(result),
        "nothing_measured": result.nothing_measured,
        "explanation": result.explanation.as_dict() if result.explanation else None,
        "patched": _patched(Series.of(result)) if result.patched else None,
        "suites": [plainly.suite(total) for total in suites.wholes(result.rows)],
        **({"means": [asdict(mean) for mean in means]} if (means := over_loads(result)) else {}),
        **({"deployment": _deployment(result.deployment)} if result.deployment else {}),
    }


def _facts(result: Result) -> dict[str, Any]:
    """The fields that hold plain values; those that few runs have only where there is one."""
    bare = replace(
        result, explanation=None, patched=None, rows=(), confirmations=(), relinked=(), shipped=None, deployment=None
    )
    empty = [name for name in ("pending", "quotients") if not getattr(result, name)]
    left_out = ("deployment", "searched", *empty)
    plain = {name: value for name, value in asdict(bare).items() if name not in left_out}
    if result.searched is not None:
        begun, ended = result.searched
        plain["searched"] = {"begun": asdict(begun), "ended": asdict(ended) if ended is not None else None}
    return plain


def _deployment(found: Deployed) -> dict[str, Any]:
    """The choices with their cells, and what was taken together."""

    def rows(of: Mapping[str, Row]) -> dict[str, Any]:
        return {load: plainly.row(row) for load, row in of.items()}

    return {
        "build": found.build,
        "choices": [
            {
                "choice": tried.choice,
                "does": tried.does,
                "costs": tried.costs,
                "failure": tried.failure,
                "loads": rows(tried.rows),
            }
            for tried in found.tried
        ],
        "taken": list(found.taken),
        "settings": list(found.words),
        "together": rows(found.together or {}),
        "both": rows(found.both or {}),
        "done": found.done,
        "failure": found.failure,
    }


def _ranking(result: Result) -> dict[str, Any] | None:
    """The recommended candidate, those tied with it, and the quotients that this is based on."""
    order = ranking(result) if result.patched is None and result.shipped is None else None
    return {**asdict(order), "tied": list(order.tied)} if order else None


def _patched(series: Series) -> dict[str, Any]:
    """A series of patches, and the effect of adding each patch to the others, as a ratio."""
    patched = series.patched
    return {
        "recipe": patched.recipe,
        "patches": [dict(member) for member in patched.members],
        "builds": [
            {**build, "twin": patched.twins.get(build["variant"]), "compiled": patched.compiled.get(build["variant"])}
            for build in patched.builds
        ],
        "left_out": [list(left) for left in patched.left_out],
        "adds": [added for member in patched.members for added in _added(series, member)],
        "symbols": [dict(sampled) for sampled in patched.symbols],
    }


def _added(series: Series, member: Mapping[str, Any]) -> list[dict[str, Any]]:
    """On each load, the effect of adding a patch to all others, and to those that it needs."""
    name, needs = member["name"], member["needs"]
    gone = {name, *series.dependants(name)}
    rest = [other for other in series.names if other not in gone]
    return [
        {
            "patch": name,
            "workload": workload,
            "to_the_others": _effect(series.added(series.names, rest, workload)),
            "to_what_it_needs": _effect(series.added([*needs, name], needs, workload)),
        }
        for workload in series.workloads
    ]


def _effect(value: Effect | None) -> dict[str, Any] | None:
    return None if value is None else {**vars(value), "level": effects.LEVEL}
