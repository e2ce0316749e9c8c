"""The documents: every command in them parses, every link leads somewhere, no paragraph is a wall."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from burnish.base.errors import UserError
from burnish.cli import CALL_ERROR, app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RECORDED = {path.name.partition(".")[0] for path in (DOCS / "results").glob("*.jsonl*")}
WRITTEN = [
    *(path for path in sorted(ROOT.glob("*.md")) if path.name != "CHANGELOG.md"),  # which names what is gone
    *(path for path in sorted(DOCS.rglob("*.md")) if path.parent != DOCS / "results" or path.stem not in RECORDED),
]
"""What people wrote: all but the reports that are rendered from records."""

MOST_WORDS = 120
"""Of a paragraph, an item of a list or a cell of a table."""

OLD = {"--workloads", "--variants", "--designs", "--out", "--study", "--rows", "--portability"}
"""Old spellings, which documents do not use."""

ABOUT_OLD = {DOCS / "COMMANDS.md", DOCS / "results/README.md"}
"""Documents that say what old spellings are now."""

FOREIGN = frozenset({"--help", "--build-arg", "--no-defaults", "--shuffle-sections", "--ways", "--frequency"})
"""Options of other programs that documents name."""

FENCE = re.compile(r"^```.*?\n(.*?)^```", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`]+)`")
CALLS = re.compile(r"\s(?:&&|\||>)\s")
BURNISH = re.compile(r"(?:^|\s)(?:\./)?burnish\s+(.+)")


@dataclass(frozen=True)
class Command:
    """A call of burnish in a document.

    Attributes:
        words: what follows `burnish`.
        whole: whether it stands in a block of commands, where it must be complete; else it may be a mere mention.
    """

    words: tuple[str, ...]
    whole: bool


def commands(text: str) -> Iterator[Command]:
    for block in FENCE.findall(text):
        for line in block.splitlines():
            for part in CALLS.split(line):
                if found := BURNISH.search(part.removeprefix("$ ").partition(" #")[0]):
                    yield Command(tuple(shlex.split(found[1])), whole=True)
    for span in SPAN.findall(FENCE.sub("", text)):
        words = " ".join(span.split())
        if found := re.match(r"(?:time )?(?:[A-Z_]+=\S+ )*(?:\./)?burnish (.+)", words):
            plain = re.sub(r"\[([^\]]+)\]|…|\.\.\.", lambda match: match[1] or "", CALLS.split(found[1])[0])
            yield Command(tuple(shlex.split(plain)), whole=False)


def problem(command: Command) -> str | None:
    """What the command line says of it; None when it takes it."""
    error = _parse(command.words)
    if error is None or (not command.whole and type(error).__name__ not in ("NoSuchOption", "UserError")):
        return None
    return f"burnish {shlex.join(command.words)}: {error}"


def _parse(words: tuple[str, ...]) -> Any:
    """The error of parsing words as the verb that they name, without running it; None when there is none."""
    if words[0] == "VERB":
        return None
    group: Any = _main()
    try:
        context = group.make_context("burnish", list(words))
        while hasattr(group, "resolve_command"):
            rest = [*getattr(context, "_protected_args", ()), *context.args]
            if not rest:
                return None
            name, group, rest = group.resolve_command(context, rest)
            context = group.make_context(name, list(rest), parent=context)
    except (CALL_ERROR, UserError) as error:
        return error
    except typer.Exit:
        return None
    return None


@cache
def _main() -> Any:
    return typer.main.get_command(app)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", WRITTEN, ids=named)
def test_every_command_parses(path: Path) -> None:
    found = {command: problem(command) for command in commands(path.read_text())}
    assert [text for text in found.values() if text is not None] == []


def test_commands_that_do_not_parse_are_found() -> None:
    text = (
        "`burnish tine mariadb` and `burnish show --jason`\n```sh\n./burnish compare A   # one\nburnish doctor\n```\n"
    )
    found = [problem(command) for command in commands(text)]
    assert [each is not None for each in found] == [True, False, True, True]


def test_documents_use_no_old_spelling() -> None:
    for path in WRITTEN:
        for command in commands(path.read_text()):
            assert not OLD & set(command.words), f"{named(path)}: burnish {shlex.join(command.words)}"


def _options(command: Any) -> set[str]:
    own = {option for parameter in command.params for option in parameter.opts}
    own |= {same for option in getattr(command, "verb", ()) for same in getattr(option, "same", ())}
    return own.union(*(_options(each) for each in getattr(command, "commands", {}).values()))


@pytest.mark.parametrize("path", WRITTEN, ids=named)
def test_every_option_that_is_named_exists(path: Path) -> None:
    known = _options(_main()) | (OLD if path in ABOUT_OLD else set())
    spans = [span for span in SPAN.findall(FENCE.sub("", path.read_text())) if span.startswith("--")]
    unknown = {span for span in spans if span.split()[0].partition("=")[0] not in known | FOREIGN}
    assert unknown == set()


@pytest.mark.parametrize("path", WRITTEN, ids=named)
def test_every_link_leads_somewhere(path: Path) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if re.match(r"https?:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists() or (anchor and anchor not in _anchors(file)):
            broken.append(target)
    assert broken == []


@cache
def _anchors(path: Path) -> frozenset[str]:
    """As GitHub makes them: lower case, without punctuation, hyphens for spaces."""
    heads = re.findall(r"^#+ (.+)$", FENCE.sub("", path.read_text()), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads)


@pytest.mark.parametrize("path", WRITTEN, ids=named)
def test_every_file_that_is_named_exists(path: Path) -> None:
    names = re.findall(r"\b(?:src/burnish|benchmarks|docs)/[\w./-]*\w", path.read_text())
    generic = re.compile(r"NAME|\*")
    missing = [name for name in names if not generic.search(name) and not (ROOT / name).exists()]
    assert sorted(set(missing)) == []


def test_every_document_is_linked_from_the_readme() -> None:
    """Directly or through other documents; each record's report from one of them."""
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        if path in reached or path.suffix != ".md" or not path.is_file():
            continue
        reached.add(path)
        waiting += [
            (path.parent / target.partition("#")[0]).resolve()
            for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text())
        ]
    assert {named(path) for path in DOCS.rglob("*.md")} - {named(path) for path in reached} == set()


@pytest.mark.parametrize("path", WRITTEN, ids=named)
def test_no_paragraph_is_a_wall(path: Path) -> None:
    text = re.sub(r"<!-- simulation: begin -->.*?<!-- simulation: end -->", "", path.read_text(), flags=re.DOTALL)
    if path.name == "ARM-2020.md":
        text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)  # its table is generated
    walls = [part[:60] for part in _parts(FENCE.sub("", text)) if len(part.split()) > MOST_WORDS]
    assert walls == []


def _parts(text: str) -> Iterator[str]:
    """Paragraphs, items and cells."""
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[*\-]|\d+\.) )|\n(?=\|)", text):
        yield from block.split("|") if block.startswith("|") else [block]


def test_the_glossary_is_in_order() -> None:
    words = re.findall(r"^\| \*\*(.+?)\*\* \|", (DOCS / "GLOSSARY.md").read_text(), re.MULTILINE)
    assert len(words) > 30
    assert words == sorted(words, key=str.lower)
