"""One run at a time on a machine: homes and users have locks of their own, but all share its cores.

The lock is a file in a folder that every user may write to. Containers and namespaces with folders of their own do not
see it, and are not noticed. A file that can't be opened safely is no reason not to work: it is said, and that is all.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from burnish.base.errors import BusyError
from burnish.base.paths import Home

VARIABLE = "BURNISH_MACHINE_LOCK"
"""Names another file; `NONE`: there is no lock, for workers that play several hosts on one machine."""

NONE = "none"

FOLDERS = (Path("/run/lock"), Path("/tmp"))  # noqa: S108 - opened as `_opened` says
"""Where the file is: in the first of these that exists and that everyone may write to."""

NAME = "burnish.lock"

_SHARED = stat.S_ISVTX | stat.S_IWOTH | stat.S_IXOTH

MOST = 4096
"""Bytes of the file that are read: anyone may have written them."""


@contextlib.contextmanager
def machine(home: Home, say: Callable[[str], None]) -> Iterator[None]:
    """Holds the machine while something is built or measured; the kernel releases it if this process dies.

    Args:
        home: the home that is worked in; named to whoever is refused.
        say: prints a line for the user.

    Raises:
        BusyError: another process holds it.
    """
    path = _path()
    if path is None:
        yield
        return
    try:
        file = _held(path)
    except OSError as error:
        say(f"{path}: cannot be used ({error.strerror or error}), so runs of other homes and users are not noticed")
        yield
        return
    with contextlib.closing(os.fdopen(file, "r+b", buffering=0)) as held:
        with contextlib.suppress(OSError):  # a full disk: the lock holds all the same
            held.truncate(0)
            held.write(f"{os.getpid()} {home.root}\n".encode(errors="replace"))
        yield


def _path() -> Path | None:
    """The lock's file; None if there is to be none."""
    named = os.environ.get(VARIABLE)
    if named:
        return None if named == NONE else Path(named)
    return next((folder / NAME for folder in FOLDERS if _for_everyone(folder)), None)


def _for_everyone(folder: Path) -> bool:
    """Whether any user may make files there, and no other remove them: what root alone may write to holds no lock of a
    user's, who would take the next folder."""
    try:
        mode = folder.stat().st_mode
    except OSError:
        return False
    return mode & _SHARED == _SHARED and os.access(folder, os.W_OK | os.X_OK)


def _held(path: Path) -> int:
    """The locked file.

    Raises:
        OSError: it can't be opened safely, or not at all.
        BusyError: another process holds it.
    """
    while True:
        file = _opened(path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is(path, file):  # whoever owns it may have removed it before it was locked
                return file
        except BlockingIOError:
            owner = os.pread(file, MOST, 0).decode(errors="replace")
            os.close(file)
            raise BusyError(f"{path}: {_busy(owner)}") from None
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _opened(path: Path) -> int:
    """The file, which other users can open as well; made if it is not there.

    No link is followed, and nothing but a plain file with one name is taken. It is not opened with O_CREAT once it is
    there: the kernel refuses that for other users' files in folders with the sticky bit (fs.protected_regular).

    Raises:
        OSError: it can't be opened, or is no such file.
    """
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    while True:
        try:
            file = os.open(path, flags)
            break
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                file = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
                os.fchmod(file, 0o666)  # whatever the umask is
                break
    about = os.fstat(file)
    if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
        os.close(file)
        raise OSError("it is no plain file with one name")
    return file


def _is(path: Path, file: int) -> bool:
    """Whether a path still names an open file."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(path.lstat(), os.fstat(file))
    return False


def _busy(owner: str) -> str:
    """What to say of the process that holds the machine, by what it wrote."""
    number, _, home = "".join(letter for letter in owner if letter.isprintable()).partition(" ")
    who = f"process {number}, home {home}" if number.isdecimal() and home else "which does not say who it is"
    return (
        f"another burnish ({who}) is building or measuring on this machine, and two would disturb each other; wait for "
        "it or stop it"
    )
