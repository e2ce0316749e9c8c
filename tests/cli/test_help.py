"""What a newcomer reads: every verb's help, whole at 80 columns, with an example that today's options understand."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from burnish.catalogue import flags, load, options, studies
from burnish.catalogue.patches import located
from burnish.cli.common import app
from burnish.workload import loads

ROOT: Any = typer.main.get_command(app)
"""The command line as typer makes it; its classes are typer's own business."""


def verbs(group: Any = ROOT, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every verb and every group of verbs but the whole."""
    for name, command in sorted(group.commands.items()):
        yield (*words, name), command
        if hasattr(command, "commands"):
            yield from verbs(command, (*words, name))


VERBS = dict(verbs())


def example(command: Any) -> list[str]:
    """The words of a verb's example behind `burnish`, without what the shell does with it."""
    text = re.sub(r"\s+(>|&&|\().*$", "", command.epilog.removeprefix("Example: "))
    program, *words = shlex.split(text)
    assert program == "burnish"
    return words


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_help_is_whole_and_ends_with_an_example(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80", "TERM": "dumb"}, catch_exceptions=False)
    assert done.exit_code == 0
    assert max(map(len, done.output.splitlines())) <= 80
    assert "…" not in done.output, "a word that was cut can't be typed"
    assert " Example: burnish " in done.output
    assert VERBS[words].help, "it says what it is for"


def parsed(words: list[str]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The verb that words call, and its parameters by name; fails where it would refuse them."""
    command, context, rest, names = ROOT, ROOT.make_context("burnish", list(words), resilient_parsing=False), words, []
    while hasattr(command, "commands"):
        name, command, rest = command.resolve_command(context, list(rest))
        names.append(name)
        context = command.make_context(name, list(rest), parent=context)
    return tuple(names), context.params


@pytest.mark.parametrize("words", VERBS, ids=" ".join)
def test_an_example_is_a_call_of_its_verb_with_names_that_there_are(words: tuple[str, ...]) -> None:
    names, values = parsed(example(VERBS[words]))
    assert names[: len(words)] == words
    spec = load.engine(values["engine"]) if values.get("engine") else load.engine("mariadb")
    for word in loads.split(values.get("workloads") or values.get("workload") or ""):
        load.workload(spec, word)
    for name in (values.get("variants") or "").split(","):
        assert not name or load.variant(name)
    if words[0] == "study" and values.get("name"):
        found = studies.study(values["name"])
        assert {row for row in (values.get("rows") or "").split(",") if row} <= {row.name for row in found.rows}
    if names == ("flags",):
        assert any(values["words"][0] in name for name in flags.flags())
    if names == ("options",):
        assert any(values["words"][0] in name.lower() for name in options.options()[spec.name])
    for word in values.get("patch_b") or ():
        assert Path(located(word)).is_file()
