"""What a newcomer reads: every verb's help on one screen, with an example that today's options understand."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from burnish.base.errors import UserError
from burnish.catalogue import flags, load, options
from burnish.catalogue.bundled import files as studies
from burnish.catalogue.patches import located
from burnish.cli import help as pages
from burnish.cli.common import app
from burnish.cli.declaration import Verb
from burnish.workload import loads

ROOT: Any = typer.main.get_command(app)
"""The command line as typer makes it; its classes are typer's own business."""

CLI = Path(pages.__file__).parent


def verbs(group: Any = ROOT, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every verb and every group of verbs but the whole."""
    for name, command in sorted(group.commands.items()):
        yield (*words, name), command
        if hasattr(command, "commands"):
            yield from verbs(command, (*words, name))


COMMANDS = dict(verbs())
VERBS: dict[tuple[str, ...], Verb] = {
    words: command.verb for words, command in COMMANDS.items() if hasattr(command, "verb")
}


@cache  # a page is looked at by several tests
def shown(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, [*words], env={"COLUMNS": "80", "TERM": "dumb"}, catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.output


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("words", [(), *COMMANDS], ids=" ".join)
def test_help_is_whole_on_one_screen(words: tuple[str, ...]) -> None:
    text = shown(*words, "--help")
    assert len(text.splitlines()) <= 60
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text, "a word that was cut can't be typed"
    assert not re.search(r"<\w+>", text), "no types: what stands for a value says what it is"
    assert "{" not in text, "every name was filled in"
    assert text == shown(*words, "-h")


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_a_paragraph_of_help_is_one_line_of_its_declaration(words: tuple[str, ...]) -> None:
    assert all("\n" not in part for part in VERBS[words].help.split("\n\n")), "else help breaks it twice"


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_what_help_leaves_out_is_counted_and_is_in_help_all(words: tuple[str, ...]) -> None:
    verb = VERBS[words]
    short, full = shown(*words, "--help"), shown(*words, "--help-all")
    assert full == shown("help", *words)
    every = {option.name for option in verb.options}
    listed = {name for name in every if re.search(rf"^  .*{name}\b(?! \S+ \S+ --help)", short, re.MULTILINE)}
    assert all(re.search(rf"^  (-\w, )?{name}\b", full, re.MULTILINE) for name in every)
    left = len(every) - len(listed)
    assert (f"{left} more options: burnish {' '.join(words)} --help-all" in plain(short)) == bool(left), plain(short)
    assert "more options" not in full


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_everything_that_can_be_given_says_what_it_is(words: tuple[str, ...]) -> None:
    verb = VERBS[words]
    assert verb.help.partition("\n")[0].endswith(".")
    for declared in verb:
        assert re.match(r"[A-Z{].*\.$", declared.help), declared
    for option in verb.options:
        assert option.name.startswith("--")
        assert bool(option.value) == (option.reader is not None), "help says whether a value follows"
        assert option.panel


def test_an_option_is_the_same_on_every_verb() -> None:
    known: dict[str, tuple[object, ...]] = {}
    for words, verb in VERBS.items():
        names = [name for option in verb.options for name in (*option.flags, *option.old)]
        assert len(set(names)) == len(names), f"{words}: one spelling, one option"
        for option in verb.options:
            same = (option.flags, option.help, option.old, option.panel, option.common or "engine")
            assert known.setdefault(option.name, same) == same, (words, option.name)
    assert len(known) > 60


def test_the_engine_of_a_bundled_study_is_a_common_option() -> None:
    for verb in ("show", "run"):
        assert re.search(r"^  --engine\b", shown("study", verb, "--help"), re.MULTILINE)


def test_every_verb_is_in_one_panel() -> None:
    named = [name for names in pages.PANELS.values() for name in names]
    for path in CLI.rglob("[a-z]*.py"):
        import_module(".".join(("burnish.cli", *path.relative_to(CLI).with_suffix("").parts)))
    added = [*(known.name for known in app.registered_commands), *(known.name for known in app.registered_groups)]
    assert sorted(named) == sorted(ROOT.commands) == sorted(name or "" for name in added)
    for name, (_, about) in pages.VERBS.items():
        assert about == pages.first_sentence(ROOT.commands[name].help), "the page of all verbs has what each one's says"
    text = shown("--help")
    places = [text.index(f"\n  {name} ") for name in named]
    assert places == sorted(places)
    assert "\n  render " not in shown("record", "--help"), "it is for maintainers"


def example(text: str) -> list[str]:
    """The words of an example behind `burnish`, without what the shell does with it."""
    cut = re.sub(r"\s+(>|&&|\().*$", "", pages.filled(text))
    program, *words = shlex.split(cut)
    assert program == "burnish"
    return words


def test_every_page_ends_with_an_example() -> None:
    for words, command in COMMANDS.items():
        text = command.verb.example if words in VERBS else command.epilog
        assert plain(shown(*words, "--help")).strip().endswith(f"Example: {plain(pages.filled(text))}")


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_example_is_a_call_of_its_verb_with_names_that_there_are(words: tuple[str, ...]) -> None:
    command = COMMANDS[words]
    called = example(command.verb.example if words in VERBS else command.epilog)
    names = max((known for known in VERBS if tuple(called[: len(known)]) == known), key=len)
    assert names[: len(words)] == words
    verb = VERBS[names]
    context = COMMANDS[names].make_context(names[-1], called[len(names) :])
    values = verb.values({field: (text,) if isinstance(text, str) else text or () for field, text in given(context)})
    spec = load.engine(values.get("engine") or "mariadb")
    for word in values.get("workloads") or ():
        load.workload(spec, loads.asked(word).name)
    for name in (*(values.get("variants") or ()), *filter(None, [values.get("variant")])):
        assert load.variant(name)
    if words[0] == "study" and values.get("name"):
        found = studies.study(values["name"])
        assert set(values["rows"]) <= {row.name for row in found.rows}
    if names == ("flags",):
        assert any(values["words"][0] in name for name in flags.flags())
    if names == ("options",):
        assert any(values["words"][0] in name.lower() for name in options.options()[spec.name])
    for word in values.get("patch_b") or ():
        assert Path(located(word)).is_file()


def given(context: Any) -> Iterator[tuple[str, Any]]:
    """What a call gave, by field."""
    for field, value in context.params.items():
        if value is not None and value is not False:
            yield field, "yes" if value is True else value


def test_a_group_without_a_verb_is_helped_and_nothing_was_done() -> None:
    assert shown(code=2) == shown("--help")
    assert shown("study", code=2) == shown("study", "--help")


def test_help_of_what_there_is_not() -> None:
    for words, said in (
        (("help", "tuen"), r"unknown verb 'tuen' \(did you mean 'tune'\?\)"),
        (("help", "study", "rum"), r"unknown study verb 'rum' \(did you mean 'run'\?\)"),
        (("help", "tune", "sqlite"), r"tune sqlite: tune is a verb, not a group of verbs; leave 'sqlite' out"),
    ):
        with pytest.raises(UserError, match=said):
            shown(*words)


def test_exit_codes_are_documented() -> None:
    text = plain(shown("help", "exit-codes"))
    for code, meaning in pages.EXIT_CODES.items():
        assert f"{code} {meaning}" in text
    table = (CLI.parents[2] / "docs/COMMANDS.md").read_text()
    for code, meaning in pages.EXIT_CODES.items():
        assert f"| {code} | {meaning} |" in table


def test_old_spellings_are_documented() -> None:
    table = (CLI.parents[2] / "docs/COMMANDS.md").read_text()
    for verb in VERBS.values():
        for option in verb.options:
            assert all(f"| `{old}` | `{option.name}` |" in table for old in option.old)


@pytest.mark.parametrize(
    ("typed", "path", "name"),
    [
        ("./burnish", "/usr/bin", "./burnish"),
        ("/opt/tools/burnish", "/usr/bin:/opt/tools", "burnish"),
        ("/opt/tools/burnish", "/usr/bin", "/opt/tools/burnish"),
        ("/src/burnish/__main__.py", "/usr/bin", "python -m burnish"),
    ],
)
def test_the_program_is_called_as_it_was_typed(
    monkeypatch: pytest.MonkeyPatch, typed: str, path: str, name: str
) -> None:
    monkeypatch.setenv("PATH", path)
    assert pages.program(typed) == name


def test_hints_repeat_what_was_typed() -> None:
    hint = "no run yet; `burnish tune` makes the first one, not /usr/bin/burnish or burnish.toml: burnish 0.1"
    assert pages.as_typed(hint, "./burnish") == hint.replace("`burnish tune`", "`./burnish tune`")


def test_no_engine_is_named_in_the_command_line() -> None:
    """Names come from the catalogue; what is left is about the formats of one server's logs and tables."""
    named = {
        path.name: found
        for path in sorted(CLI.rglob("*.py"))
        if (found := re.findall(rf"[^\n]*\b(?:{'|'.join(load.engine_names())})\b(?!-)[^\n]*", path.read_text()))
    }
    assert set(named) <= {"workload.py"}, named
