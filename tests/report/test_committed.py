"""What stands in docs/results is what its committed records say, rendered by `burnish record render docs/results`."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.record import exchange, lines
from burnish.report import committed

RESULTS = Path(__file__).parents[2] / "docs" / "results"
RECORDS = sorted(path for path in RESULTS.iterdir() if lines.is_file_name(path.name))


def test_everything_is_rendered_from_its_record() -> None:
    found = [each.words for each in committed.differences(committed.expected(RESULTS))]
    assert found == [], "run: ./burnish record render docs/results"
    assert len(RECORDS) >= 6


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: lines.stem(path.name))
def test_a_committed_record_is_compact_and_whole(path: Path) -> None:
    """The committed ones have nothing left to leave out, so that a report of the whole record is the same."""
    events = exchange.read_events(path)
    assert path.name.endswith(lines.USUAL), f"run: ./burnish record export {path} -o {path}.xz && rm {path}"
    assert list(events) == list(exchange.compact(events))
