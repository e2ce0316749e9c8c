"""The workbench: what is recorded, and what a person sees on a terminal and in a pipe."""

from __future__ import annotations

import errno
import io
import os
import re
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from burnish.base import interrupts, storage
from burnish.base.durations import duration
from burnish.base.errors import HostError, InfrastructureError
from burnish.record import live
from burnish.record.events.study import CommandRun
from burnish.record.record import Record
from burnish.record.workbench import Bench, forecast


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workbench's clock stands still, so that every step takes 0 s, until a test moves it."""
    monkeypatch.setattr("burnish.record.workbench.time", SimpleNamespace(monotonic=lambda: 1000.0))


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    with closing(Record(tmp_path / "study", create=True)) as record:
        yield record


class Piped:
    """A bench whose output goes into a pipe."""

    def __init__(self, record: Record | None, logs: Path, width: int = 80) -> None:
        self.file = io.StringIO()
        self.bench = Bench(record, logs, Console(file=self.file, width=width))

    @property
    def lines(self) -> list[str]:
        text = self.file.getvalue()
        assert "\x1b" not in text, "no escape sequences"
        assert "\r" not in text
        return text.splitlines()


@pytest.fixture
def piped(record: Record, tmp_path: Path) -> Piped:
    return Piped(record, tmp_path / "logs")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.6, "1 s"),
        (59.4, "59 s"),
        (59.6, "1 min 00 s"),
        (185, "3 min 05 s"),
        (3599.6, "1 h 00 min"),
        (3720, "1 h 02 min"),
        (90_000, "25 h 00 min"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_programs_of_a_build_give_way_and_those_of_the_next_step_do_not(piped: Piped) -> None:
    said: list[str] = []
    for low in (False, True, False):
        with piped.bench.step("a step", "nice", low=low):
            piped.bench.run("nice", ["nice"], on_line=said.append)
    assert int(said[1]) > int(said[0]) == int(said[2])


def test_a_step_is_plain_lines_when_piped(piped: Piped) -> None:
    piped.bench.total = 3
    with piped.bench.step("baseline: compile", "build-baseline", 185):
        piped.bench.live("[1/900] item.cc")
        piped.bench.say("something to know")
    with piped.bench.step("baseline: gate", "gate"):
        pass
    assert piped.lines == [
        "[1/3] baseline: compile, about 3 min 05 s",
        "    something to know",
        "[1/3] baseline: compile: done in 0 s",
        "[2/3] baseline: gate",
        "[2/3] baseline: gate: done in 0 s",
    ]


def test_a_step_that_is_part_of_another_does_not_count(piped: Piped) -> None:
    piped.bench.total = 1
    with piped.bench.step("trials", "t"):
        pass
    with piped.bench.step("one / w: start 1", "t", counts=False):
        pass
    assert [line.split("]")[0] for line in piped.lines] == ["[1/1", "[1/1", "[1/1", "[1/1"]


def test_without_a_plan_there_is_no_counter(piped: Piped) -> None:
    with piped.bench.step("looking", "l"):
        pass
    assert piped.lines == ["looking", "looking: done in 0 s"]


def test_a_step_that_fails_says_so(piped: Piped) -> None:
    with pytest.raises(ValueError, match="no"), piped.bench.step("compile", "c"):
        raise ValueError("no")
    assert piped.lines[-1] == "compile: failed after 0 s"
    with piped.bench.step("next", "n"):
        pass
    assert piped.lines[-1] == "next: done in 0 s"


@pytest.mark.parametrize(
    "error",
    [KeyboardInterrupt(), HostError("/mnt: Read-only file system"), OSError(errno.ENOSPC, "No space left on device")],
)
def test_a_step_that_is_interrupted_or_whose_host_fails_is_not_said_to_fail(piped: Piped, error: BaseException) -> None:
    with pytest.raises(type(error)), piped.bench.step("compile", "c"):
        raise error
    assert piped.lines[-1] == "compile: stopped after 0 s"


def test_progress_when_piped_is_a_line_now_and_then(piped: Piped, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("burnish.record.workbench.time.monotonic", lambda: now[0])
    with piped.bench.step("training", "t", 60):
        for second in range(45):
            now[0] = 1000.0 + second
            piped.bench.live(f"{second * 10} tps")
    assert piped.lines[1:-1] == [
        "    20 s of about 1 min 00 s: 200 tps",
        "    40 s of about 1 min 00 s: 400 tps",
    ]
    assert piped.lines[-1] == "training: done in 44 s"


def test_whoever_watches_reads_what_the_session_has_used(
    record: Record, piped: Piped, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("burnish.record.workbench.time.monotonic", lambda: now[0])
    for second in (70.0, 100.0):
        now[0] = 1000.0 + second
        with piped.bench.step("training", "t"):
            now[0] += 5.0
            piped.bench.live("all is well")
        said = live.read(record.folder)
        assert said is not None
        assert (said.spent, said.used) == (5.0, second + 5.0)


@pytest.mark.parametrize(
    ("spent", "expected", "share", "total"),
    [
        (30, 60, 0, 60),
        (90, 60, 0, None),
        (30, None, 0, None),
        (30, None, 0.25, 120),
        (30, 60, 0.5, 60),
        (60, 60, 0.5, 60 + 30 * 1.5),
        (15, 60, 0.5, 15 + 30 * 0.75),
        (100, 60, 1, 100),
        (1, 60, 0.001, pytest.approx(62, abs=0.3)),
    ],
)
def test_what_is_left_follows_the_pace_so_far(
    spent: float, expected: float | None, share: float, total: float | None
) -> None:
    """Half done after the whole time that was expected: twice as slow, of which half is believed at that point."""
    assert forecast(spent, expected, share) == total


def test_a_step_that_takes_longer_says_when_it_will_be_done(piped: Piped, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("burnish.record.workbench.time.monotonic", lambda: now[0])
    with piped.bench.step("compile", "c", 60):
        now[0] = 1060.0
        piped.bench.live("step 1 of 2", 0.5)
    assert piped.lines[1] == "    1 min 00 s of about 1 min 45 s: step 1 of 2"


def test_markup_in_names_is_text(piped: Piped) -> None:
    with piped.bench.step("[bold]variant[/bold] [1/2]", "v"):
        piped.bench.say("[red]reason[/red] [/]")
    assert piped.lines[0] == "[bold]variant[/bold] [1/2]"
    assert piped.lines[1] == "    [red]reason[/red] [/]"


def test_long_lines_that_stay_are_whole(piped: Piped) -> None:
    """Paths are copied out of them."""
    path = "/a/long/path" * 20
    piped.bench.say(path)
    assert piped.lines == [f"    {path}"]


def test_commands_are_recorded_and_logged(piped: Piped, record: Record, tmp_path: Path) -> None:
    seen: list[str] = []
    with piped.bench.step("compile", "build baseline/1") as log:
        script = ["sh", "-c", "echo $A; exit 3"]
        done = piped.bench.run("compile it", script, cwd=tmp_path, env={"A": "b"}, on_line=seen.append)
    assert (done.exit_code, done.output, seen) == (3, "", ["b"])
    assert log == tmp_path / "logs" / "build-baseline-1.log"
    assert log.read_text() == "$ sh -c 'echo $A; exit 3'\nb\n"
    (command,) = (event.event for event in record.events(CommandRun))
    assert command.what == "compile it"
    assert command.argv == ("sh", "-c", "echo $A; exit 3")
    assert (command.cwd, command.env) == (str(tmp_path), {"A": "b"})
    assert (command.exit_code, command.timed_out, command.log) == (3, False, "build-baseline-1.log")
    assert command.seconds >= 0
    assert command.peak_rss_bytes > 0
    assert command.user_seconds + command.system_seconds >= 0


def test_a_timeout_is_recorded(piped: Piped, record: Record) -> None:
    done = piped.bench.run("wait", ["sleep", "60"], timeout=0.1)
    assert not done.ok
    (command,) = (event.event for event in record.events(CommandRun))
    assert command.timed_out
    assert command.log == "other.log", "outside of steps"


def test_logs_of_ones_own(piped: Piped, tmp_path: Path) -> None:
    with piped.bench.step("show", "show") as log:
        piped.bench.run("show", ["echo", "x"], log=tmp_path / "functions.txt")
    assert (tmp_path / "functions.txt").read_text() == "$ echo x\nx\n"
    assert not log.exists()


def test_standard_input(piped: Piped, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("fed\n")
    lines: list[str] = []
    piped.bench.run("cat", ["cat"], stdin_file=tmp_path / "in", on_line=lines.append)
    assert lines == ["fed"]


def test_without_a_study_nothing_is_recorded(tmp_path: Path) -> None:
    piped = Piped(None, tmp_path / "logs")
    assert piped.bench.run("true", ["true"]).ok


def test_a_terminal_shows_one_line_that_is_rewritten(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    file = io.StringIO()
    bench = Bench(record, tmp_path / "logs", Console(file=file, width=60, force_terminal=True))
    bench.total = 2
    with bench.step("training [1]", "t", 60):
        for number in range(3):
            bench.live(f"[{number}/900] " + "x" * 200)
        bench.say("stays")
    text = file.getvalue()
    assert "\x1b[?25l" in text, "the cursor is hidden while a line is rewritten"
    assert "\x1b[?25h" in text, "and is there again afterwards"
    assert "[1/2] training [1]: done in 0 s" in text
    assert "[2/900]" in text, "ninja's counter is text, not markup"
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text)
    assert "    stays" in plain
    assert "x" * 61 not in plain, "cut to the terminal's width"


def test_a_terminals_cursor_comes_back_when_a_step_is_interrupted_as_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=80)
    show_cursor = console.show_cursor

    def interrupted(show: bool = True) -> bool:
        done = show_cursor(show)
        if not show:
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(console, "show_cursor", interrupted)
    with pytest.raises(KeyboardInterrupt), Bench(None, tmp_path / "logs", console).step("Doing", "doing"):
        pytest.fail("it has begun")
    assert file.getvalue().rfind("\x1b[?25h") > file.getvalue().rfind("\x1b[?25l") >= 0


class Dropping:
    """Its finaliser gets the signal; what is raised there is printed and dropped."""

    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_python_drops_ends_the_run_at_its_next_step(tmp_path: Path) -> None:
    bench = Bench(None, tmp_path, Console(file=io.StringIO()))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        interrupts.watch()
        dropping = [Dropping()]
        dropping.clear()
        with pytest.raises(KeyboardInterrupt), bench.step("a step", "a-step"):
            pass
        with bench.step("another", "another"):
            pass
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "words",
    [
        "cc1: error: x.o: No space left on device",
        "cp: x: Disk quota exceeded",
        "ccache: error: /store/ccache/tmp: Read-only file system",
    ],
)
def test_a_step_that_fails_for_want_of_a_disk_is_the_hosts_failure(piped: Piped, words: str) -> None:
    """A compiler that found the disk full or read-only says nothing about its variant."""

    def step(script: str) -> None:
        with piped.bench.step("baseline: compile", "build"):
            piped.bench.run("cc", ["sh", "-c", script]).check("baseline: compile")

    with pytest.raises(HostError, match=words.rpartition(": ")[2]) as caught:
        step(f"echo '{words}'; exit 1")
    assert "baseline: compile" in str(caught.value)
    with pytest.raises(InfrastructureError, match="exit code 1"):
        step("exit 1")


def test_next_to_no_space_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert storage.full("error: out of luck", tmp_path) is None
    monkeypatch.setattr(storage.shutil, "disk_usage", lambda _: SimpleNamespace(free=8192))
    assert storage.full("error: out of luck", tmp_path) == f"{tmp_path}: No space left on device"
