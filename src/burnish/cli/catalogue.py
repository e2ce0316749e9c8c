"""The verbs that show the catalogue: variants, flags and targets, configure options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from burnish.base.errors import UserError, nearest
from burnish.base.processor import this_processor
from burnish.catalogue import load
from burnish.catalogue import options as option_catalogue
from burnish.catalogue.flags import Target, search, targets
from burnish.catalogue.flags import flags as flag_catalogue
from burnish.cli.common import AsJson, Yes, app, show_document, show_values
from burnish.report.sections import catalogue as report
from burnish.report.values import catalogue as values

Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="[WORD]...", help="Show only entries in which these words occur, but in full."),
]


@app.command(epilog="Example: burnish variants --recipes mine.toml")
def variants(
    recipes: Annotated[Path | None, typer.Option(help="TOML file with variants of your own, listed too.")] = None,
    as_json: AsJson = False,
    yes: Yes = False,  # noqa: ARG001 - the launcher takes --yes on its first use
) -> None:
    """List the ways to build: each variant's name, what it changes against the baseline, and why one would want it."""
    every = {**load.variants(), **(load.read_variants(recipes) if recipes else {})}
    if as_json:
        show_values(values.variants(every.values()))
    else:
        show_document(report.variants(every.values()))


@app.command(epilog="Example: burnish flags unroll    (or: burnish flags fast-math --json)")
def flags(
    words: Words = None,
    only_targets: Annotated[
        bool, typer.Option("--targets", help="List processors and instruction-set levels to build for instead.")
    ] = False,
    as_json: AsJson = False,
    yes: Yes = False,  # noqa: ARG001 - the launcher takes --yes on its first use
) -> None:
    """List the named compiler and linker flags that a recipe's `flags` can say, or search them."""
    given = words or []
    if only_targets:
        _print_targets([each for each in targets().values() if _in_target(each, given)], given, as_json)
        return
    every = flag_catalogue()
    found = search(every.values(), given)
    if not found:
        raise UserError(f"no flag says {' '.join(given)!r}{nearest(given[0], every)}; `burnish flags` lists all")
    if as_json:
        show_values(values.flags(found))
    else:
        show_document(report.flags(found) if given else report.flag_table(found))


def _in_target(entry: Target, words: Sequence[str]) -> bool:
    said = "\n".join((entry.name, entry.architecture or "", entry.reason, *entry.flags, *entry.needs)).lower()
    return all(word.lower() in said for word in words)


def _print_targets(found: Sequence[Target], words: Sequence[str], as_json: bool) -> None:
    if not found:
        raise UserError(
            f"no target says {' '.join(words)!r}{nearest(words[0], targets())}; `burnish flags --targets` lists all"
        )
    here = this_processor()
    if as_json:
        show_values(values.targets(found, here))
    else:
        show_document(report.targets(found, here))


@app.command(epilog="Example: burnish options mariadb charset")
def options(
    engine: Annotated[str, typer.Argument(help="sqlite or mariadb.")],
    words: Words = None,
    as_json: AsJson = False,
    yes: Yes = False,  # noqa: ARG001 - the launcher takes --yes on its first use
) -> None:
    """List an engine's known configure options, or search them. A recipe's `options` may say any other too."""
    spec = load.engine(engine)
    known = option_catalogue.options().get(spec.name, {})
    given = words or []
    found = option_catalogue.search(known.values(), given)
    if given and not found:
        raise UserError(
            f"no known option of {spec.name} says {' '.join(given)!r}{nearest(given[0].upper(), known)}; "
            f"`burnish options {spec.name}` lists those that are known, any other may be said too"
        )
    if as_json:
        show_values(values.options(found))
    else:
        show_document(report.options(found))
