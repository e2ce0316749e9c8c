"""Records as files: the same bytes each time, and one line for whatever is wrong with one."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.record import lines
from burnish.record.lines import Line

LINES = [Line(n, "2026-01-02T03:04:05Z", "pair", {"b": [n, 0.1 * n], "a": "ü\ud800"}) for n in (1, 2, 5, 9)] + [
    Line(10 + n, "2026-01-02T03:04:06Z", "start", {"seed": str(hash((n, 7)))}) for n in range(4000)
]


def written(folder: Path, suffix: str, data: bytes | None = None) -> Path:
    path = folder / f"some{suffix}"
    path.write_bytes(lines.pack(LINES, path.name) if data is None else data)
    return path


def said(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        lines.read(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    return text.removeprefix(f"{path}: ")


@pytest.mark.parametrize("suffix", lines.SUFFIXES)
def test_events_come_back_in_their_order_and_with_theirs(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path, suffix)
    result = lines.read(path)
    assert list(result) == LINES
    assert list(result[0].body) == ["b", "a"], "a report follows the order of values"
    assert lines.pack(result, path.name) == path.read_bytes() == lines.pack(LINES, f"another{suffix}")


def test_a_file_without_a_head_is_read_too(tmp_path: Path) -> None:
    path = written(tmp_path, ".jsonl", lines.as_json(LINES).encode())
    assert list(lines.read(path)) == LINES
    assert lines.read(written(tmp_path, ".jsonl", b"")) == ()


@pytest.mark.parametrize("suffix", lines.SUFFIXES)
def test_what_is_cut_off_says_how_much_was_readable(tmp_path: Path, suffix: str) -> None:
    data = lines.pack(LINES, f"x{suffix}")
    text = said(written(tmp_path, suffix, data[: 2 * len(data) // 3]))
    count = int(text.removeprefix("cut off: ").split(" ")[0])
    assert text == f"cut off: {count} of {len(LINES)} events could be read, so none is used; export it again"
    assert 100 < count < len(LINES)


def test_a_file_without_a_head_that_is_cut_off_within_a_line(tmp_path: Path) -> None:
    data = lines.as_json(LINES[:3]).encode()[:-3]
    assert said(written(tmp_path, ".jsonl", data)).startswith("cut off: 2 events could be read")


def test_a_head_holds_its_file_to_what_it_says(tmp_path: Path) -> None:
    data = lines.pack(LINES[:3], "x.jsonl")
    assert said(written(tmp_path, ".jsonl", data[: data[:-1].rfind(b"\n") + 1])).startswith("cut off: 2 of 3 events")
    more = data + lines.as_json(LINES[3:4]).encode()
    assert said(written(tmp_path, ".jsonl", more)).startswith("longer than it says: 4 of 3 events")


def test_damage_within_a_packed_file(tmp_path: Path) -> None:
    for suffix in (".jsonl.gz", ".jsonl.xz"):
        data = bytearray(lines.pack(LINES, f"x{suffix}"))
        data[len(data) // 2] ^= 0x55
        text = said(written(tmp_path, suffix, bytes(data)))
        assert text.startswith("damaged: ")
        assert "so none is used" in text
        assert said(written(tmp_path, suffix, lines.pack(LINES, f"x{suffix}") + b"more")).startswith("followed by")


def test_a_newer_format_is_named(tmp_path: Path) -> None:
    data = b'{"burnish-record":7,"events":1}\n{"anything":1}\n'
    text = said(written(tmp_path, ".jsonl.xz", lzma.compress(data)))
    assert text == (
        "a record in format 7; this Burnish reads formats 1 to 2: read it with the Burnish that wrote it, or a newer "
        "one"
    )
    assert said(written(tmp_path, ".jsonl", b'{"burnish-record":1}\n')).startswith("a record in format 1; ")


@pytest.mark.parametrize(
    ("suffix", "data", "says"),
    [
        (".jsonl.xz", b"hello\n", "its content does not match its suffix; "),
        (".jsonl.gz", b"hello\n", "its content does not match its suffix; "),
        (".jsonl.gz", gzip.compress(b"hello\n", mtime=0), "line 1 is not an event of an exported record; "),
        (".jsonl", b'{"burnish-record":1,"events":1}\n[1]\n', "line 2 is not an event of an exported record; "),
        (".jsonl", b'{"n":1,"at":"","kind":"a","body":{"x":NaN}}\n', "line 1 is not an event"),
        (".jsonl", b'{"n":true,"at":"","kind":"a","body":{}}\n', "line 1 is not an event"),
        (".jsonl", b'{"n":' + b"9" * 30 + b',"at":"","kind":"a","body":{}}\n', "line 1 is not an event"),
        (".jsonl", b'{"n":1,"at":"","kind":"a","body":[]}\n', "line 1 is not an event"),
        (".jsonl", b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n", "line 1 is not an event"),
        (".jsonl.xz", b"", "cut off: 0 events could be read"),
    ],
)
def test_what_is_no_record_is_one_line(tmp_path: Path, suffix: str, data: bytes, says: str) -> None:
    assert said(written(tmp_path, suffix, data)).startswith(says)


def test_no_such_file_and_no_such_packing(tmp_path: Path) -> None:
    assert said(tmp_path / "none.jsonl.xz").startswith("No such file or directory; `burnish record export RUN`")
    assert said(tmp_path / "record.zip") == (
        "an exported record's name ends in .jsonl, .jsonl.gz, .jsonl.xz; give it one of these"
    )


def test_a_line_may_say_its_format(tmp_path: Path) -> None:
    mixed = [LINES[0], Line(2, "", "start_begun", {}, 2)]
    path = written(tmp_path, ".jsonl", lines.pack(mixed, "x.jsonl"))
    head, first, second = (json.loads(line) for line in path.read_text().splitlines())
    assert head == {"burnish-record": 2, "events": 2}
    assert "f" not in first
    assert second["f"] == 2
    assert list(lines.read(path)) == mixed
    newer = b'{"n":1,"at":"","f":7,"kind":"a","body":{}}\n'
    assert said(written(tmp_path, ".jsonl", newer)).startswith("a record in format 7; this Burnish reads formats 1 to")


def test_names() -> None:
    assert [lines.stem(f"a.b{end}") for end in lines.SUFFIXES] == ["a.b"] * 3
    assert lines.stem("mariadb-tune-20261121") == "mariadb-tune-20261121"
    assert not lines.is_file_name("mariadb-tune-20261121")


def test_a_line_is_plain_json() -> None:
    first = json.loads(lines.as_json(LINES[:1]))
    assert first == {"n": 1, "at": "2026-01-02T03:04:05Z", "kind": "pair", "body": {"b": [1, 0.1], "a": "ü\ud800"}}


@pytest.mark.parametrize("packed", [True, False])
def test_turns_are_left_out_and_nothing_else(packed: bool) -> None:
    """Names that look like the rows' ends do not end them; what is written otherwise stays."""
    turns = {"a}],": [[0.1, 2, None], [-1e-05, 3.5, 0.0]], 'b"\\": {[': [], "ü": [[]]}
    side = {"turns": {"seconds": 1.0}, '"turns":{}': 2, "c": {"places": 2}}
    others = {"sides": side, "timing": {"turns": 20}, "places": 2}
    wrong = {"a": [[0.1, "x"]]}
    separators = (",", ":") if packed else None
    for given, left in ((turns, {}), ({}, {}), (wrong, wrong)):
        text = json.dumps({"sides": side, "turns": given, **others}, separators=separators)
        assert json.loads(lines.without_turns(text)) == {**others, "turns": left}
    text = json.dumps(others, separators=separators)
    assert lines.without_turns(text) == text
