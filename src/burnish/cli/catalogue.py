"""The verbs that show the catalogue: variants, flags and targets, configure options."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from burnish.base.errors import UserError, nearest
from burnish.base.processor import this_processor
from burnish.catalogue import load
from burnish.catalogue import options as option_catalogue
from burnish.catalogue.answers import answered_by
from burnish.catalogue.flags import Flag, Target, as_json, search, target_as_json, targets
from burnish.catalogue.flags import flags as flag_catalogue
from burnish.catalogue.options import Option
from burnish.cli import options as o
from burnish.cli.common import entry, out, print_json, verb
from burnish.model.family import FAMILIES, Family
from burnish.model.recipe import Marks, Variant

_LETTERS = {"changes results": "R", "narrows portability": "P", "weakens security": "S"}
_LEGEND = "marks: " + ", ".join(f"{letter} {word}" for word, letter in _LETTERS.items())


@verb(
    "variants", o.WORDS, o.RECIPES, o.FULL, o.JSON,
    example="burnish variants pgo    (or: burnish variants --recipes mine.toml)",
)  # fmt: skip
def variants(words: tuple[str, ...], recipes: Path | None, full: bool, as_json: bool) -> None:
    """List or search the ways to build: names, changes, reasons."""
    every = {**load.variants(), **(load.read_variants(recipes) if recipes else {})}
    found = [variant for variant in every.values() if _has(words, _said_of(variant))]
    if not found:
        raise UserError(f"no variant has {' '.join(words)!r}{nearest(words[0], every)}; `burnish variants` lists all")
    if as_json:
        print_json([_variant_json(variant) for variant in found])
    elif full or words:
        for variant in found:
            entry(variant.name, [variant.reason], [_changes(variant)], ", ".join(variant.marks.words))
    else:
        _print_variant_table(found)


def _has(words: Sequence[str], text: str) -> bool:
    return all(word.lower() in text.lower() for word in words)


def _said_of(variant: Variant) -> str:
    return "\n".join((variant.name, variant.reason, _changes(variant), *variant.marks.words))


def _changes(variant: Variant) -> str:
    return ", ".join(f"{name} {value}" for name, value in variant.recipe.changes().items())


def _variant_json(variant: Variant) -> dict[str, Any]:
    return {
        "variant": variant.name,
        "reason": variant.reason,
        **vars(variant.marks),
        "changes": variant.recipe.changes(),
    }


def _print_variant_table(found: Sequence[Variant]) -> None:
    """A line each, cut where the terminal ends: the entry in full has the rest."""
    names = max(len(variant.name) for variant in found)
    marks = max(len(_letters(variant.marks)) for variant in found)
    for variant in found:
        row = f"{variant.name:<{names}} {_letters(variant.marks):<{marks}} {_changes(variant)}"
        out.print(Text(row.rstrip()), no_wrap=True, overflow="ellipsis")
    out.print(f"{len(found)} variants; {_LEGEND}. `burnish variants WORD` shows entries in full, `--full` all.")


@verb("flags", o.WORDS, o.TARGETS, o.JSON, example="burnish flags unroll    (or: burnish flags fast-math --json)")
def flags(words: tuple[str, ...], only_targets: bool, as_json: bool) -> None:
    """List or search the flags that a recipe can name."""
    if only_targets:
        _print_targets([target for target in targets().values() if _in_target(target, words)], words, as_json)
        return
    every = flag_catalogue()
    found = search(every.values(), words)
    if not found:
        raise UserError(f"no flag says {' '.join(words)!r}{nearest(words[0], every)}; `burnish flags` lists all")
    if as_json:
        print_json([_flag_json(flag) for flag in found])
    elif words:
        for flag in found:
            entry(flag.name, [flag.does, flag.reason], _flag_lines(flag), ", ".join(flag.marks.words))
    else:
        _print_flag_table(found)


def _flag_json(flag: Flag) -> dict[str, Any]:
    return {**as_json(flag), "answers": answered_by("flags", flag.name)}


def _flag_lines(flag: Flag) -> list[str]:
    lines = []
    for family in FAMILIES:
        each = flag.spellings.get(family)
        if each is None:
            lines.append(f"{family}: none: {flag.absent[family]}")
            continue
        parts = [" ".join(each.c)]
        if each.c != each.cxx:
            parts = [f"{name}: {' '.join(given)}" for name, given in (("C", each.c), ("C++", each.cxx)) if given]
        if each.link:
            parts.append(f"link: {' '.join(each.link)}")
        since = f" (since {each.since})" if each.since else ""
        reason = f" [{each.reason}]" if each.reason else ""
        lines.append(f"{family}{since}: {'; '.join(filter(None, parts))}{reason}")
    if flag.architecture:
        lines.append(f"only on {', '.join(flag.architecture)}")
    if flag.requires_profile:
        lines.append("only with a profile")
    if late := [family for family, each in flag.spellings.items() if each.after_counters]:
        lines.append(f"acts after a profile's counters ({', '.join(late)}): shares the training of builds without it")
    others = [other.name for other in flag_catalogue().values() if flag.choice and other.choice == flag.choice]
    excluded = [name for name in (*others, *flag.excludes) if name != flag.name]
    if excluded:
        lines.append(f"not together with {', '.join(excluded)}")
    return lines + [f"answers to {line}" for line in answered_by("flags", flag.name)]


def _print_flag_table(found: Sequence[Flag]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("flag", "what it does", "gcc", "clang", ""):
        table.add_column(name, overflow="fold", no_wrap=name in ("gcc", "clang", ""))
    topic = ""
    for flag in found:
        if flag.topic != topic:
            topic = flag.topic
            table.add_row(Text(topic, style="bold"))
        since = [_since(flag, family) for family in FAMILIES]
        table.add_row(Text(f" {flag.name}"), Text(flag.does), *since, _letters(flag.marks))
    out.print(table)
    out.print(f"{len(found)} flags; {_LEGEND}. `burnish flags WORD` shows entries in full, `--targets` processors.")


def _since(flag: Flag, family: Family) -> str:
    each = flag.spellings.get(family)
    if each is None:
        return "-"
    return f"{each.since}+" if each.since else "yes"


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
        print_json([{**target_as_json(target), "runs_here": target.runs_on(here)} for target in found])
        return
    for target in found:
        lines = [" ".join(target.flags) + ("" if target.runs_on(here) else " (this host can't run it)")]
        since = ", ".join(f"{family}-{number}" for family, number in target.since.items() if number)
        lines += [f"since {since}"] if since else []
        lines += [f"answers to {line}" for line in answered_by("targets", target.name)]
        entry(target.name, [target.reason], lines, ", ".join(target.marks.words))


@verb("options", o.ENGINE, o.WORDS, o.JSON, example="burnish options {engine} charset")
def options(engine: str, words: tuple[str, ...], as_json: bool) -> None:
    """List or search an engine's known configure options.

    A recipe's `options` may name any other too.
    """
    spec = load.engine(engine)
    known = option_catalogue.options().get(spec.name, {})
    found = option_catalogue.search(known.values(), words)
    if words and not found:
        raise UserError(
            f"no known option of {spec.name} says {' '.join(words)!r}{nearest(words[0].upper(), known)}; "
            f"`burnish options {spec.name}` lists those that are known, others are accepted"
        )
    if as_json:
        print_json([_option_json(option) for option in found])
        return
    if not found:
        out.print(f"no configure option of {spec.name} is known; a recipe's `options` may name any that it has")
    for option in found:
        entry(option.name, [option.does, option.reason], _option_lines(option), ", ".join(option.marks.words))


def _option_json(option: Option) -> dict[str, Any]:
    plain = {name: value for name, value in vars(option).items() if name != "marks"}
    return {**plain, **vars(option.marks), "answers": answered_by("options", option.name)}


def _option_lines(option: Option) -> list[str]:
    lines = [f"values: {' | '.join(option.values)}; default: {option.default or 'none'} ({option.where})"]
    if option.marked:
        lines.append(f"the mark is for {', '.join(option.marked)}")
    for value, tests in option.untested.items():
        lines.append(f"{value}: the gate leaves out {len(tests)} tests, of {option.why_untested}")
    return lines + [f"answers to {line}" for line in answered_by("options", option.name)]


def _letters(marks: Marks) -> str:
    return "".join(_LETTERS[word] for word in marks.words)
