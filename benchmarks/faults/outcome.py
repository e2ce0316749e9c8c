"""What a record says that does not hang on the machine's noise, and what it may never say."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from burnish.record.codec import encode
from burnish.record.record import Record
from burnish.report.fold import fold
from burnish.report.values import runs as values

_NAMES = ("build", "cell", "comparison", "variant", "workload", "stage", "title", "candidate", "baseline")
"""Fields of events that say what they are about."""

_ONCE = {
    "start_done": ("cell", "start"),
    "verdict_reached": ("cell",),
    "stage_done": ("stage", "key"),
    "study_finished": (),
    "study_begun": (),
    "twin_found": ("variant",),
}
"""Events of which a record may have only one with the same values of these fields."""

_AS_OFTEN = ("command_run", "session_begun", "start_begun", "pair_read", "fallen_back")
"""Events of which a run that was disturbed may have more, or others."""


def study_of(home: Path) -> Path:
    """The only run in a home."""
    found = [path for path in (home / "studies").glob("*") if not path.name.startswith(".")]
    assert len(found) == 1, found
    return found[0]


def outcome(folder: Path) -> dict[str, Any]:
    """What a finished run says, without what hangs on noise."""
    with closing(Record(folder)) as record:
        every = list(record.every())
    result = values.run(fold(every))
    events = [encode(recorded.event) for recorded in every]
    about = sorted(
        {
            f"{kind} {[(name, body[name]) for name in _NAMES if name in body]}"
            for kind, body in events
            if kind not in _AS_OFTEN
        }
    )
    return {
        "events": about,
        "finished": any(kind == "study_finished" for kind, _ in events),
        "builds": [[each["variant"], each["gate"], each["same"], each["failure"]] for each in result["builds"]],
        "rows": [
            [row["candidate"], row["workload"], row["starts"], row["verdict"] is not None] for row in result["rows"]
        ],
        "undecided": [row["candidate"] for row in result["rows"] if row["verdict"] == "undecided"],
        "faster": [row["candidate"] for row in result["rows"] if row["capacity"] and row["capacity"]["ratio"] > 1.1],
    }


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """What the first says and the second does not, and the other way round, in words.

    Whether two starts on a busy machine prove thirty per cent hangs on its noise, and what is not proved is not
    measured again: where a verdict is open, confirmations are not compared.
    """
    found = []
    if one.get("undecided") or other.get("undecided"):
        one, other = _unconfirmed(one), _unconfirmed(other)
    for key, value in other.items():
        if key == "undecided":
            continue
        if key == "events":
            found += [f"lost: {line}" for line in sorted({*value} - {*one[key]})]
            found += [f"added: {line}" for line in sorted({*one[key]} - {*value})]
        elif one[key] != value:
            found.append(f"{key}: {one[key]} instead of {value}")
    return found


def _unconfirmed(said: dict[str, Any]) -> dict[str, Any]:
    return {**said, "events": [line for line in said["events"] if "'role': 'confirmation'" not in line]}


def doubled(folder: Path) -> list[str]:
    """Events that a record has twice and may have once."""
    with closing(Record(folder)) as record:
        events = [encode(recorded.event) for recorded in record.every()]
    counts = Counter(
        f"{kind} {[(name, body.get(name)) for name in _ONCE[kind]]}" for kind, body in events if kind in _ONCE
    )
    return [f"{number} times {what}" for what, number in counts.items() if number > 1]
