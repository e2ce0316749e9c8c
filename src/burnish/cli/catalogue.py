"""The verbs that show the catalogue: variants, flags and targets, configure options, the space of a search."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from burnish.base.errors import UserError, nearest
from burnish.base.processor import this_processor
from burnish.catalogue import load
from burnish.catalogue import options as option_catalogue
from burnish.catalogue.deployment import deployment
from burnish.catalogue.flags import Target, search, targets
from burnish.catalogue.flags import flags as flag_catalogue
from burnish.catalogue.space import space_file
from burnish.cli import options as o
from burnish.cli.common import print_document, print_json, verb
from burnish.model.recipe import Variant
from burnish.report.sections import catalogue as report
from burnish.report.values import catalogue as values


@verb(
    "variants", o.WORDS, o.RECIPES, o.FULL, o.JSON,
    example="burnish variants pgo    (or: burnish variants --recipes mine.toml)",
)  # fmt: skip
def variants(words: tuple[str, ...], recipes: Path | None, full: bool, as_json: bool) -> None:
    """List or search the ways to build: names, changes, reasons."""
    known = {**load.variants(), **(load.read_variants(recipes) if recipes else {})}
    matches = [variant for variant in known.values() if _has(words, _text_of(variant))]
    if not matches:
        raise UserError(f"no variant has {' '.join(words)!r}{nearest(words[0], known)}; `burnish variants` lists all")
    if as_json:
        print_json("variants", values.variants(matches))
    else:
        print_document(report.variants(matches) if full or words else report.variant_table(matches))


def _has(words: Sequence[str], text: str) -> bool:
    return all(word.lower() in text.lower() for word in words)


def _text_of(variant: Variant) -> str:
    return "\n".join((variant.name, variant.reason, _changes(variant), *variant.marks.words))


def _changes(variant: Variant) -> str:
    return ", ".join(f"{name} {value}" for name, value in variant.recipe.changes().items())


@verb("flags", o.WORDS, o.TARGETS, o.JSON, example="burnish flags unroll    (or: burnish flags fast-math --json)")
def flags(words: tuple[str, ...], only_targets: bool, as_json: bool) -> None:
    """List or search the flags that a recipe can name."""
    if only_targets:
        _print_targets([target for target in targets().values() if _in_target(target, words)], words, as_json)
        return
    known = flag_catalogue()
    matches = search(known.values(), words)
    if not matches:
        raise UserError(f"no flag says {' '.join(words)!r}{nearest(words[0], known)}; `burnish flags` lists all")
    if as_json:
        print_json("flags", values.flags(matches))
    else:
        print_document(report.flags(matches) if words else report.flag_table(matches))


def _in_target(entry: Target, words: Sequence[str]) -> bool:
    text = "\n".join((entry.name, entry.architecture or "", entry.reason, *entry.flags, *entry.needs)).lower()
    return all(word.lower() in text for word in words)


def _print_targets(matches: Sequence[Target], words: Sequence[str], as_json: bool) -> None:
    if not matches:
        raise UserError(
            f"no target says {' '.join(words)!r}{nearest(words[0], targets())}; `burnish flags --targets` lists all"
        )
    here = this_processor()
    if as_json:
        print_json("targets", values.targets(matches, here))
    else:
        print_document(report.targets(matches, here))


@verb("options", o.ENGINE, o.WORDS, o.JSON, example="burnish options {engine} charset")
def options(engine: str, words: tuple[str, ...], as_json: bool) -> None:
    """List or search an engine's known configure options.

    A recipe's `options` may name any other too.
    """
    spec = load.engine(engine)
    known = option_catalogue.options().get(spec.name, {})
    matches = option_catalogue.search(known.values(), words)
    if words and not matches:
        raise UserError(
            f"no known option of {spec.name} says {' '.join(words)!r}{nearest(words[0].upper(), known)}; "
            f"`burnish options {spec.name}` lists those that are known, others are accepted"
        )
    if as_json:
        print_json("options", values.options(matches))
    else:
        print_document(report.options(matches, spec.name))


@verb("space", o.ENGINE, o.SPACE, o.ALLOW, o.FULL, o.JSON, example="burnish space {engine} --full")
def space(engine: str, space: Path | None, allow: tuple[str, ...], full: bool, as_json: bool) -> None:
    """Show what a search by `tune` may change, and its size."""
    spec = load.engine(engine)
    file = space_file(space).trained_on(spec, dict.fromkeys(spec.workloads, 1.0))
    found, ways = file.for_engine(spec, allow), deployment(spec.name)
    if as_json:
        print_json("space", values.space(spec.name, found, ways))
    else:
        print_document(report.space(spec.name, found, file.sources, ways, full=full))
