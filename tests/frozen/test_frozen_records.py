"""What the committed records say, frozen: each one's summary and report, by their digests.

``UPDATE_FROZEN=1 pytest tests/frozen`` writes `records.json` anew where a change is meant.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from burnish.record.exchange import read_events
from burnish.report.result import fold
from burnish.report.values import runs
from drawn import markdown

RESULTS = Path(__file__).parents[2] / "docs" / "results"
RECORDS = sorted(RESULTS.glob("*.jsonl.xz"))
FROZEN = Path(__file__).with_name("records.json")


def _digests(path: Path) -> dict[str, str]:
    """SHA-256 of a record's summary as JSON, with sorted keys and in their own order, and of its Markdown."""
    summary = fold(read_events(path))
    values = {name: value for name, value in runs.run(summary).items() if name != "suites"}
    texts = {
        "json": json.dumps(values, default=str, sort_keys=True),
        "json_in_order": json.dumps(values, default=str),
        "markdown": markdown(summary),
    }
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def _frozen() -> dict[str, dict[str, str]]:
    return json.loads(FROZEN.read_text()) if FROZEN.exists() else {}  # type: ignore[no-any-return]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.name)
def test_a_record_says_what_it_said(path: Path) -> None:
    found = _digests(path)
    if os.environ.get("UPDATE_FROZEN"):
        FROZEN.write_text(json.dumps(_frozen() | {path.name: found}, indent=1, sort_keys=True) + "\n")
    assert found == _frozen().get(path.name)


def test_every_record_is_frozen() -> None:
    assert sorted(_frozen()) == [path.name for path in RECORDS]
