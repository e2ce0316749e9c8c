"""What tells one server of the family from another, as values for the code that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from burnish.base.workbench import Workbench

Settings = Iterable[tuple[str, str]]

_UNNAMED = "(Source distribution)"
"""In the version line of a server that was built from a tree without naming itself."""

Initialise = Callable[[Path, Path, Settings, Workbench], None]
"""Makes system tables in a data folder: (data folder, scratch folder, settings that shape data, workbench)."""


ANSWERS: Mapping[str, str] = {
    "rows": "3900\t952168.7500\t2026-06-12 12:00:00",
    "index": "7\tword 2185",
    "join": "780\t133040",
    "groups": "3900",
    "functions": "2184978095\tb15ef88da4c1c46c6c9e7483f8af075f8869f68d7a190ac38add53aa049f057f"
    "\tB5F82DCD1EF7718C4E639477DBA25762\t4.954721364",
}
"""What every server of the family answers to the questions of its ``answers.sql``, by the file that they write.

The scripts differ in how they make the rows; the rows and the questions are the same."""


@dataclass(frozen=True)
class Habits:
    """How Burnish launches a server.

    Attributes:
        name: of its socket, log and pid file.
        defaults: settings of every server unless the condition names them; ``skip_x`` goes where ``x`` is named.
        options: options of every launch.
        unchecked: options by which every client gets in; not given where users are to be checked.
        accounts: statements that the server runs at its start instead, so that the load's user gets in; '' for none.
    """

    name: str
    defaults: Mapping[str, str]
    options: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    accounts: str = ""


@dataclass(frozen=True)
class Feeding:
    """How a server runs statements by itself, without clients, and ends.

    Attributes:
        options: what puts it into that mode.
        by_file: whether statements are in a file that an option names; else they come through standard input.
        small: further options for little memory, and for emulators.
    """

    options: tuple[str, ...]
    by_file: bool = False
    small: tuple[str, ...] = ()

    def words(self, script: Path) -> list[str]:
        """Options for this mode, with the statements in `script`."""
        return [*self.options, *([f"--init-file={script}"] if self.by_file else [])]

    def stdin(self, script: Path) -> Path | None:
        """The file for standard input."""
        return None if self.by_file else script


@dataclass(frozen=True)
class Suite:
    """The server's own test suite (mtr).

    Attributes:
        script: its program in ``mysql-test``.
        programs: what it looks for beside the server, as paths in a build tree; it dies without saying what is missing.
        main: folders of tests and results of the suite ``main``.
        first: the suite that it is told to collect, else it wants all of its default ones to be there; the tests' names
            say theirs.
        words: further options of its command line.
        links: further links that it looks for, as (path, its target among the tools or the folder of the server). A
            test that calls one of these programs, for which another one stands, is left out.
    """

    script: str
    programs: tuple[str, ...]
    main: tuple[str, ...]
    first: str = "main"
    words: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()

    @property
    def beside(self) -> tuple[str, ...]:
        """Programs that lie in the kept ``mysql-test``."""
        return tuple(path for path in self.programs if path.startswith("mysql-test/"))

    @property
    def targets(self) -> tuple[str, ...]:
        """ninja's names for the programs."""
        return tuple(path.rpartition("/")[2] for path in self.programs)


@dataclass(frozen=True)
class Product:
    """One server of the family.

    Attributes:
        title: as in a sentence.
        program: name of the server's program.
        marks: texts of which this server's program holds one.
        strangers: texts that only others of the family hold.
        server: its path in a build tree.
        messages: folder of its messages in a build tree.
        charsets: folder of character sets in the source tree.
        clients: names of the client that loads a dump, the best first.
        client_folder: folder of client programs in a build tree.
        scripts: SQL scripts that are kept of every build.
        habits: how it is launched.
        feeding: how it runs statements by itself.
        suite: its tests.
        about: statements that write its plugins and variables to the files ``{plugins}`` and ``{variables}``.
        about_options: further options for them.
        answers: what the statements of the engine's ``answers.sql`` answer, by the name of the file that they write.
        forks: other servers of the same source, by which their programs' version lines name them.
    """

    title: str
    program: str
    marks: tuple[bytes, ...]
    server: str
    messages: str
    charsets: str
    clients: tuple[str, ...]
    client_folder: str
    habits: Habits
    feeding: Feeding
    suite: Suite
    about: str
    strangers: tuple[bytes, ...] = ()
    scripts: tuple[str, ...] = ()
    about_options: tuple[str, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)
    forks: tuple[str, ...] = ()

    def of_version(self, version: str) -> str:
        """Which server a version line is of, where there are forks; '' of a user's own build, whose line names none."""
        if not self.forks or _UNNAMED in version:
            return ""
        return next((fork for fork in self.forks if fork in version), self.title)
