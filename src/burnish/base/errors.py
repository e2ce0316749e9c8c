"""The families of errors that users see.

`UserError`: something that the user can fix; one line, exit code 2, no traceback. `UnavailableError` is a `UserError`
for something that this host lacks, although the request is valid: the variant is left out and listed with the reason;
`BusyError` one for which another process has to end first.
`InfrastructureError`: a step that failed; what failed, the log's last lines, the log's path and what was kept; exit
code 1. `HostError`: the host fails, whatever the step; it ends the run and is no finding about a build; exit code 1.
"""

from __future__ import annotations

import difflib
import errno
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

_LOG = re.compile(r" \(log: [^()]*\)")


def cause(failure: str) -> str:
    """Why something failed, without the name of its log: what fails for one reason has a log of its own each time."""
    return _LOG.sub("", failure)


class UserError(Exception):
    """One line that names the file or option, what was found, what is allowed and what to do."""

    exit_code = 2


class UnavailableError(UserError):
    """A valid request for something that this host lacks (a compiler, a library, a feature); says how to install it.

    If it is raised while a variant is examined, that variant is left out with the reason, and the others continue.
    A request that is invalid on any host (contradicting flags, an unknown name) is a plain `UserError`: it stops the
    whole request before anything is built, so that it is fixed rather than overlooked.

    Args:
        message: what is missing and how to install it, in one line.
        packages: the system packages that have it, where these are all that is missing.
    """

    def __init__(self, message: str, packages: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.packages = tuple(packages)


class BusyError(UserError):
    """Another process works where only one may; the same request can be made again once it has ended."""


class InfrastructureError(Exception):
    """A step failed, but not because of the request.

    Args:
        message: what failed, in one line.
        log: the step's log file, if there is one; its last lines are shown.
        kept: finished work that stays usable, in words.
    """

    exit_code = 1

    def __init__(self, message: str, *, log: Path | None = None, kept: str | None = None) -> None:
        super().__init__(message)
        self.log = log
        self.kept = kept

    def explain(self, lines: int = 12) -> str:
        """The message, the log's last `lines` lines, the log's path and what was kept."""
        parts = [str(self)]
        if self.log is not None and self.log.is_file():
            tail = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
            parts += [f"  | {line}" for line in tail]
            parts.append(f"log: {self.log}")
        if self.kept:
            parts.append(f"kept: {self.kept}")
        return "\n".join(parts)


FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
"""Numbers of system errors that say that what is written has no room left."""

_REFUSED = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR}
_SHORT = {errno.EIO, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN}
_AWAY = {errno.ENOLCK, errno.ENOSYS, errno.ESTALE, errno.ETIMEDOUT}  # file systems of a network
OF_THE_HOST = frozenset(FULL | _REFUSED | _SHORT | _AWAY)
"""Numbers of system errors that say something about the host rather than about what was asked."""


class HostError(Exception):
    """The host has no room left, or its disk cannot be written: no step can go on, and none is to blame.

    It is no `InfrastructureError`, because what fails for such a reason must not become a build's or a cell's result.

    Args:
        message: what failed, in one line.
        kept: finished work that stays usable, in words, and what to do.
    """

    exit_code = 1

    def __init__(self, message: str, *, kept: str = "") -> None:
        super().__init__(message)
        self.kept = kept

    def explain(self) -> str:
        """The message and what was kept."""
        return f"{self}\nkept: {self.kept}" if self.kept else str(self)


class SeveralErrors(UserError):
    """Several errors in one request.

    Args:
        lines: the errors' messages.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n  ".join([f"{len(lines)} things are wrong with this request:", *lines]))
        self.lines = tuple(lines)


def together(problems: Sequence[UserError]) -> UserError:
    """One error for all problems of a request, a line for each; a single problem is returned unchanged."""
    line_groups = (problem.lines if isinstance(problem, SeveralErrors) else (str(problem),) for problem in problems)
    lines = list(dict.fromkeys(line for group in line_groups for line in group))
    return problems[0] if len(problems) == 1 or len(lines) == 1 else SeveralErrors(lines)


def nearest(word: str, allowed: Iterable[str]) -> str:
    """' (did you mean X?)' for the allowed word most similar to `word`, in whatever case; '' if none is similar."""
    by_letters = {name.lower(): name for name in allowed}
    match = difflib.get_close_matches(word.lower(), list(by_letters), n=1, cutoff=0.5)
    return f" (did you mean {by_letters[match[0]]!r}?)" if match else ""


MOST_NAMES = 40
"""Maximum number of names listed in a message; of more names, only the nearest are listed."""

NEAR_NAMES = 8


def unknown(what: str, word: str, allowed: Iterable[str], listed_by: str = "") -> UserError:
    """The error for an unknown name: the nearest name first, then all of them if they are not too many.

    Args:
        what: kind of name, for people.
        word: the given name.
        allowed: the known names.
        listed_by: command that lists them, for the message if they are too many.
    """
    names = sorted(allowed)
    if len(names) > MOST_NAMES:
        near = sorted(difflib.get_close_matches(word, names, n=NEAR_NAMES, cutoff=0.0))
        hint = f" (`{listed_by}` lists them)" if listed_by else ""
        listed = f"{', '.join(near)} and {len(names) - len(near)} more{hint}"
    else:
        listed = ", ".join(names)
    return UserError(f"unknown {what} {word!r}{nearest(word, names)}; there are: {listed or 'none'}")
