"""The verbs about profiles: list, show, keep, import, export, merge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.cli import options as o
from burnish.cli import readers
from burnish.cli.common import group, print_document, print_json, progress, say, verb
from burnish.cli.declaration import Argument
from burnish.engines.registry import create
from burnish.profiles import archive, inspecting, kept, merging
from burnish.profiles.stages import merged
from burnish.record.store import Entry, Store
from burnish.record.workbench import Bench
from burnish.report.sections import profiles as report
from burnish.report.values import kept as values
from burnish.study.kept import runs as studies
from burnish.toolchain.toolchains import find_toolchains

profile = group(
    "profile",
    "List, show, keep, merge, import and export profiles.",
    example="burnish profile show read-only --against usual",
)


@verb("list", o.JSON, of=profile, example="burnish profile list")
def list_profiles(as_json: bool) -> None:
    """List all profiles: name, key, engine, kind, what they were trained on."""
    store = _store()
    entries = [(kept.name_of(store, entry.key), entry) for entry in store.entries() if entry.kind == "profiles"]
    if as_json:
        print_json("profiles", values.profiles(entries))
    else:
        print_document(report.listing(entries))


@verb(
    "show", o.PROFILE, o.AGAINST, o.TOP, o.JSON, of=profile,
    example="burnish profile show read-only --against usual --top 20",
)  # fmt: skip
def show(which: str, against: str | None, top: int, as_json: bool) -> None:
    """Show a profile: what trained it, how much it covers, its hottest functions, its overlap with another."""
    store = _store()
    entry = kept.find(store, which)
    engine, toolchains = create(load.engine(entry.about["engine"])), find_toolchains()
    inspection = inspecting.inspect(entry, store, engine, toolchains, top)
    overlap = None
    if against is not None:
        overlap = inspecting.compare(entry, kept.find(store, against), store, engine, toolchains)
    if as_json:
        print_json("profile", values.profile(inspection, overlap))
    else:
        print_document(report.document(inspection, overlap))


@verb("keep", o.PROFILE, o.NAME, of=profile, example="burnish profile keep 41b680a9 --name usual")
def keep(which: str, name: str) -> None:
    """Name a profile: recipes can use it, and `burnish clean` leaves it alone."""
    home = paths.home()
    with studies.lock(home):
        store = Store(home.store)
        entry = kept.find(store, which)
        kept.give_name(store, name, entry.key)
    say(f"profile {entry.key} is now called {name}")


@verb(
    "import",
    Argument(
        "file", "FILE", "Exported archive, .profdata, .prof, .afdo, .fdata, or a folder of .gcda files.", readers.path
    ),
    o.NAME,
    replace(o.ENGINE_OPTION, required=True),
    of=profile,
    example="burnish profile import site.profdata --name site --engine {engine}",
)
def import_profile(file: Path, name: str, engine: str) -> None:
    """Read a profile from a file into the store; what it can't say of itself is checked when it is used."""
    spec, home = load.engine(engine), paths.home()
    with studies.lock(home):
        store = Store(home.store)
        here = home.work(spec.name) / "source"
        bench = Bench(None, home.root / "logs", progress)
        entry = archive.import_profile(file, name, spec, store, find_toolchains(), bench, here=here)
    say(f"profile {name} ({entry.key})")


@verb(
    "export",
    o.PROFILE,
    Argument("file", "FILE", "Where --output is not given: the file.", readers.path, required=False),
    o.OUTPUT,
    of=profile,
    example="burnish profile export read-only --output read-only.tar.gz",
)
def export(which: str, file: Path | None, output: Path | None) -> None:
    """Write a profile to a file: NAME.tar.gz with its description, or NAME.profdata, the data alone."""
    target = output or file
    if target is None or (output and file):
        raise UserError("profile export: name one file, as in --output read-only.tar.gz")
    store = _store()
    entry = kept.find(store, which)
    archive.export(entry, target, inspecting.function_names(entry, store, find_toolchains()))
    say(f"{target}")


@verb(
    "merge",
    replace(
        o.PROFILE, value="PROFILE", help="Two or more, of one kind and source.", reader=readers.verbatim, many=True
    ),
    o.NAME,
    o.WEIGHTS,
    of=profile,
    example="burnish profile merge read-only writes --weights 3,1 --name mixed",
)
def merge(which: tuple[str, ...], name: str, weights: str | None) -> None:
    """Merge profiles, each one's counts times its weight."""
    home = paths.home()
    with studies.lock(home):
        store = Store(home.store)
        numbers = _weights(weights, len(which))
        entries = [kept.find(store, profile_name) for profile_name in which]
        kept.check_name(store, name)
        _check_alike(which, entries)
        about = entries[0].about
        toolchain = inspecting.reader(about["kind"], about.get("toolchain"), find_toolchains())
        parts = tuple((entry.key, weight) for entry, weight in zip(entries, numbers, strict=True))
        stage = merged(parts, about["kind"], toolchain, title="merge", source=about.get("source") or "")
        entry = store.find("profiles", stage.key)
        if entry is None:
            bench = Bench(None, home.root / "logs", progress)
            entry = merging.merge(stage, load.engine(about["engine"]), store, bench, name)
        kept.give_name(store, name, entry.key)
    say(f"profile {name} ({entry.key})")


def _store() -> Store:
    return Store(paths.home().store)


def _weights(text: str | None, number: int) -> list[float]:
    if number < 2:
        raise UserError("merge: one profile named; name two or more")
    if text is None:
        return [1.0] * number
    try:
        weights = [float(word) for word in text.split(",")]
    except ValueError:
        weights = []
    if len(weights) != number or not all(0 < weight < 1e6 for weight in weights):
        raise UserError(f"--weights {text}: give {number} numbers above 0, one for each profile, as in 3,1")
    return weights


def _check_alike(names: Sequence[str], entries: list[Entry]) -> None:
    """Raises `UserError` if the profiles differ in engine, kind or source."""
    for field, word in (("engine", "engine"), ("kind", "kind"), ("source", "source")):
        first = entries[0].about.get(field)
        for name, entry in zip(names[1:], entries[1:], strict=True):
            if entry.about.get(field) != first:
                raise UserError(
                    f"merge: {names[0]} and {name} are not of one {word} ({_short(first)} and "
                    f"{_short(entry.about.get(field))}); "
                    "merge profiles that are alike"
                )


def _short(value: object) -> str:
    return "not known" if value is None else str(value)[:12]
