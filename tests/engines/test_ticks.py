"""Ticks are read as they come: whole lines, each once."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base.errors import InfrastructureError
from burnish.engines.side import Tick
from burnish.engines.ticks import TickFile, parse_tick


def test_whole_lines_come_once(tmp_path: Path) -> None:
    file = TickFile(tmp_path / "ticks")
    assert file.lines() == []
    with file.path.open("wb", buffering=0) as sink:
        sink.write(b"one\ntw")
        assert file.lines() == [b"one"]
        assert file.lines() == []
        sink.write(b"o\nthree\n")
        assert file.lines() == [b"two", b"three"]
    file.clear()
    file.path.write_bytes(b"four\n")
    assert file.lines() == [b"four"]


def test_a_tick_needs_its_time_its_work_and_the_servers_clock(tmp_path: Path) -> None:
    file = TickFile(tmp_path / "ticks")
    file.path.write_text(
        '{"at": 1.5, "done": 2, "server_cpu": 0.25}\n'
        '{"at": 1.6, "done": 3, "server_cpu": null}\n'
        '{"at": 2, "done": 4, "server_cpu": 0.5, "errors": 1, "reconnects": 2, "client_cpu": 0.1,'
        ' "latency": {"p95": 0.01}, "steps": 9}\n'
    )
    assert file.ticks() == [
        Tick(at=1.5, done=2.0, errors=0, server_cpu=0.25, client_cpu=0.0),
        Tick(at=2.0, done=4.0, errors=3, server_cpu=0.5, client_cpu=0.1, latency={"p95": 0.01}, steps=9.0),
    ]
    with pytest.raises(InfrastructureError, match="a tick that can't be read"):
        parse_tick(b'{"at": 1}')
