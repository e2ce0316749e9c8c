"""The verb that shows what finished builds are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from burnish.base import paths
from burnish.base.errors import UserError, unknown
from burnish.builds import postlink
from burnish.builds.evidence import Examiner, Portable
from burnish.catalogue import load
from burnish.cli.common import AsJson, Yes, app, asker, progress, show_document, show_values
from burnish.engines.contract import Engine
from burnish.engines.registry import create
from burnish.program.built import Built
from burnish.record.store import Entry, Store
from burnish.record.workbench import Bench
from burnish.report.sections import kept as report
from burnish.report.values import kept as values
from burnish.study import studies
from burnish.study.needs import ensure
from burnish.study.options import Options


@app.command(epilog="Example: burnish builds 0a2882e4fddd3606 --portability")
def builds(
    name: Annotated[str | None, typer.Argument(help="The beginning of a build's key: all that is known of it.")] = None,
    portability: Annotated[
        bool, typer.Option("--portability", help="Start them on older processors too, emulated by qemu.")
    ] = False,
    against: Annotated[
        str | None,
        typer.Option(help="Which functions differ from this build's, of the same source but for patches."),
    ] = None,
    as_json: AsJson = False,
    yes: Yes = False,
) -> None:
    """List the builds that are kept: sizes, memory and time of their making, what they need to run."""
    home = paths.home()
    store = Store(home.store)
    every = [entry for entry in store.entries() if entry.kind == "builds" and not entry.about.get("instrumented")]
    other = None if against is None else _only(every, against, "--against ")
    if name is not None:
        every = [_only(every, name)] if other is not None else _named(every, name)
    elif other is not None:
        raise UserError("--against KEY: no build is named to hold against it; `burnish builds BUILD --against KEY`")
    if other is not None and (its := other.about["engine"]) != (mine := every[0].about["engine"]):
        raise UserError(f"--against {against}: a build of {its}, {every[0].key} is one of {mine}; name one of {mine}")
    if portability:
        ensure(["portability"], "trying builds on other processors", Options(yes=yes), asker())
    bench = Bench(None, home.root / "logs", progress)
    found: list[tuple[Entry, dict[str, Any]]] = []
    with studies.lock(home):
        for entry in every:
            engine, built = _built(entry)
            examiner = Examiner(engine, store, bench, home.scratch / "builds")
            facts = examiner.look(built)
            wanted = Portable(emulate=portability).to_try(facts["program"]["machine"])
            facts |= {"tried": examiner.try_on(built, wanted)}
            if other is not None:
                facts |= {"changed": {"of": other.key, **examiner.changed(built, _built(other)[1])}}
            found.append((entry, facts))
    if as_json:
        show_values(values.builds(found))
    else:
        show_document(report.builds(found) if name is None else report.build_details(found))


def _named(every: Sequence[Entry], name: str, what: str = "") -> list[Entry]:
    """Builds whose keys begin so; a `UserError` where none does."""
    found = [entry for entry in every if entry.key.startswith(name)]
    if not found:
        raise unknown(f"{what}build", name, [entry.key for entry in every])
    return found


def _only(every: Sequence[Entry], name: str, what: str = "") -> Entry:
    """The build whose key begins so; a `UserError` where it is not just one."""
    found = _named(every, name, what)
    if len(found) > 1:
        keys = ", ".join(entry.key for entry in found)
        raise UserError(
            f"{what}{name}: {len(found)} builds' keys begin so ({keys}); write more of the one that is meant"
        )
    return found[0]


def _built(entry: Entry) -> tuple[Engine, Built]:
    """A kept build and its engine."""
    engine = create(load.engine(entry.about["engine"]))
    plain = engine.built(entry.key, entry.folder, entry.key)
    return engine, replace(plain, environment=(*plain.environment, *postlink.environment(entry)))
