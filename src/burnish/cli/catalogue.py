"""The verbs that show the catalogue: variants, flags and targets, configure options."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.padding import Padding
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
from burnish.cli.common import AsJson, Yes, app, out
from burnish.model.family import FAMILIES, Family
from burnish.model.recipe import Marks

_LETTERS = {"changes results": "R", "narrows portability": "P", "weakens security": "S"}
_LEGEND = "marks: " + ", ".join(f"{letter} {word}" for word, letter in _LETTERS.items())

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
        _print_json(
            [
                {
                    "variant": variant.name,
                    "reason": variant.reason,
                    **vars(variant.marks),
                    "changes": variant.recipe.changes(),
                }
                for variant in every.values()
            ]
        )
        return
    for variant in every.values():
        changes = ", ".join(f"{name} {value}" for name, value in variant.recipe.changes().items())
        _entry(variant.name, variant.marks, [variant.reason], [changes] if changes else [])


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
        _print_json([_flag_json(entry) for entry in found])
    elif given:
        for entry in found:
            _entry(entry.name, entry.marks, [entry.does, entry.reason], _flag_lines(entry))
    else:
        _print_flag_table(found)


def _flag_json(entry: Flag) -> dict[str, Any]:
    return {**as_json(entry), "answers": answered_by("flags", entry.name)}


def _flag_lines(entry: Flag) -> list[str]:
    lines = []
    for family in FAMILIES:
        each = entry.spellings.get(family)
        if each is None:
            lines.append(f"{family}: none: {entry.absent[family]}")
            continue
        parts = [" ".join(each.c)]
        if each.c != each.cxx:
            parts = [f"{name}: {' '.join(given)}" for name, given in (("C", each.c), ("C++", each.cxx)) if given]
        if each.link:
            parts.append(f"link: {' '.join(each.link)}")
        since = f" (since {each.since})" if each.since else ""
        reason = f" [{each.reason}]" if each.reason else ""
        lines.append(f"{family}{since}: {'; '.join(filter(None, parts))}{reason}")
    if entry.architecture:
        lines.append(f"only on {', '.join(entry.architecture)}")
    if entry.requires_profile:
        lines.append("only with a profile")
    if late := [family for family, each in entry.spellings.items() if each.after_counters]:
        lines.append(f"acts after a profile's counters ({', '.join(late)}): shares the training of builds without it")
    others = [other.name for other in flag_catalogue().values() if entry.choice and other.choice == entry.choice]
    excluded = [name for name in (*others, *entry.excludes) if name != entry.name]
    if excluded:
        lines.append(f"not together with {', '.join(excluded)}")
    return lines + [f"answers to {line}" for line in answered_by("flags", entry.name)]


def _print_flag_table(found: Sequence[Flag]) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("flag", "what it does", "gcc", "clang", ""):
        table.add_column(name, overflow="fold", no_wrap=name in ("gcc", "clang", ""))
    topic = ""
    for entry in found:
        if entry.topic != topic:
            topic = entry.topic
            table.add_row(Text(topic, style="bold"))
        since = [_since(entry, family) for family in FAMILIES]
        table.add_row(Text(f" {entry.name}"), Text(entry.does), *since, _letters(entry.marks))
    out.print(table)
    out.print(f"{len(found)} flags; {_LEGEND}. `burnish flags WORD` shows entries in full, `--targets` processors.")


def _since(entry: Flag, family: Family) -> str:
    each = entry.spellings.get(family)
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
        _print_json([{**target_as_json(entry), "runs_here": entry.runs_on(here)} for entry in found])
        return
    for entry in found:
        lines = [" ".join(entry.flags) + ("" if entry.runs_on(here) else " (this host can't run it)")]
        since = ", ".join(f"{family}-{number}" for family, number in entry.since.items() if number)
        lines += [f"since {since}"] if since else []
        lines += [f"answers to {line}" for line in answered_by("targets", entry.name)]
        _entry(entry.name, entry.marks, [entry.reason], lines)


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
        _print_json([_option_json(each) for each in found])
        return
    for each in found:
        _entry(each.name, each.marks, [each.does, each.reason], _option_lines(each))


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


def _entry(name: str, marks: Marks, prose: Sequence[str], details: Sequence[str]) -> None:
    """One entry: its name and marks, what is said of it, and the particulars, dim."""
    title = Text(name, style="bold")
    title.append(f" ({', '.join(marks.words)})" if marks else "", style="not bold")
    out.print(title)
    for line in prose:
        out.print(Padding(Text(line), (0, 0, 0, 4)))
    for line in details:
        out.print(Padding(Text(line, style="dim"), (0, 0, 0, 4)))


def _letters(marks: Marks) -> str:
    return "".join(_LETTERS[word] for word in marks.words)


def _print_json(values: Sequence[dict[str, Any]]) -> None:
    sys.stdout.write(json.dumps(values, indent=1) + "\n")
