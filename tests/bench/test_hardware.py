"""Events of the processor: perf's lines, and the counting of a running process."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base import process
from burnish.bench import hardware

SAID = """1000000,,cycles:u,50000,100.00,,
2500000,,instructions:u,50000,100.00,2.50,insn per cycle
<not supported>,,iTLB-load-misses,0,100.00,,
<not counted>,,branches,0,0.00,,
12.5,msec,task-clock,1,100.00,,
"""


def test_what_was_counted_is_read_and_the_rest_left_out() -> None:
    assert hardware.parse(SAID) == {"cycles": 1e6, "instructions": 2.5e6, "task-clock": 12.5}
    assert hardware.parse("") == {}


def test_events_of_a_transaction() -> None:
    result = hardware.per_transaction(hardware.parse(SAID), 100)
    assert result["cycles"] == 10_000
    assert result["instructions per cycle"] == 2.5
    assert hardware.per_transaction({"cycles": 5.0}, 0) == {}


def test_a_process_is_counted_until_it_is_enough(tmp_path: Path) -> None:
    """A perf of our own: it says what it was asked and, when it is interrupted, what it counted."""
    perf = tmp_path / "perf"
    perf.write_text(
        "#!/bin/sh\ntrap 'echo \"700,,instructions,1,100.00,,\" >&2; exit 130' INT\n"
        'echo "$@" > ' + str(tmp_path / "asked") + "\nwhile :; do sleep 0.02; done\n"
    )
    perf.chmod(0o755)
    child = process.start(["sleep", "60"])
    try:
        counting = hardware.Counting([child.pid], str(perf))
        while not (tmp_path / "asked").exists():
            pass
        assert counting.stop() == {"instructions": 700.0}
    finally:
        process.stop(child)
    words = (tmp_path / "asked").read_text().split()
    assert words[:3] == ["stat", "-x", ","]
    assert words[-2:] == ["-p", str(child.pid)]
    assert "instructions" in words[4].split(",")


def test_without_perf() -> None:
    with pytest.raises(Exception, match="cannot start"):
        hardware.Counting([1], "/no/such/perf")
