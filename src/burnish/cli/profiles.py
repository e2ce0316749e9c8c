"""The verbs about profiles: list, show, keep, import, export, merge."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from burnish.base import paths
from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.cli.common import AsJson, app, progress, show_document, show_values
from burnish.engines.registry import create
from burnish.profiles import archive, inspecting, kept, merging
from burnish.profiles.stages import merged
from burnish.record.store import Entry, Store
from burnish.record.workbench import Bench
from burnish.report.sections import profiles as report
from burnish.report.values import kept as values
from burnish.study import studies
from burnish.toolchain.toolchains import find_toolchains

profile = typer.Typer(no_args_is_help=True, help="Profiles: list, show, name, merge, import and export them.")
app.add_typer(profile, name="profile", epilog="Example: burnish profile show read-only --against usual")

Which = Annotated[str, typer.Argument(metavar="PROFILE", help="A profile's name, its key, or the key's beginning.")]
Name = Annotated[str, typer.Option(help="Name by which recipes and verbs know it from now on.")]


@profile.command("list", epilog="Example: burnish profile list --json")
def list_profiles(as_json: AsJson = False) -> None:
    """List all profiles: name, key, engine, kind, what they were trained on."""
    store = _store()
    entries = [(kept.name_of(store, entry.key), entry) for entry in store.entries() if entry.kind == "profiles"]
    if as_json:
        show_values(values.profiles(entries))
    else:
        show_document(report.listing(entries))


@profile.command(epilog="Example: burnish profile show read-only --against usual --top 20")
def show(
    which: Which,
    against: Annotated[str | None, typer.Option(help="Another profile of the same kind, to compare with.")] = None,
    top: Annotated[int, typer.Option(min=0, max=1000, help="How many of the hottest functions.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Show a profile: what trained it, how much it covers, its hottest functions, its overlap with another."""
    store = _store()
    entry = kept.find(store, which)
    engine, toolchains = create(load.engine(entry.about["engine"])), find_toolchains()
    found = inspecting.inspect(entry, store, engine, toolchains, top)
    overlap = None
    if against is not None:
        overlap = inspecting.compare(entry, kept.find(store, against), store, engine, toolchains)
    if as_json:
        show_values(values.profile(found, overlap))
    else:
        show_document(report.document(found, overlap))


@profile.command(epilog="Example: burnish profile keep 41b680a9 --name usual")
def keep(which: Which, name: Name) -> None:
    """Name a profile: recipes can use it, and `burnish clean` leaves it alone."""
    home = paths.home()
    with studies.lock(home):
        store = Store(home.store)
        entry = kept.find(store, which)
        kept.give_name(store, name, entry.key)
    progress.print(f"profile {entry.key} is now called {name}", markup=False, highlight=False)


@profile.command("import", epilog="Example: burnish profile import site.profdata --name site --engine mariadb")
def import_profile(
    file: Annotated[
        Path, typer.Argument(help="Exported archive, .profdata, .prof, .afdo, .fdata, or a folder of .gcda files.")
    ],
    name: Name,
    engine: Annotated[str, typer.Option(help="The engine that it is for.")],
) -> None:
    """Read a profile from a file into the store; what it can't say of itself is checked when it is used."""
    spec, home = load.engine(engine), paths.home()
    with studies.lock(home):
        store = Store(home.store)
        here = home.work(spec.name) / "source"
        bench = Bench(None, home.root / "logs", progress)
        entry = archive.import_profile(file, name, spec, store, find_toolchains(), bench, here=here)
    progress.print(f"profile {name} ({entry.key})", markup=False, highlight=False)


@profile.command(epilog="Example: burnish profile export read-only read-only.tar.gz")
def export(
    which: Which,
    file: Annotated[Path, typer.Argument(help="NAME.tar.gz with its description, or NAME.profdata: the data alone.")],
) -> None:
    """Write a profile to a file."""
    archive.export(kept.find(_store(), which), file)
    progress.print(f"{file}", markup=False, highlight=False)


@profile.command(epilog="Example: burnish profile merge read-only writes --weights 3,1 --name mixed")
def merge(
    which: Annotated[list[str], typer.Argument(metavar="PROFILE...", help="Two or more, of one kind and source.")],
    name: Name,
    weights: Annotated[str | None, typer.Option(help="One number each, separated by commas; default: all 1.")] = None,
) -> None:
    """Merge profiles, each one's counts times its weight."""
    home = paths.home()
    with studies.lock(home):
        store = Store(home.store)
        numbers = _weights(weights, len(which))
        entries = [kept.find(store, each) for each in which]
        kept.check_name(store, name)
        _alike(which, entries)
        about = entries[0].about
        toolchain = inspecting.reader(about["kind"], about.get("toolchain"), find_toolchains())
        parts = tuple((entry.key, weight) for entry, weight in zip(entries, numbers, strict=True))
        stage = merged(parts, about["kind"], toolchain, title="merge", source=about.get("source") or "")
        entry = store.find("profiles", stage.key)
        if entry is None:
            bench = Bench(None, home.root / "logs", progress)
            entry = merging.merge(stage, load.engine(about["engine"]), store, bench, name)
        kept.give_name(store, name, entry.key)
    progress.print(f"profile {name} ({entry.key})", markup=False, highlight=False)


def _store() -> Store:
    return Store(paths.home().store)


def _weights(text: str | None, number: int) -> list[float]:
    if number < 2:
        raise UserError("merge: one profile named; name two or more")
    if text is None:
        return [1.0] * number
    try:
        found = [float(word) for word in text.split(",")]
    except ValueError:
        found = []
    if len(found) != number or not all(0 < weight < 1e6 for weight in found):
        raise UserError(f"--weights {text}: give {number} numbers above 0, one for each profile, as in 3,1")
    return found


def _alike(names: list[str], entries: list[Entry]) -> None:
    """Refuses a merge of profiles that don't belong together."""
    for field, word in (("engine", "engine"), ("kind", "kind"), ("source", "source")):
        mine = entries[0].about.get(field)
        for name, entry in zip(names[1:], entries[1:], strict=True):
            if entry.about.get(field) != mine:
                raise UserError(
                    f"merge: {names[0]} and {name} are not of one {word} ({_short(mine)} and "
                    f"{_short(entry.about.get(field))}); "
                    "merge profiles that are alike"
                )


def _short(value: object) -> str:
    return "not known" if value is None else str(value)[:12]
