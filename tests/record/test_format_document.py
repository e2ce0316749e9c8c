"""docs/FORMAT.md says of every kind of event what its declaration says."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest

from burnish.record import codec, lines
from burnish.record.events import EVENTS
from event_reference import DOCUMENT, meanings, rendered, values


def test_the_reference_is_that_of_the_declarations() -> None:
    text = DOCUMENT.read_text()
    assert text == rendered(text), "run: python tests/support/event_reference.py"


@pytest.mark.parametrize("cls", [*EVENTS, *values()], ids=lambda cls: cls.__name__)
def test_every_field_has_a_meaning(cls: type) -> None:
    assert set(meanings(cls)) == {field.name for field in dataclasses.fields(cls)}  # type: ignore[arg-type]


def test_the_example_is_a_record() -> None:
    (block,) = re.findall(r"^```json\n(.*?)^```", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
    head, *rest = (json.loads(line) for line in block.splitlines())
    assert head == {"burnish-record": codec.FORMAT, "events": len(rest)}
    for number, line in enumerate(rest, 1):
        assert list(line) == ["n", "at", "f", "kind", "body"]
        event = codec.decode(line["kind"], line["body"], line["f"])
        assert (line["n"], codec.encode(event)) == (number, (line["kind"], line["body"]))


def test_suffixes_are_named() -> None:
    text = DOCUMENT.read_text()
    assert [end for end in lines.SUFFIXES if f"`{end}`" not in text] == []
