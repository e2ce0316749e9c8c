"""What the short report needs beside a run's result, because the record does not hold it; pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True)
class Around:
    """What is around a record: this machine's files, and what the program can do next.

    Attributes:
        run: words by which `burnish show` finds the record: the run's name, or an exported record's file.
        file: path of the recommended program; '' if it is not on this machine.
        size: its size in bytes; 0 if it is not here.
        verbs: the verbs that there are, for the next commands.
        resumes: whether the run is not finished and can be resumed here.
        pull: the command that fetches its build from where hosts share it; '' if nobody shares it.
        kept: the run's name for verbs that take no file; '' where `run` is that name.
    """

    run: str
    file: str = ""
    size: int = 0
    verbs: Collection[str] = ()
    pull: str = ""
    resumes: bool = False
    kept: str = ""
