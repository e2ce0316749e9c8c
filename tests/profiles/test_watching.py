"""A compile whose profile can't fit any more is ended as soon as that is certain."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.base.errors import InfrastructureError
from burnish.profiles.audit import TOLERATED, Audit, ObjectCounts, audit_gcc
from burnish.profiles.watching import FIRST, Watch

HOT = {f"sql/{name}.cc.gcda": ObjectCounts(500, 1000) for name in "ab"}
MOST = int(TOLERATED * 1000)
"""Hot functions that may go unmatched."""


def audit(log: str) -> Audit:
    return audit_gcc(log, HOT, frozenset(HOT))


def warning(file: str, number: int) -> str:
    return f"../source/sql/{file}.cc:{number}:1: warning: profile for function ‘f{number}’ not found in profile data"


def show(watch: Watch, file: str, shown: list[int]) -> None:
    for number in range(1000):
        shown.append(number)
        watch.see(warning(file, number))
        watch.see(f"[{number}/1000] Building CXX object sql/{file}.cc.o")


def test_it_is_ended_at_the_first_look_that_is_certain() -> None:
    shown: list[int] = []
    with pytest.raises(InfrastructureError, match=rf"1000 hot functions, 0 mismatching, {FIRST} missing .* so far"):
        show(Watch(audit, Path("log")), "a", shown)
    assert len(shown) == FIRST


def test_more_is_looked_at_than_the_first_lines() -> None:
    watch, shown = Watch(audit, Path("log")), list[int]()
    for number in range(2 * FIRST):
        watch.see(warning("cold", number))
    with pytest.raises(InfrastructureError, match=r"does not fit this build: .*; first: f"):
        show(watch, "b", shown)
    assert len(shown) < 2 * FIRST


def test_what_is_tolerated_or_said_twice_ends_nothing() -> None:
    watch = Watch(audit, Path("log"))
    for number in range(1000):
        watch.see(warning("cold", number))
        watch.see(warning("a", number % MOST))


def test_what_compilers_say_is_read_as_they_were_run_whatever_our_locale(tmp_path: Path) -> None:
    """gcc quotes names in UTF-8; read in another encoding, its warnings are none that the audit knows."""
    log = tmp_path / "log"
    log.write_text("an earlier run\n")
    start = log.stat().st_size
    with log.open("ab") as file:
        file.write("a.c:1:1: warning: profile for function ‘serve’ not found\n".encode())
    code = (
        "import pathlib, sys; from burnish.builds import builder\n"
        f"print(ascii(builder._said(pathlib.Path(sys.argv[1]), {start})), sys.flags.utf8_mode)"
    )
    plain = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PATH": os.environ["PATH"]}
    said = subprocess.run([sys.executable, "-c", code, log], env=plain, capture_output=True, text=True, check=True)
    assert said.stdout == r"'a.c:1:1: warning: profile for function \u2018serve\u2019 not found\n' 0" + "\n"
