"""The catalogue for people: variants, flags and targets, configure options, loads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from burnish.base.processor import Processor
from burnish.catalogue import deployment as deploying
from burnish.catalogue import sources
from burnish.catalogue.answers import answered_by
from burnish.catalogue.deployment import Deployment
from burnish.catalogue.flags import Flag, Target
from burnish.catalogue.flags import flags as flag_catalogue
from burnish.catalogue.options import Option
from burnish.model.family import FAMILIES, Family
from burnish.model.recipe import Marks, Variant
from burnish.model.workload import Workload
from burnish.report.analysis.marks import LETTERS, letters
from burnish.report.compose import points, row
from burnish.report.document import Block, Column, Document, Entry, Heading, Paragraph, Role, Row, Section, Span, Table
from burnish.report.words import plural
from burnish.search.space import Choice, Space

_LEGEND = "marks: " + ", ".join(f"{letter} {word}" for word, letter in LETTERS.items())


def variants(entries: Iterable[Variant]) -> Document:
    """The variants in full, with what each changes against the baseline."""
    return _entries(
        "variants",
        (_entry(variant.name, variant.marks, _there(variant.reason), _variant_lines(variant)) for variant in entries),
    )


def _variant_lines(variant: Variant) -> tuple[str, ...]:
    """What a variant changes, and where it is from."""
    return (*_there(_changes(variant)), *_from(sources.of(variant.source, variant.recipe)))


def _from(known: Sequence[str]) -> tuple[str, ...]:
    return (f"source: {'; '.join(known)}",) if known else ()


def _there(text: str) -> tuple[str, ...]:
    """The text as the only one; nothing if it is empty, as a user's variant needs no reason."""
    return (text,) if text else ()


def variant_table(entries: Sequence[Variant]) -> Document:
    """The variants, one line each."""
    columns = (Column("variant", whole=True), Column(""), Column("changes"))
    rows = tuple(row(variant.name, letters(variant.marks), _changes(variant)) for variant in entries)
    note = f"{len(entries)} variants; {_LEGEND}. `burnish variants WORD` shows entries in full, `--full` all."
    return Document("variants", (Section("variants", (Table("variants", columns, rows), Paragraph(Span(note)))),))


def _changes(variant: Variant) -> str:
    return ", ".join(f"{name} {value}" for name, value in variant.recipe.changes().items())


def flags(entries: Iterable[Flag]) -> Document:
    """Flags in full."""
    return _entries(
        "flags", (_entry(flag.name, flag.marks, (flag.does, flag.reason), _flag_lines(flag)) for flag in entries)
    )


def flag_table(entries: Sequence[Flag]) -> Document:
    """Flags, one line each."""
    columns = tuple(
        Column(name, whole=name in ("gcc", "clang", "")) for name in ("flag", "what it does", *FAMILIES, "")
    )
    table = Table("flags", columns, tuple(_flag_rows(entries)))
    note = f"{len(entries)} flags; {_LEGEND}. `burnish flags WORD` shows entries in full, `--targets` processors."
    return Document("flags", (Section("flags", (table, Paragraph(Span(note)))),))


def _flag_rows(entries: Sequence[Flag]) -> Iterable[Row]:
    topic = ""
    for entry in entries:
        if entry.topic != topic:
            topic = entry.topic
            yield row(Span(topic, Role.STRONG))
        since = [_since(entry, family) for family in FAMILIES]
        yield row(f" {entry.name}", entry.does, *since, letters(entry.marks))


def _since(entry: Flag, family: Family) -> str:
    spelling = entry.spellings.get(family)
    if spelling is None:
        return "-"
    return f"{spelling.since}+" if spelling.since else "yes"


def _flag_lines(entry: Flag) -> tuple[str, ...]:
    """The flag's spelling in each compiler family, then where it can be used."""
    lines = [_spelled(entry, family) for family in FAMILIES]
    if entry.architecture:
        lines.append(f"only on {', '.join(entry.architecture)}")
    if entry.requires_profile:
        lines.append("only with a profile")
    if late := [family for family, spelling in entry.spellings.items() if spelling.after_counters]:
        lines.append(f"acts after a profile's counters ({', '.join(late)}): shares the training of builds without it")
    others = [other.name for other in flag_catalogue().values() if entry.choice and other.choice == entry.choice]
    excluded = [name for name in (*others, *entry.excludes) if name != entry.name]
    if excluded:
        lines.append(f"not together with {', '.join(excluded)}")
    return (*lines, *_answers("flags", entry.name))


def _spelled(entry: Flag, family: Family) -> str:
    spelling = entry.spellings.get(family)
    if spelling is None:
        return f"{family}: none: {entry.absent[family]}"
    parts = [" ".join(spelling.c)]
    if spelling.c != spelling.cxx:
        words = (("C", spelling.c), ("C++", spelling.cxx))
        parts = [f"{name}: {' '.join(given)}" for name, given in words if given]
    if spelling.link:
        parts.append(f"link: {' '.join(spelling.link)}")
    since = f" (since {spelling.since})" if spelling.since else ""
    reason = f" [{spelling.reason}]" if spelling.reason else ""
    return f"{family}{since}: {'; '.join(filter(None, parts))}{reason}"


def targets(entries: Iterable[Target], here: Processor) -> Document:
    """Processors and levels to build for; those that `here`, this host's processor, can't run are marked."""
    return _entries(
        "targets",
        (_entry(target.name, target.marks, (target.reason,), _target_lines(target, here)) for target in entries),
    )


def _target_lines(entry: Target, here: Processor) -> tuple[str, ...]:
    since = ", ".join(f"{family}-{number}" for family, number in entry.since.items() if number)
    return (
        " ".join(entry.flags) + ("" if entry.runs_on(here) else " (this host can't run it)"),
        *([f"since {since}"] if since else []),
        *_answers("targets", entry.name),
    )


def options(known: Sequence[Option], engine: str) -> Document:
    """An engine's configure options."""
    if not known:
        none = f"no configure option of {engine} is known; a recipe's `options` may name any that it has"
        return Document("options", (Section("options", (Paragraph(Span(none)),)),))
    return _entries(
        "options",
        (_entry(option.name, option.marks, (option.does, option.reason), _option_lines(option)) for option in known),
    )


def _option_lines(option: Option) -> tuple[str, ...]:
    values = f"values: {' | '.join(option.values)}; default: {option.default or 'none'} ({option.where})"
    return (
        values,
        *([f"the mark is for {', '.join(option.marked)}"] if option.marked else []),
        *(
            f"{value}: the gate leaves out {len(tests)} tests, of {option.why_untested}"
            for value, tests in option.untested.items()
        ),
        *_answers("options", option.name),
    )


def loads(entries: Sequence[Workload], beside: Mapping[str, str]) -> Document:
    """The loads with their parameters and settings, then how to use loads of one's own.

    Args:
        every: the loads.
        beside: for each engine, what else it accepts as a load, in words; '' for nothing.
    """
    document = _entries("loads", (_load(load) for load in entries))
    own = tuple(Paragraph(Span(f"On {name} also: {words}.")) for name, words in beside.items() if words)
    return Document(document.title, (*document.sections, *((Section("own", own),) if own else ())))


def _load(load: Workload) -> Entry:
    words = ", ".join(f"{name.replace('_', '-')}={value}" for name, value in load.parameters)
    settings = ", ".join(f"{name}={value}" for name, value in load.settings)
    details = "; ".join(filter(None, (words, f"server: {settings}" if settings else "")))
    note = f" ({load.engine}, {plural(load.threads, 'thread')})"
    return Entry(load.name, note, (load.reason,), (details,) if details else ())


def schemas(known: Mapping[str, str]) -> Document:
    """Each JSON Schema by name, with what it describes."""
    rows = tuple(row(*pair) for pair in known.items())
    return Document(
        "schemas", (Section("schemas", (Table("schemas", (Column("name", whole=True), Column("describes")), rows),)),)
    )


def _answers(kind: str, name: str) -> list[str]:
    return [f"answers to {line}" for line in answered_by(kind, name)]


def _entry(name: str, marks: Marks, prose: tuple[str, ...], details: tuple[str, ...]) -> Entry:
    return Entry(name, f" ({', '.join(marks.words)})" if marks else "", prose, details)


def _entries(title: str, entries: Iterable[Entry]) -> Document:
    return Document(title, (Section(title, tuple(entries)),))


def space(
    engine: str,
    found: Space,
    origins: Mapping[str, Sequence[str]] | None = None,
    deployment: Deployment | None = None,
    *,
    full: bool = False,
) -> Document:
    """The space of an engine: choices with their steps, known-good builds, what is left out, its size.

    Args:
        engine: the engine's name.
        found: its space.
        origins: by choice, where it is from.
        deployment: ways to deploy its winner.
        full: with the reasons and sources of choices, in a list instead of a table, and the rules.
    """
    columns = (
        Column("choice", whole=True),
        Column("levels"),
        Column("step", whole=True),
        Column("expected", whole=True),
    )
    size = f"{plural(len(found.choices), 'choice')}, {plural(found.size, 'build')} allowed"
    note = (
        f"{size}; the first level is the baseline's, a step is what must be made again, expected the usual size of its "
        f"effect, by which untried choices are ordered. `burnish tune {engine} --budget 3h` searches it"
        f"{'' if full else '; `--full` has reasons, sources and rules'}."
    )
    choices: tuple[Block, ...] = (
        tuple(_choice_entry(choice, (origins or {}).get(choice.name, ())) for choice in found.choices)
        if full
        else (Table("space", columns, tuple(row(choice.name, *_about(choice)) for choice in found.choices)),)
    )
    return Document(
        "space",
        (
            Section("space", (*choices, Paragraph(Span(note)))),
            *_listed(
                "rungs", "Known-good builds, tried first", [f"{name}: {at.words}" for name, at in found.rungs.items()]
            ),
            *_listed(
                "left-out",
                "Left out for their marks, unless --allow names these",
                [f"{level}: {why}" for level, why in found.left_out.items()],
            ),
            *_deployment(deployment, full=full),
            *_listed(
                "rules",
                "Not together",
                _rules(found) if full else [],
            ),
        ),
    )


def _deployment(known: Deployment | None, *, full: bool) -> list[Section]:
    """Ways to deploy, and what none of them touches; nothing if there are none."""
    if known is None or not known.choices:
        return []
    ways = known.choices.values()
    blocks: tuple[Block, ...] = (
        tuple(_way(choice) for choice in ways)
        if full
        else (points(f"{choice.name}: {' '.join(choice.words)}" for choice in ways),)
    )
    title = Heading("Ways to deploy the winner, measured where --deploy names them")
    untouched = f"'all' is each of these; none may change {', '.join(known.promises)}."
    return [Section("deployment", (title, *blocks, Paragraph(Span(untouched))))]


def _way(choice: deploying.Choice) -> Entry:
    details = (
        *([f"needs: {', '.join(choice.needs)}"] if choice.needs else []),
        *([f"costs: {choice.costs}"] if choice.costs else []),
        f"source: {choice.source}",
    )
    return Entry(choice.name, f" ({' '.join(choice.words)})", (f"{choice.does} {choice.reason}",), details)


def _listed(key: str, title: str, lines: list[str]) -> list[Section]:
    return [Section(key, (Heading(title), points(lines)))] if lines else []


def _about(choice: Choice) -> tuple[str, str, str]:
    """Levels, step and expected size of a choice."""
    return ", ".join(choice.levels), choice.step.word, f"±{100 * choice.expected:g} %"


def _choice_entry(choice: Choice, origins: Sequence[str]) -> Entry:
    return Entry(choice.name, f" ({'; '.join(_about(choice))})", _there(choice.reason), _from(origins))


def _rules(found: Space) -> list[str]:
    """What may not be together, a line for each reason."""
    together: dict[str, list[str]] = {}
    for one in found.forbidden:
        words = " and ".join(f"{name}={' or '.join(levels)}" for name, levels in one.together.items())
        together.setdefault(one.reason.removeprefix(f"{words}: "), []).append(words)
    return [f"{'; '.join(words)}: {reason}" for reason, words in together.items()]
