"""The two families of error that reach a person.

`UserError`: something that the user can mend; one line, exit code 2, no traceback. `UnavailableError` is the
kind of it that is this host's lack and not the request's fault: a variant that meets one is left out as a row.
`InfrastructureError`: something that broke while working; what failed, the log's last lines,
where the log is and what was kept; exit code 1.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from pathlib import Path


class UserError(Exception):
    """One line that names the file or option, what was found, what is allowed and what to do."""

    exit_code = 2


class UnavailableError(UserError):
    """A sound request for something that this host lacks (a compiler, a library, an ability); says what brings it.

    Raised while a variant is examined it leaves that variant out, as a row with the reason, and the others go on.
    A request that can't be followed anywhere (flags that contradict, a name that is not there) is a plain
    `UserError`: it stops the whole request before anything is built, so that it is mended rather than overlooked.
    """


class InfrastructureError(Exception):
    """A step that failed through no fault of the request.

    Args:
        message: what failed, in one line.
        log: the step's log file, if there is one; its last lines are shown.
        kept: what finished work stays usable, in words.
    """

    exit_code = 1

    def __init__(self, message: str, *, log: Path | None = None, kept: str | None = None) -> None:
        super().__init__(message)
        self.log = log
        self.kept = kept

    def explain(self, lines: int = 12) -> str:
        """The message, the log's last `lines` lines, the log's place and what was kept."""
        parts = [str(self)]
        if self.log is not None and self.log.is_file():
            tail = self.log.read_text(errors="replace").splitlines()[-lines:]
            parts += [f"  | {line}" for line in tail]
            parts.append(f"log: {self.log}")
        if self.kept:
            parts.append(f"kept: {self.kept}")
        return "\n".join(parts)


class SeveralErrors(UserError):
    """Several things that are wrong with one request.

    Args:
        lines: what is wrong, one thing each.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n  ".join([f"{len(lines)} things are wrong with this request:", *lines]))
        self.lines = tuple(lines)


def together(problems: Sequence[UserError]) -> UserError:
    """All that is wrong with a request as one error, a line each; a single problem is itself."""
    every = (problem.lines if isinstance(problem, SeveralErrors) else (str(problem),) for problem in problems)
    lines = list(dict.fromkeys(line for each in every for line in each))
    return problems[0] if len(problems) == 1 or len(lines) == 1 else SeveralErrors(lines)


def nearest(word: str, allowed: Iterable[str]) -> str:
    """' (did you mean X?)' for the allowed word nearest to `word`, or '' when none is near."""
    match = difflib.get_close_matches(word, list(allowed), n=1, cutoff=0.5)
    return f" (did you mean {match[0]!r}?)" if match else ""


MOST_NAMES = 40
"""A longer list of names than this is not for a line of text: the nearest are named, and what lists the others."""

NEAR_NAMES = 8


def unknown(what: str, word: str, allowed: Iterable[str], listed_by: str = "") -> UserError:
    """The error for a name that is not in a closed list: nearest name first, then all of them if they are not many.

    Args:
        what: what kind of name it is, for people.
        word: the name that was given.
        allowed: those that there are.
        listed_by: command that lists them; said where they are too many.
    """
    names = sorted(allowed)
    if len(names) > MOST_NAMES:
        near = sorted(difflib.get_close_matches(word, names, n=NEAR_NAMES, cutoff=0.0))
        told = f" (`{listed_by}` lists them)" if listed_by else ""
        names_told = f"{', '.join(near)} and {len(names) - len(near)} more{told}"
    else:
        names_told = ", ".join(names)
    return UserError(f"unknown {what} {word!r}{nearest(word, names)}; there are: {names_told or 'none'}")
