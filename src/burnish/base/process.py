"""Runs other programs: streams the log, measures the time, kills the process group.

No other module of the package starts processes. Every child

* gets a session of its own, so that it can be killed with all that it started;
* has the environment variable ``BURNISH_RUN``, which identifies the run of an orphan process;
* is killed by the kernel if this process dies (``PR_SET_PDEATHSIG``); its own children are killed by the warden
  (`burnish.base.warden`), a small process that outlives this one by a second for this purpose.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from burnish.base import interrupts
from burnish.base.errors import InfrastructureError

RUN_VARIABLE = "BURNISH_RUN"
"""Environment variable that marks every process started by one run of Burnish."""

LOW_PRIORITY = 10
"""Niceness of builds, as that of nice(1): beside other work they get a tenth of a core, on an idle one all of it."""
AUTOGROUP = Path("/proc/self/autogroup")
"""The niceness of a process's session among other sessions (sched(7)); not on all kernels."""

CHANGES_BUILDS = (
    *("CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LIBS", "MAKEFLAGS", "SOURCE_DATE_EPOCH", "CCC_OVERRIDE_OPTIONS"),
    *("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH"),
    *("LD_RUN_PATH", "BOOST_ROOT"),
)
"""Environment variables with which compilers, make and configure make another program of the same command line, beside
those of `CHANGES_BUILDS_LIKE`.

No child inherits them: a recipe says all that a build depends on, and its key holds nothing else. Sources: gcc's manual
("Environment Variables Affecting GCC"), clang's, GNU make's, Autoconf's ("Preset Output Variables").
"""

CHANGES_SERVERS = ("PG", "MYSQL", "MARIADB", "LIBMYSQL", "SQLITE_")
"""Beginnings of the names of environment variables by which servers and their clients change settings, ports, files
that they read, or the server that they ask.

No child inherits them: with ``PGHOSTADDR`` or ``MYSQL_TCP_PORT`` a load would run on another server, with ``PGOPTIONS``
under other settings than its record says. Sources: PostgreSQL's manual ("Environment Variables" of libpq), MySQL's and
MariaDB's ("Environment Variables"), and SQLite's sources (``SQLITE_TMPDIR``).
"""

CHANGES_BUILDS_LIKE = "(CCACHE_|CMAKE_|PKG_CONFIG)[A-Za-z0-9_]*|[A-Za-z0-9_]+_ROOT_DIR"
"""Names of more such variables, as a regular expression of Python and of `sed -E`: of ccache, cmake and pkg-config, and
where cmake's modules look for libraries (``OPENSSL_ROOT_DIR``)."""

_KILLED_S = 10.0
"""Seconds for which processes that were killed are waited for: one in the kernel for a disk ends late."""

_ELF_HEAD = 20
_EM_386 = b"\x03\x00"
_BINFMT = Path("/proc/sys/fs/binfmt_misc")
"""Folder of the interpreters of programs of other processors, `qemu-aarch64` and others."""
_run_id = f"{os.getpid()}-{uuid.uuid4().hex[:12]}"
_warden: subprocess.Popen[bytes] | None = None
_watched: list[Path] = []


@dataclass(frozen=True)
class Completed:
    """The result of a program.

    Attributes:
        argv: the command line, as started.
        exit_code: its exit code; negative for a signal (-9 = SIGKILL).
        seconds: wall time.
        user_seconds: user CPU time of the process and its waited-for children.
        system_seconds: system CPU time of the process and its waited-for children.
        peak_rss_bytes: largest resident set of any one of these processes.
        output: standard output and error, interleaved; empty if it went to a log only.
        log: the log file, if there was one.
        timed_out: whether it was killed because it exceeded its time limit.
    """

    argv: tuple[str, ...]
    exit_code: int
    seconds: float
    user_seconds: float
    system_seconds: float
    peak_rss_bytes: int
    output: str = field(repr=False, default="")
    log: Path | None = None
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with exit code 0."""
        return self.exit_code == 0 and not self.timed_out

    @property
    def command(self) -> str:
        """The command line, quoted for a shell."""
        return shlex.join(self.argv)

    def check(self, what: str, *, kept: str | None = None) -> Completed:
        """Itself if the program succeeded, otherwise raises an `InfrastructureError` that starts with `what`."""
        if self.ok:
            return self
        reason = "took too long and was killed" if self.timed_out else f"ended with exit code {self.exit_code}"
        message = f"{what}: `{self.argv[0]}` {reason}"
        if self.log is None and self.output:
            message += "\n" + "\n".join(f"  | {line}" for line in self.output.splitlines()[-12:])
        raise InfrastructureError(message, log=self.log, kept=kept)


def run_id() -> str:
    """The mark of this run: ``<pid>-<random>``; the pid is that of the Burnish process."""
    return _run_id


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of child processes: that of this process, the run's mark and folder, a plain locale, `extra`.

    What of this process's environment would change builds or servers is left out (`CHANGES_BUILDS`,
    `CHANGES_BUILDS_LIKE`, `CHANGES_SERVERS`).
    """
    from burnish.base import temporary  # noqa: PLC0415 - it is made with what is here

    env = {
        name: value
        for name, value in os.environ.items()
        if not _changes_builds(name) and not name.startswith(CHANGES_SERVERS)
    }
    env.update({RUN_VARIABLE: _run_id, "LC_ALL": "C.UTF-8", "LANGUAGE": ""})
    env[temporary.VARIABLE] = str(temporary.folder())
    env.update(extra or {})
    return env


def _changes_builds(name: str) -> bool:
    return name in CHANGES_BUILDS or re.fullmatch(CHANGES_BUILDS_LIKE, name) is not None


def _command(words: list[str], env: dict[str, str], cores: frozenset[int] | None, *, low: bool) -> list[str]:
    """The command that becomes the program `words`: programs that each set something and then are the next one.

    So all of it is in force before the program's first instruction, and this process need not be copied, as it must be
    for Python code between fork and exec: that takes the longer the more memory it has. What is for the dynamic linker
    is taken out of `env`: it is for the program alone.
    """
    argv = [_tool("setpriv"), "--pdeathsig", "KILL", "--"]
    # A shell that starts this process in the background has it ignore SIGINT; what it starts must not inherit that.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        argv += [_tool("env"), "--default-signal=INT"]
    if cores is not None:
        argv += [_tool("taskset"), "--cpu-list", ",".join(map(str, sorted(cores)))]
    if low:
        # Where sessions are scheduled as groups, the niceness of a process counts within its own session only.
        says = f'{{ echo {LOW_PRIORITY} >{AUTOGROUP}; }} 2>/dev/null; exec "$@"'
        argv += [_tool("nice"), "-n", str(LOW_PRIORITY), _tool("sh"), "-c", says, "sh"]
    if linker := [f"{name}={env.pop(name)}" for name in list(env) if name.startswith("LD_")]:
        says = 'while [ "$1" != -- ]; do export "$1"; shift; done; shift; exec "$@"'
        argv += [_tool("sh"), "-c", says, "sh", *linker, "--"]
    return [*argv, *words]


@functools.cache
def _tool(name: str) -> str:
    """Path of a program of Debian's essential packages, whatever the environment's PATH."""
    found = shutil.which(name, path="/usr/bin:/bin")
    if found is None:
        raise InfrastructureError(f"{name} is not in /usr/bin: apt-get install util-linux coreutils")
    return found


def _check(word: str, cwd: Path | None, env: Mapping[str, str]) -> None:
    """Raises what starting this program would raise if it is not there or none.

    What the kernel refuses as no program must not come to `_command`: its programs would have a shell run it.
    """
    path = Path(cwd or ".", word) if "/" in word else Path(shutil.which(word, path=env.get("PATH", os.defpath)) or word)
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    if not path.is_file() or not os.access(path, os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    with contextlib.suppress(PermissionError), path.open("rb") as file:  # it may be run by whoever may not read it
        if not _runs_here(file.read(_ELF_HEAD)):
            raise OSError(errno.ENOEXEC, os.strerror(errno.ENOEXEC))


def _runs_here(head: bytes) -> bool:
    """Whether the kernel runs a file that begins so: a script that names its interpreter, a program of its kind."""
    if head[:2] == b"#!":
        return True
    own = _own_head()
    if head[:4] != own[:4] or len(head) < _ELF_HEAD:
        return False
    machine = head[18:20]
    return (head[4:6], machine) == (own[4:6], own[18:20]) or machine == _EM_386 or any(_BINFMT.glob("qemu-*"))


@functools.cache
def _own_head() -> bytes:
    with Path(_tool("setpriv")).open("rb") as file:
        return file.read(_ELF_HEAD)


def start(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdout: int | None = subprocess.PIPE,
    stderr: int | None = subprocess.STDOUT,
    stdin: int | None = subprocess.DEVNULL,
    cores: frozenset[int] | None = None,
    low: bool = False,
) -> subprocess.Popen[bytes]:
    """Starts a program in the background (a server, a load); `stop` ends it.

    For the first milliseconds the process is the programs that set what it has (`_command`), as /proc shows it.

    Args:
        argv: program and arguments; never a shell line.
        cwd: working folder.
        env: variables added to `environment`.
        stdout: as for `subprocess.Popen`, as are `stderr` and `stdin`.
        stderr: see `stdout`.
        stdin: see `stdout`.
        cores: CPU numbers that it may run on from its first instruction; default: all.
        low: whether it gives way to other work on this machine (`LOW_PRIORITY`).
    """
    ensure_warden()
    words, whole = [str(word) for word in argv], environment(env)
    try:
        _check(words[0], cwd, whole)
        argv = _command(words, whole, cores, low=low)
        with interrupts.deferred():
            return subprocess.Popen(
                argv, cwd=cwd, env=whole, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
            )
    except OSError as error:
        raise InfrastructureError(f"cannot start `{words[0]}`: {error.strerror}") from error


def stop(process: subprocess.Popen[bytes], *, patience: float = 10.0, first: int = signal.SIGTERM) -> int:
    """Ends a program and its group: `first`, then after `patience` seconds SIGKILL; returns its exit code."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, first)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
    kill_group(process.pid)
    return process.wait()


def kill_group(leader: int) -> None:
    """Sends SIGKILL to every process of the group of `leader`; no error if there is none."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _kill_session(leader: int) -> None:
    """Kills every process of the session of `leader`, a child not yet waited for, and waits until all have ended.

    ninja gives each of its commands a group of its own: they outlive its group, and would write into the next build.
    """
    deadline = time.monotonic() + _KILLED_S
    while left := [pid for pid in _pids() if _session(pid) == leader]:
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > deadline:
            break
        time.sleep(0.01)


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - hundreds, and only names


def _session(pid: int) -> int:
    """The session of a process that runs, by its leader's pid; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return 0 if fields[0] in (b"Z", b"X") else int(fields[3])
    except (OSError, IndexError):
        return 0


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    log: Path | None = None,
    on_line: Callable[[str], None] | None = None,
    on_tick: Callable[[], None] | None = None,
    timeout: float | None = None,
    stdin_file: Path | None = None,
    low: bool = False,
) -> Completed:
    """Runs a program to its end.

    Args:
        argv: program and arguments; never a shell line.
        cwd: working folder.
        env: variables added to `environment`.
        log: file to append the command line and its output to; the output is then not kept in memory.
        on_line: called with each line of output as it comes (ninja's counter, for progress).
        on_tick: called about four times a second while it runs.
        timeout: seconds after which its session is killed.
        stdin_file: file to read standard input from.
        low: whether it gives way to other work on this machine (`LOW_PRIORITY`).

    Returns:
        The result; a failure is not raised here, see `Completed.check`.
    """
    words = [str(word) for word in argv]
    began = time.monotonic()
    kept: list[str] = []
    with contextlib.ExitStack() as stack:
        sink = None
        if log is not None:
            log.parent.mkdir(parents=True, exist_ok=True)
            sink = stack.enter_context(log.open("ab"))
            sink.write(f"$ {shlex.join(words)}\n".encode())
            sink.flush()
        stdin = stack.enter_context(stdin_file.open("rb")).fileno() if stdin_file else subprocess.DEVNULL
        process = start(words, cwd=cwd, env=env, stdin=stdin, low=low)
        timed_out = False
        try:
            assert process.stdout is not None  # noqa: S101 - PIPE was asked for
            os.set_blocking(process.stdout.fileno(), False)
            selector = stack.enter_context(selectors.DefaultSelector())
            selector.register(process.stdout, selectors.EVENT_READ)
            rest = b""
            while True:
                ready = selector.select(0.25)
                interrupts.check_lost()  # one that came while it was started
                if on_tick is not None:
                    on_tick()
                if timeout is not None and not timed_out and time.monotonic() - began > timeout:
                    timed_out = True
                    _kill_session(process.pid)
                if (timed_out or not ready) and _exited(process.pid):
                    break  # it ended, but a process that it started holds the pipe open
                if not ready:
                    continue
                chunk = process.stdout.read(1 << 16)
                if chunk is None:
                    continue
                if not chunk:
                    break
                if sink is not None:
                    sink.write(chunk)
                    sink.flush()
                *lines, rest = (rest + chunk).split(b"\n")
                for raw in lines:
                    line = raw.decode(errors="replace").rstrip("\r")
                    if sink is None:
                        kept.append(line)
                    if on_line is not None:
                        on_line(line)
            if rest:
                line = rest.decode(errors="replace")
                if sink is None:
                    kept.append(line)
                if on_line is not None:
                    on_line(line)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            kill_group(process.pid)
            if process.returncode is None:
                _kill_session(process.pid)
                process.wait()
            if process.stdout is not None:
                process.stdout.close()
    return Completed(
        argv=tuple(words),
        exit_code=process.returncode,
        seconds=time.monotonic() - began,
        user_seconds=usage.ru_utime,
        system_seconds=usage.ru_stime,
        peak_rss_bytes=usage.ru_maxrss * 1024,
        output="\n".join(kept),
        log=log,
        timed_out=timed_out,
    )


def _exited(pid: int) -> bool:
    """Whether the child has ended, without reaping it."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def capture(argv: Sequence[str | Path], *, cwd: Path | None = None, timeout: float = 60.0) -> str:
    """Standard output and error of a short program; '' if it does not exist or fails."""
    try:
        done = run(argv, cwd=cwd, timeout=timeout)
    except InfrastructureError:
        return ""
    return done.output if done.ok else ""


def ensure_warden() -> None:
    """Starts this run's warden, once; it kills all processes with the run's mark as soon as this process is gone."""
    global _warden  # noqa: PLW0603 - one warden for each process
    if _warden is not None and _warden.poll() is None:
        return
    script = Path(__file__).with_name("warden.py")
    env = {key: value for key, value in os.environ.items() if key != RUN_VARIABLE}
    _warden = subprocess.Popen(
        [sys.executable, "-I", "-S", str(script), _run_id, RUN_VARIABLE],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=env,
    )
    _tell(_watched)


def watch_folder(folder: Path) -> None:
    """Lets the warden remove this run's folders of data in `folder`, should this process be killed."""
    _watched.append(folder)
    ensure_warden()
    _tell([folder])


def _tell(folders: Sequence[Path]) -> None:
    if _warden is not None and _warden.stdin is not None:
        with contextlib.suppress(BrokenPipeError):  # it was killed this moment; the next run sweeps
            _warden.stdin.write(b"".join(os.fsencode(folder) + b"\n" for folder in folders))
            _warden.stdin.flush()


def pid_namespace() -> str:
    """Identifies the pid namespace of this process: a number; '0' if it is not known."""
    return "".join(character for character in _pid_namespace("self") if character.isdigit()) or "0"


def _pid_namespace(pid: int | str) -> str:
    """Identifies the pid namespace of a process; '' if the process does not exist."""
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""


def sweep() -> list[int]:
    """Kills orphan processes of runs that no longer exist; returns their pids."""
    from burnish.base import warden  # noqa: PLC0415 - the script is also a module, needed here only

    killed = []
    for pid, mark in warden.marked(RUN_VARIABLE):
        owner = mark.partition("-")[0]
        if mark == _run_id or not owner.isdigit() or Path(f"/proc/{owner}").exists():
            continue
        # In another pid namespace (a container) the owner has another pid.
        if _pid_namespace(pid) == _pid_namespace("self"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
    return killed
