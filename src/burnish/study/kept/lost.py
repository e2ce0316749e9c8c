"""What makes a build again that a run made and that is no longer kept."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from burnish.model.recipe import Recipe
from burnish.record.events.searches import SearchTold
from burnish.record.events.study import SessionBegun, StudyBegun, StudyFinished
from burnish.record.record import Record

AGAIN = "Made again from the record of a run."
"""Reason of a variant whose own is not known; a file of variants wants one of 20 characters and more."""


def makes_again(folder: Path, variant: str | None = None) -> str:
    """What makes a run's build again, in words that end a message.

    A search names builds of its own by when it came upon them, so that the same search may give another build that
    name: such a build is made again by its recipe.

    Args:
        folder: the run's.
        variant: the build's variant; None: any of the run's.
    """
    with closing(Record(folder)) as record:
        begun, session = record.last(StudyBegun), record.last(SessionBegun)
        definition = begun.event.definition if begun else {}
        own = [recorded.event for recorded in record.events(SearchTold) if recorded.event.variant == variant]
        finished = record.last(StudyFinished) is not None
    if own and variant is not None and variant not in definition.get("recipes", {}):
        return (
            f"`burnish tune {definition['engine']} --recipes FILE --variant {variant}` makes it again, with the line "
            f"{variant} = {{ reason = {json.dumps(AGAIN)}, recipe = {inline(own[-1].recipe)} }} in FILE"
        )
    call = session.event.call if session else None
    if call is None:
        return f"the command of run {folder.name} makes it again, which its record does not have"
    words = [word for word in call.words if word != "--fresh"] + ["--fresh"] * finished
    place = "" if call.folder in ("", str(Path.cwd())) else f" in {call.folder}"
    return f"`burnish {shlex.join(words)}`{place} makes it again, as in run {folder.name}"


def inline(recipe: Mapping[str, Any]) -> str:
    """The fields of a recipe that differ from the default one's, as a TOML value on one line."""
    usual = json.loads(json.dumps(Recipe().as_dict()))
    parts = [f"{key} = {value_text(value)}" for key, value in recipe.items() if value != usual.get(key)]
    return f"{{ {', '.join(parts)} }}" if parts else "{}"


def value_text(value: Any) -> str:
    """A TOML value. JSON's strings are TOML's; so are its numbers, booleans and arrays."""
    return json.dumps(value, ensure_ascii=False)
