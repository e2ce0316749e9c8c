"""The verbs about what is kept: builds with their details, a script that rebuilds one, and what is removed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from burnish.base import netns, paths, process, storage, temporary
from burnish.base.errors import UserError, unknown
from burnish.builds.after_link import preload
from burnish.builds.evidence import Examiner, Portable
from burnish.catalogue import load
from burnish.cli import completion
from burnish.cli import options as o
from burnish.cli.common import asker, line, print_document, print_json, progress, say, verb
from burnish.cli.declaration import Argument
from burnish.cli.results import run_named
from burnish.engines.contract import Engine
from burnish.engines.registry import create
from burnish.program.built import Built
from burnish.record.store import Entry, Store
from burnish.record.workbench import Bench
from burnish.report.sections import kept as report
from burnish.report.values import kept as values
from burnish.study.kept import cleaning, reproducing
from burnish.study.kept import runs as studies
from burnish.study.kept.cleaning import DAY_S
from burnish.study.kept.reproducing import FoundBuild
from burnish.study.needs import ensure
from burnish.study.request.options import Options


@verb(
    "builds",
    Argument(
        "name", "BUILD", "The beginning of a build's key: everything known about it.",
        required=False, unset="all, briefly", complete=completion.one(completion.builds),
    ),
    o.AGAINST,
    o.EMULATE,
    o.YES,
    o.QUIET,
    o.JSON,
    example="burnish builds 0a2882e4fddd3606 --emulate",
)  # fmt: skip
def builds(name: str | None, against: str | None, portability: bool, yes: bool, as_json: bool) -> None:
    """List the builds that are kept: size, cost, what they need to run."""
    home = paths.home()
    store = Store(home.store)
    chosen = [entry for entry in store.entries() if entry.kind == "builds" and not entry.about.get("instrumented")]
    other = None if against is None else _only(chosen, against, "--against ")
    if name is not None:
        chosen = [_only(chosen, name)] if other is not None else _named(chosen, name)
    elif other is not None:
        raise UserError("--against KEY: no build is named to compare with it; `burnish builds BUILD --against KEY`")
    if other is not None and (other_engine := other.about["engine"]) != (engine_name := chosen[0].about["engine"]):
        raise UserError(
            f"--against {against}: a build of {other_engine}, {chosen[0].key} is one of {engine_name}; "
            f"name one of {engine_name}"
        )
    if portability:
        ensure(["portability"], "trying builds on other processors", Options(yes=yes), asker())
    bench = Bench(None, home.root / "logs", progress)
    examined: list[tuple[Entry, dict[str, Any]]] = []
    with studies.lock(home):
        for entry in chosen:
            engine, built = _built(entry)
            examiner = Examiner(engine, store, bench, home.scratch / "builds")
            facts = examiner.look(built)
            wanted = Portable(emulate=portability).to_try(facts["program"]["machine"])
            facts |= {"tried": examiner.try_on(built, wanted)}
            if other is not None:
                facts |= {"changed": {"of": other.key, **examiner.changed(built, _built(other)[1])}}
            examined.append((entry, facts))
    names = reproducing.variants(home)
    if as_json:
        print_json("builds", values.builds(examined, names))
    else:
        print_document(report.builds(examined, names) if name is None else report.build_details(examined, names))


def _named(entries: Sequence[Entry], name: str, what: str = "") -> list[Entry]:
    """The builds whose keys begin with `name`; raises `UserError` if there are none."""
    matches = [entry for entry in entries if entry.key.startswith(name)]
    if not matches:
        if not entries:
            raise UserError(f"{what}{name}: no build is kept here; {studies.none_yet()}")
        raise unknown(f"{what}build", name, [entry.key for entry in entries])
    return matches


def _only(entries: Sequence[Entry], name: str, what: str = "") -> Entry:
    """The one build whose key begins with `name`; raises `UserError` if there is not exactly one."""
    matches = _named(entries, name, what)
    if len(matches) > 1:
        keys = ", ".join(entry.key for entry in matches)
        raise UserError(
            f"{what}{name}: {len(matches)} builds have keys that begin like this ({keys}); give more characters"
        )
    return matches[0]


def _built(entry: Entry) -> tuple[Engine, Built]:
    """A kept build and its engine."""
    engine = create(load.engine(entry.about["engine"]))
    return engine, preload.launched(engine.built(entry.key, entry.folder, entry.key), entry)


def _warn(name: str, found: FoundBuild) -> None:
    """Says why a build was not measured, if it was not."""
    if found.failure:
        say(f"{name}: was not measured: {' '.join(found.failure.split())}")


_BUILD = Argument(
    "build", "BUILD", "A variant's name (its newest build), or a build's key.",
    complete=completion.one(lambda context: (*completion.variants(context), *completion.builds(context))),
)  # fmt: skip


@verb("path", _BUILD, o.RUN_OPTION, o.JSON, example="burnish path clang-pgo-thinlto")
def path(build: str, run: str | None, as_json: bool) -> None:
    """Print where a variant's program lies.

    Without --run it is the newest run that made it. The program that is printed is the very file that was measured.
    """
    found = reproducing.find(paths.home(), build, str(run_named(run)) if run else None, checked=False)
    engine, built = _built(found.entry)
    _warn(build, found)
    if not built.server.is_file():
        raise UserError(f"{built.server}: the program of {build} is not there; {found.made_anew}")
    if as_json:
        print_json(
            "path",
            {
                "build": found.entry.key,
                "variant": found.variant,
                "engine": engine.spec.name,
                "path": str(built.server),
                "environment": dict(built.environment),
                "options": list(built.options),
            },
        )
        return
    if built.environment:
        say("it was measured with " + " ".join(f"{name}={value}" for name, value in built.environment))
    line(str(built.server))


@verb(
    "reproduce",
    _BUILD,
    o.OUTPUT,
    o.RUN_OPTION,
    o.JSON,
    example="burnish reproduce clang-pgo-thinlto --output /tmp/fast && /tmp/fast/build.sh",
)  # fmt: skip
def reproduce(build: str, output: Path | None, run: str | None, as_json: bool) -> None:
    """Write a shell script that rebuilds a program bit for bit.

    It needs no Burnish; the recipe and what else the script needs lie beside it.

    Without --output they go to a new folder reproduce-BUILD here; without --run it is the newest run that made it.
    """
    home = paths.home()
    kept_build = reproducing.find(home, build, str(run_named(run)) if run else None)
    _warn(build, kept_build)
    written = reproducing.collect(
        home, kept_build, output or Path(f"reproduce-{kept_build.variant or kept_build.entry.key}")
    )
    if as_json:
        print_json(
            "reproduce",
            {
                "build": kept_build.entry.key,
                "variant": kept_build.variant,
                "folder": str(written.folder),
                "files": written.files,
                "sha256": written.sha256,
                "recipe": written.recipe,
            },
        )
        return
    files = [name for name in written.files if "/" not in name]
    folders = sorted({f"{name.partition('/')[0]}/" for name in written.files if "/" in name})
    line(f"{written.folder}: {', '.join((*files, *folders))}")
    line(f"{written.folder}/build.sh makes the program with SHA-256 {written.sha256}")
    if written.recipe:
        line(f"\n{written.recipe.rstrip()}")


@verb(
    "clean", o.OLDER_THAN, o.KEEP_GB, o.RUNS, o.YES, o.FULL, o.JSON,
    example="burnish clean --older-than 30 --keep-gb 20 --yes",
)  # fmt: skip
def clean(older_than: float | None, keep_gb: float | None, runs: bool, yes: bool, full: bool, as_json: bool) -> None:
    """Show what is kept and how large it is; remove old things.

    Nothing is removed unless an option asks for it, and records of finished runs never are.
    """
    home = paths.home()
    process.sweep()
    for name in netns.sweep():
        say(f"removed network namespace {name}: a run that was killed had left it")
    for folder in [*storage.sweep(), *storage.sweep(home.scratch), *temporary.sweep()]:
        say(f"removed {folder}: a run that was killed had left it")
    with studies.lock(home):
        for left in cleaning.sweep(home):
            say(f"removed {left}: a clean that was interrupted had left it")
        items = cleaning.inventory(home)
        chosen = cleaning.choose(
            items,
            older_s=None if older_than is None else older_than * DAY_S,
            bound=None if keep_gb is None else int(keep_gb * 1e9),
            unfinished=runs,
        )
        if as_json:
            print_json("clean", values.inventory(items, chosen))
        else:
            print_document(report.inventory(items, chosen, home.root, full=full))
        if not chosen:
            return
        ask = asker()
        what = f"{len(chosen)} entries, {report.megabytes(chosen)} MB"
        if not yes and (ask is None or not ask(f"remove {what}?")):
            raise UserError(f"clean: nothing was removed of {what}; answer yes, or give --yes")
        freed = cleaning.remove(home, chosen)
        say(f"freed {freed / 1e6:,.0f} MB")
