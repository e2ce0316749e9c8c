"""The gateway to other programs: what they said, how they ended, and that nothing of them stays behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from burnish.base import process, warden
from burnish.base.errors import InfrastructureError

Shell = tuple[str, str, str]


def sh(script: str) -> Shell:
    return ("sh", "-c", script)


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    return False


def ignores(pid: int, number: int) -> bool:
    mask = re.search(r"^SigIgn:\s*(\w+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return mask is not None and bool(int(mask[1], 16) >> (number - 1) & 1)


def soon(what: Callable[[], bool], seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.02)
    return what()


# What a program said.


def test_output_is_both_streams_line_by_line() -> None:
    lines: list[str] = []
    done = process.run(sh("echo one; echo two >&2; printf 'three\\r\\nfour'"), on_line=lines.append)
    assert done.output == "one\ntwo\nthree\nfour"
    assert lines == ["one", "two", "three", "four"]
    assert (done.exit_code, done.ok, done.timed_out) == (0, True, False)


def test_output_that_is_no_utf8_and_long() -> None:
    done = process.run(sh("printf 'a\\377b\\n'; head -c 300000 /dev/zero | tr '\\0' x; echo; echo end"))
    first, middle, last = done.output.split("\n")
    assert (first, last) == ("a�b", "end")
    assert middle == "x" * 300_000


def test_a_log_takes_the_output(tmp_path: Path) -> None:
    log, lines = tmp_path / "logs" / "step.log", list[str]()
    done = process.run(sh("echo 'it is'"), log=log, on_line=lines.append)
    process.run(["echo", "a b"], log=log)
    assert (done.output, done.log) == ("", log)
    assert lines == ["it is"]
    assert log.read_text() == "$ sh -c 'echo '\"'\"'it is'\"'\"''\nit is\n$ echo 'a b'\na b\n"


def test_standard_input(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("fed\n")
    assert process.run(["cat"], stdin_file=tmp_path / "in").output == "fed"
    assert process.run(["cat"], timeout=20).output == "", "never the terminal"


def test_environment_and_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", "de")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("CPATH", "/opt/include")  # with it a compiler makes another program of the same command
    script = f'echo "$LC_ALL|$LANGUAGE|$OWN|${process.RUN_VARIABLE}"; pwd'
    message = process.run(sh(script), cwd=tmp_path, env={"OWN": "1"}).output
    assert message == f"C.UTF-8||1|{process.run_id()}\n{tmp_path}"
    assert process.run(sh("echo $LC_ALL"), env={"LC_ALL": "C"}).output == "C"
    assert process.run(sh('echo "<${CPATH-}>"'), env={}).output == "<>"
    assert process.run(sh("echo $CPATH"), env={"CPATH": "/own"}).output == "/own"
    assert process.run_id().startswith(f"{os.getpid()}-")


@pytest.mark.parametrize("name", ["PGHOSTADDR", "PGOPTIONS", "MYSQL_TCP_PORT", "MARIADB_HOST", "SQLITE_TMPDIR"])
def test_variables_of_servers_and_clients_are_not_inherited(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "of another server")
    assert process.run(sh(f'echo "<${{{name}-}}>"')).output == "<>"
    assert process.run(sh(f"echo ${name}"), env={name: "own"}).output == "own"


@pytest.mark.parametrize("name", ["CCACHE_PREFIX", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH", "LD_RUN_PATH", "Z_ROOT_DIR"])
def test_no_variable_that_makes_another_program_gets_into_a_build(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "/opt")
    monkeypatch.setenv(f"OWN_{name}S", "kept")
    assert name not in process.environment()
    assert process.environment()[f"OWN_{name}S"] == "kept"
    assert process.environment({name: "/own"})[name] == "/own"


def test_ticks_come_while_it_runs(tmp_path: Path) -> None:
    ticks: list[float] = []

    def tick() -> None:
        ticks.append(time.monotonic())
        if len(ticks) == 2:
            (tmp_path / "twice").touch()

    assert process.run(sh("while [ ! -e twice ]; do sleep 0.1; done"), cwd=tmp_path, timeout=60, on_tick=tick).ok
    assert len(ticks) >= 2


def test_cost_is_its_own_and_its_childrens() -> None:
    burn = "import time\nx = bytearray(80 << 20)\nwhile time.process_time() < 0.3: pass"
    done = process.run(sh(f"{sys.executable} -c '{burn}'; true"))
    assert done.user_seconds + done.system_seconds >= 0.3
    assert done.seconds >= 0.3
    assert done.peak_rss_bytes >= 80 << 20


def test_low_priority_holds_beside_other_sessions_too() -> None:
    asked = ["sh", "-c", "nice; cat /proc/self/autogroup 2>/dev/null"]
    usual, low = (process.run(asked, low=low).output.split() for low in (False, True))
    assert int(low[0]) == min(19, int(usual[0]) + process.LOW_PRIORITY)
    if len(usual) > 1:  # "/autogroup-12 nice 0": not all kernels have it
        assert (usual[-1], low[-1]) == ("0", str(process.LOW_PRIORITY))


def test_what_is_for_the_dynamic_linker_is_for_the_program_alone() -> None:
    said = process.run(["true"], env={"LD_PRELOAD": "/no/such library.so"}, low=True).output
    assert said.count("/no/such") == 1, "ld.so says so once for each program that asks for it"
    here = {"LD_LIBRARY_PATH": "/a b", "LD_BIND_NOW": "1"}
    assert process.run(sh('echo "$LD_LIBRARY_PATH|$LD_BIND_NOW"'), env=here).output == "/a b|1"


def test_a_program_may_be_interrupted_where_burnish_ignores_that() -> None:
    """As a shell has what it starts in the background do; ours must end when we ask them to."""
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); from burnish.base import process\n"
        "print(process.run(['grep', 'SigIgn', '/proc/self/status']).output)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not int(said.split()[1], 16) >> (signal.SIGINT - 1) & 1


def test_burnish_is_not_copied_for_a_program() -> None:
    """A copy of a process of 300 MB takes longer than most programs that it starts."""
    code = (
        "import os; from burnish.base import process; process.ensure_warden()\n"
        "os.register_at_fork(before=lambda: print('copied'))\n"
        "print(process.run(['echo', 'ran'], low=True).output)\n"
        "os.waitpid(os.fork() or os._exit(0), 0)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["ran", "copied"], "Python calls it where it copies the process"


# How it ended.


@pytest.mark.parametrize(("script", "code"), [("exit 3", 3), ("kill -9 $$", -9), ("kill -6 $$", -6)])
def test_exit_codes(script: str, code: int) -> None:
    done = process.run(sh(f"echo why; {script}"))
    assert (done.exit_code, done.ok) == (code, False)
    with pytest.raises(InfrastructureError) as caught:
        done.check("linking")
    assert str(caught.value) == f"linking: `sh` ended with exit code {code}\n  | why"


def test_check_points_to_the_log(tmp_path: Path) -> None:
    log = tmp_path / "step.log"
    done = process.run(sh("for i in 1 2 3; do echo line $i; done; exit 1"), log=log)
    with pytest.raises(InfrastructureError) as caught:
        done.check("compiling", kept="the source")
    assert str(caught.value) == "compiling: `sh` ended with exit code 1"
    assert caught.value.explain(2).splitlines()[1:] == ["  | line 2", "  | line 3", f"log: {log}", "kept: the source"]
    fine = process.run(["true"])
    assert fine.check("this") is fine


def test_command_is_what_a_shell_would_take() -> None:
    assert process.run(["echo", "a b", "$c"]).command == "echo 'a b' '$c'"


@pytest.mark.parametrize("argv", [["/no/such/program"], ["/etc/passwd"]])
def test_what_cannot_be_started_is_one_line(argv: list[str]) -> None:
    with pytest.raises(InfrastructureError) as caught:
        process.run(argv)
    assert str(caught.value).startswith(f"cannot start `{argv[0]}`: ")
    assert "\n" not in str(caught.value)
    assert process.capture(argv) == ""


@pytest.mark.parametrize(
    "content",
    [b"", b"echo ran\n", b"\x7fELF\x02\x01\x01" + bytes(11) + b"\xf3\x00\necho ran\n", b"\x7fELF\necho ran\n"],
    ids=["empty", "text", "another processor's", "truncated"],
)
def test_no_shell_runs_what_is_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(process, "_BINFMT", tmp_path)  # as where no interpreter of other programs is registered
    program = tmp_path / "program"
    program.write_bytes(content)
    program.chmod(0o700)
    with pytest.raises(InfrastructureError, match=r"cannot start .*: Exec format error"):
        process.run([program])


def test_capture_is_empty_on_failure() -> None:
    assert process.capture(sh("echo yes")) == "yes"
    assert process.capture(sh("echo no; exit 1")) == ""
    assert process.capture(["sleep", "60"], timeout=0.2) == ""


def test_timeout_kills_the_whole_group() -> None:
    messages: list[str] = []
    done = process.run(sh("sleep 300 & echo $!; wait"), timeout=2.0, on_line=messages.append)
    assert (done.timed_out, done.ok) == (True, False)
    assert soon(lambda: not alive(int(messages[0])))
    with pytest.raises(InfrastructureError, match=r"waiting: `sh` took too long and was killed"):
        done.check("waiting")


def test_timeout_holds_when_something_out_of_reach_goes_on_talking() -> None:
    """A descendant with a session of its own outlives its group and may fill the pipe for ever."""
    done = process.run(sh("setsid yes & sleep 300"), timeout=0.5)
    assert done.timed_out


def test_what_a_program_leaves_behind_is_killed_and_not_waited_for() -> None:
    done = process.run(sh("sleep 300 & echo $!"), timeout=60)
    assert (done.ok, done.timed_out) == (True, False)
    assert soon(lambda: not alive(int(done.output)))


def test_a_failure_of_ours_leaves_nothing_running() -> None:
    def fail(line: str) -> None:
        messages.append(line)
        raise KeyboardInterrupt

    messages: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        process.run(sh("echo $$; sleep 300"), on_line=fail)
    assert soon(lambda: not alive(int(messages[0])))


def test_what_has_a_group_of_its_own_ends_with_a_program_that_is_ended_early() -> None:
    """As ninja's commands have: a compiler that outlives its build writes into the next one."""
    alone = ["bash", "-c", "set -m; sleep 300 & echo $!; wait"]

    def fail(line: str) -> None:
        messages.append(line)
        raise InfrastructureError("the profile does not fit")

    messages: list[str] = []
    with pytest.raises(InfrastructureError):
        process.run(alone, on_line=fail)
    assert not alive(int(messages[0])), "it was waited for"
    assert not alive(int(process.run(alone, timeout=1.0).output))


# Programs that go on.


@pytest.fixture
def begin() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    begun: list[subprocess.Popen[bytes]] = []

    def begin(script: str, **options: object) -> subprocess.Popen[bytes]:
        begun.append(process.start(sh(script), **options))  # type: ignore[arg-type]
        return begun[-1]

    yield begin
    for child in begun:
        process.kill_group(child.pid)
        child.wait()
        if child.stdout is not None:
            child.stdout.close()


Begin = Callable[..., subprocess.Popen[bytes]]


def first_line(child: subprocess.Popen[bytes]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().decode().strip()


def test_stop_asks_first(begin: Begin) -> None:
    child = begin("trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.05; done")
    first_line(child)
    assert process.stop(child) == 7
    assert first_line(child) == "bye"


def test_stop_kills_what_does_not_listen_and_its_group(begin: Begin) -> None:
    child = begin("trap '' TERM; sleep 300 & echo $!; while :; do sleep 0.05; done")
    other = int(first_line(child))
    assert process.stop(child, patience=0.3) == -signal.SIGKILL
    assert soon(lambda: not alive(other))


def test_stop_can_begin_with_another_signal_and_be_called_twice(begin: Begin) -> None:
    child = begin("trap 'exit 5' INT; echo ready; while :; do sleep 0.05; done")
    first_line(child)
    assert process.stop(child, first=signal.SIGINT) == 5
    assert process.stop(child) == 5


def test_started_on_its_cores_in_a_session_of_its_own(begin: Begin) -> None:
    core = min(os.sched_getaffinity(0))
    child = begin("echo ready; sleep 300", cores=frozenset({core}))
    first_line(child)
    assert os.sched_getaffinity(child.pid) == {core}
    assert os.getsid(child.pid) == child.pid


# The warden, and death by kill -9.

PARENT = """
import sys, time
from burnish.base import process
child = process.start(["sh", "-c", sys.argv[1]])
print(child.pid, process._warden.pid, process.run_id(), flush=True)
print(child.stdout.readline().decode().strip(), flush=True)
time.sleep(float(sys.argv[2]))
"""


@contextlib.contextmanager
def parent(script: str, lives: float = 300) -> Iterator[tuple[subprocess.Popen[str], int, int, str, list[int]]]:
    """A Burnish process with a child: (itself, child, warden, its mark, the pids that the child printed)."""
    env = {key: value for key, value in os.environ.items() if key != process.RUN_VARIABLE}
    argv = [sys.executable, "-c", PARENT, script, str(lives)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=env) as running:
        assert running.stdout is not None
        child, guard, mark = running.stdout.readline().split()
        pids = [int(word) for word in running.stdout.readline().split()]
        try:
            yield running, int(child), int(guard), mark, pids
        finally:
            running.kill()
            for pid in (int(child), *pids):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


FAMILY = "sleep 300 & a=$!; setsid sleep 300 & sleep 0.1; echo $a $!; wait"


def test_kill_9_takes_everything_along() -> None:
    """Child, grandchild, and one that left for a session of its own: the warden finds them by their mark."""
    with parent(FAMILY) as (running, child, guard, _, others):
        assert len(others) == 2
        assert all(map(alive, (child, guard, *others)))
        running.send_signal(signal.SIGKILL)
        assert soon(lambda: not any(map(alive, (child, *others))))
        assert soon(lambda: not alive(guard)), "the warden ends too"


def test_the_kernel_kills_the_child_even_without_the_warden() -> None:
    with parent("echo $$; exec sleep 300") as (running, child, guard, _, _):
        os.kill(guard, signal.SIGKILL)
        assert soon(lambda: not alive(guard))
        running.send_signal(signal.SIGKILL)
        assert soon(lambda: not alive(child))


def test_a_run_that_ends_by_itself_leaves_no_warden_and_nothing_else() -> None:
    with parent(FAMILY, lives=0) as (running, child, guard, _, others):
        assert running.wait(60) == 0
        assert soon(lambda: not any(map(alive, (child, guard, *others))))


def test_control_c_does_not_end_the_warden_first() -> None:
    with parent("echo $$; exec sleep 300") as (running, child, guard, _, _):
        assert soon(lambda: ignores(guard, signal.SIGINT))
        os.kill(guard, signal.SIGINT)
        running.send_signal(signal.SIGINT)
        assert soon(lambda: not any(map(alive, (child, guard))))


def test_a_dead_warden_is_replaced() -> None:
    process.ensure_warden()
    first = process._warden
    assert first is not None
    process.ensure_warden()
    assert process._warden is first
    first.kill()
    first.wait()
    process.ensure_warden()
    assert process._warden is not None
    assert process._warden.pid != first.pid


# What earlier runs left behind.


@pytest.fixture
def orphan(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., int]]:
    """Processes with a mark under another name: runs of the tests beside these sweep too, and know nothing of it."""
    monkeypatch.setattr(process, "RUN_VARIABLE", f"{process.RUN_VARIABLE}_{os.getpid()}")
    begun: list[subprocess.Popen[bytes]] = []

    def make(mark: str, *argv: str) -> int:
        env = os.environ | {process.RUN_VARIABLE: mark}
        begun.append(subprocess.Popen([*argv, "sleep", "300"], env=env))
        pid = begun[-1].pid
        assert soon(lambda: pid in [found for found, _ in warden.marked(process.RUN_VARIABLE)])
        return pid

    yield make
    for child in begun:
        child.kill()
        child.wait()


@pytest.fixture
def dead_pid() -> int:
    gone = subprocess.Popen(["true"])
    gone.wait()
    return gone.pid


def test_sweep_kills_what_dead_runs_left_and_nothing_else(orphan: Callable[..., int], dead_pid: int) -> None:
    left = orphan(f"{dead_pid}-0123456789ab")
    another_run = orphan(f"{os.getppid()}-0123456789ab")
    our_own = orphan(process.run_id())
    strange = orphan("somebody")
    killed = process.sweep()
    assert left in killed
    assert soon(lambda: not alive(left))
    assert not {another_run, our_own, strange} & set(killed)
    assert all(map(alive, (another_run, our_own, strange)))


def test_sweep_leaves_other_containers_alone(orphan: Callable[..., int], dead_pid: int) -> None:
    """There, the owner that is gone here may be alive under its own number."""
    unshare = ("unshare", "--pid", "--fork", "--kill-child")
    if not process.run([*unshare, "true"]).ok:
        pytest.skip("no right to make a PID namespace")
    mark = f"{dead_pid}-0123456789ab"
    outside = orphan(mark, *unshare)

    def inside() -> list[int]:
        return [pid for pid, found in warden.marked(process.RUN_VARIABLE) if found == mark and pid != outside]

    assert soon(lambda: len(inside()) == 1)
    (contained,) = inside()
    assert contained not in process.sweep()


def test_ctrl_c_at_the_start_of_a_program_ends_it() -> None:
    """Raised there, it would leave a compile of an hour that nobody knows and that takes the machine to its end."""
    code = (
        "import os, signal, subprocess; from burnish.base import interrupts, process; interrupts.watch()\n"
        "process.ensure_warden()\n"
        "signals, begin = [signal.SIGINT], subprocess._fork_exec\n"
        "def begun(*words):\n"
        "    pid = begin(*words)\n"
        "    if signals: os.kill(os.getpid(), signals.pop())\n"
        "    return pid\n"
        "subprocess._fork_exec = begun\n"
        "try: process.run(['sleep', '600'])\n"
        "except KeyboardInterrupt: print('ended')\n"
        "print(process.run(['sh', '-c', 'echo; sleep 0.5; echo cleaned up']).output)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == ["ended", "", "cleaned up", ""]
