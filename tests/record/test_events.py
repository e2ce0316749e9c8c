"""Events: every kind is declared and documented; those of every committed record are read as declared."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from burnish.model.cell import BuildId, CellId, ComparisonId, Role
from burnish.record import codec, lines, upgrade
from burnish.record.events import EVENTS, KINDS, Event, Unknown
from burnish.record.events.bundled import ComparisonTried, FigureMeasured
from burnish.record.events.trials import PairRead, StartBegun, StartDone, TrialsPlanned
from burnish.record.events.verdicts import VerdictReached

RESULTS = sorted((Path(__file__).parents[2] / "docs" / "results").glob("*.jsonl.xz"))


def test_every_kind_has_one_name() -> None:
    assert len(KINDS) == len(EVENTS)
    new = {
        "flushes_probed",
        "layouts_begun",
        "spread_assumed",
        "deployment_tried",
        "deployment_taken",
        "starts_limited",
    }
    new |= {"search_begun", "search_told", "search_ended"}
    assert set(KINDS) == set(upgrade.KINDS.values()) | new, "all others came from format 1; a new kind is added here"
    assert KINDS["start_done"] is StartDone


def declared() -> list[Any]:
    """All events, and all values that they are made of."""
    result: dict[Any, None] = {}

    def look(kind: Any) -> None:
        for inner in getattr(kind, "__args__", ()):
            look(inner)
        if dataclasses.is_dataclass(kind) and kind not in result:
            result[kind] = None
            for hint in get_type_hints(kind).values():
                look(hint)

    for event in EVENTS:
        look(event)
    return list(result)


@pytest.mark.parametrize("cls", declared(), ids=lambda cls: cls.__name__)
def test_every_field_is_documented_and_can_be_recorded(cls: Any) -> None:
    codec._decoder(cls)
    assert cls.__dataclass_params__.frozen
    names = [field.name for field in dataclasses.fields(cls)]
    text = inspect.getdoc(cls) or ""
    assert [name for name in names if not re.search(rf"^    {name}: ", text, re.MULTILINE)] == []


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name.partition(".")[0])
def test_every_event_of_a_committed_record_is_read(path: Path) -> None:
    seen: set[str] = set()
    for line in lines.read(path):
        event = codec.decode(line.kind, line.body, line.form, where=f"event {line.number}")
        assert not isinstance(event, Unknown)
        kind, body = codec.encode(event)
        if kind not in ("pair_read", "start_begun", "start_done") or kind not in seen:  # the many: one of each kind
            there = json.loads(json.dumps(body, allow_nan=False))
            assert codec.decode(kind, there) == event
            assert codec.encode(codec.decode(kind, there)) == (kind, body)
        seen.add(kind)
        if line.form == 1:
            check_identity(event, line.body)


def check_identity(event: Event, body: Any) -> None:
    """Names made from the fields are those that were taken apart."""
    if isinstance(event, StartBegun | PairRead | StartDone | VerdictReached):
        assert event.cell.name == body["cell"]
    if isinstance(event, ComparisonTried):
        assert (event.comparison.key, event.cell.name) == (body["key"], body["cell"])
    if isinstance(event, FigureMeasured):
        assert event.comparison.key == body["key"]
    if isinstance(event, TrialsPlanned):
        assert [cell.name for cell in event.cells] == body["cells"]
    if isinstance(event, VerdictReached):
        assert (event.cell.label, event.cell.workload) == (body["candidate"], body["workload"])


NAMES = {
    "gcc-pgo / oltp_read_only": CellId("gcc-pgo", "oltp_read_only"),
    "sql/mariadbd / w": CellId("sql/mariadbd", "w"),
    "A/A / w": CellId("A/A", "w", Role.CANARY),
    "again: gcc-pgo / w": CellId("gcc-pgo", "w", Role.CONFIRMATION),
    "duet: A/A / w": CellId("A/A", "w", Role.CANARY, design="duet"),
    "solo: known-different / w": CellId("known-different", "w", Role.CONFIRMATION, design="solo"),
    "baseline: clang / w:threads=4": CellId("clang", "w:threads=4", base="baseline"),
    "baseline, transport=tcp: baseline, transport=remote, rate=100mbit / w": CellId(
        "baseline", "w", base="baseline", given=("transport=tcp",), versus=("transport=remote", "rate=100mbit")
    ),
    "baseline, binlog=on: A/A / w": CellId("A/A", "w", Role.CANARY, base="baseline", given=("binlog=on",)),
    "baseline: baseline again / w": CellId("baseline", "w", base="baseline", control=True),
    "baseline: release 0a1b2c3d / w": CellId("release", "w", base="baseline", program="0a1b2c3d"),
    "again, gcc baseline: gcc.fbo / w": CellId("gcc.fbo", "w", Role.CONFIRMATION, base="baseline", series="gcc"),
    "again,  base, x=1: one / w": CellId("one", "w", Role.CONFIRMATION, base="base", given=("x=1",)),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_cell_of_format_1_is_known_by_its_name(name: str) -> None:
    assert codec.value_of(CellId, upgrade.cell_fields(name)) == NAMES[name]
    assert NAMES[name].name == name == str(NAMES[name])


def test_what_a_cell_says_of_itself() -> None:
    cell = NAMES["baseline, transport=tcp: baseline, transport=remote, rate=100mbit / w"]
    assert cell.group == "baseline, transport=tcp"
    assert cell.label == "baseline, transport=remote, rate=100mbit"
    assert not cell.is_usual
    assert NAMES["baseline: clang / w:threads=4"].is_usual
    assert CellId("a, b", "w", base="baseline").is_usual, "a comma in a name is no condition"
    assert [name for name, item in NAMES.items() if item.is_canary] == [n for n in NAMES if "A/A" in n]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("gcc / fbo / feedback / read_only / 16", ComparisonId("fbo", "gcc", "feedback", "read_only", 16)),
        (" / memory /  /  / ", ComparisonId("memory")),
        (" / debug /  / sql_bench /  / ATIS", ComparisonId("debug", load="sql_bench", test="ATIS")),
    ],
)
def test_a_comparison_of_format_1_is_known_by_its_key(key: str, expected: ComparisonId) -> None:
    assert codec.value_of(ComparisonId, upgrade.comparison_fields(key)) == expected
    assert expected.key == key == str(expected)
    assert expected.title == ", ".join(word for word in key.split(" / ") if word)


@pytest.mark.parametrize("name", ["gcc-pgo", "gcc-pgo#2", "lib/c#", "a#b"])
def test_a_build_of_format_1_is_known_by_its_name(name: str) -> None:
    result = codec.value_of(BuildId, upgrade.build_fields(name))
    assert result.name == name
    assert result.replicate == (2 if name.endswith("#2") else 0)


def test_names_are_taken_apart_in_one_place() -> None:
    """No module of the record beside `upgrade` splits a text at what separates words in names."""
    folder = Path(upgrade.__file__).parent
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and path.name != "upgrade.py":
                taken = node.func.attr in ("split", "partition", "rpartition")
                assert not (taken and ast.unparse(node.args) in ("' / '", "': '", "', '")), path
