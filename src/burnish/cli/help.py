"""Help pages, made from the declarations: of all verbs, of a group of verbs, of one verb, of exit codes.

A page of a verb with many options shows the common ones and says how many more there are (`--help-all` has them).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from burnish.cli.declaration import Argument, Option, Verb

PANELS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Start": {
        "init": ("config.asking", "Write burnish.toml, the settings that every verb reads."),
        "doctor": ("looking", "Check this machine; show what is missing and how to fix it."),
        "tune": ("measuring", "Build a server many ways, test each build, say which is fastest."),
        "compare": ("measuring", "Compare two existing server programs; nothing is built."),
        "check": ("pipeline.checking", "Fail a pipeline if a server program got slower, proved."),
        "plan": ("measuring", "Show what `tune` would do: its steps, minutes, disk, memory."),
        "show": ("looking", "Print what a run came to: what to take, how sure, where it is."),
        "watch": ("pipeline.watching", "Follow a running study from another terminal."),
        "runs": ("looking", "List the runs on this machine, each with its winner."),
        "history": ("pipeline.history", "Follow an engine's speed over versions and dates."),
        "resume": ("pipeline.resuming", "Resume an unfinished run by the command that began it."),
    },
    "Explain, replicate": {
        "why": ("why", "Explain why one build takes less CPU time than another."),
        "patch": ("patch", "Measure what each patch of a series does for a workload."),
        "micro": ("micro", "Time one function from two source trees against each other."),
        "calibrate": ("measuring", "Measure this host's noise; later runs use the result."),
        "study": ("groups.study", "Replicate published studies: list, show, run."),
    },
    "Use the result": {
        "path": ("kept", "Print where a variant's program lies."),
        "report": ("reporting", "Write a report to send: one HTML file with its record in it."),
        "package": ("packaging", "Make a package of a run's build: .deb, archive, script or others."),
        "verify": ("packaging", "Check a package: digests, provenance, signature; its speed too."),
        "install": ("packaging", "Install the .deb with apt, after asking; prints the way back."),
        "reproduce": ("kept", "Write a shell script that rebuilds a program bit for bit."),
        "builds": ("kept", "List the builds that are kept: size, cost, what they need to run."),
    },
    "Look up": {
        "variants": ("catalogue", "List or search the ways to build: names, changes, reasons."),
        "space": ("catalogue", "Show what a search by `tune` may change, and its size."),
        "flags": ("catalogue", "List or search the flags that a recipe can name."),
        "options": ("catalogue", "List or search an engine's known configure options."),
        "workload": ("groups.workload", "List workloads; make one from a server's log or digests."),
        "schema": ("pipeline.schemas", "Print the JSON Schema of --json's documents, or of your own files."),
        "help": ("looking", "Show all of a verb's help, or what the exit codes mean."),
    },
    "Keep house": {
        "clean": ("kept", "Show what is kept and how large it is; remove old things."),
        "profile": ("groups.profiles", "List, show, keep, merge, import and export profiles."),
        "record": ("groups.records", "Export, import and merge records of runs."),
        "store": ("groups.store", "List, push, pull and check what hosts share."),
        "hosts": ("groups.hosts", "Measure on many hosts: start a scheduler, list the hosts."),
        "worker": ("groups.hosts", "Let this machine build and measure for a scheduler."),
    },
}
"""Every verb, grouped by purpose, in the order of use: its module in `burnish.cli`, and its help's first sentence.

A verb's module is imported when the verb is called, so that no call waits for what other verbs need, and the page of
all verbs waits for none.
"""

VERBS: Mapping[str, tuple[str, str]] = {name: known for verbs in PANELS.values() for name, known in verbs.items()}
"""The same without the panels."""

EXIT_CODES: Mapping[int, str] = {
    0: "Done; of a verb that measures: something was measured, whatever the verdict.",
    1: "Something broke on the way, or nothing could be measured.",
    2: "The request is wrong: one line on stderr says what is, and what is allowed.",
    3: "`check`: B is proved to be slower than --fail-if allows.",
    4: "`check`: undecided; --minutes was too short to tell.",
    130: "Interrupted (Ctrl-C); the same command resumes a run.",
}

FULL = "--help-all"

MOST_OPTIONS = 14
"""A verb with more options than this shows the common ones first."""

_WIDEST = 100


def filled(text: str) -> str:
    """Fills in names from the catalogue: ``{engines}`` lists all engines; ``{engine}``, ``{workload}`` and ``{server}``
    are an example."""
    if "{" not in text:
        return text
    from burnish.catalogue import load

    names = load.engine_names()
    spec = load.engine(names[0])
    words = {
        "{engines}": " or ".join(names),
        "{engine}": spec.name,
        "{workload}": spec.workloads[-1],
        "{server}": Path(spec.server).name,
    }
    for word, name in words.items():
        text = text.replace(word, name)
    return text


def program(typed: str) -> str:
    """The program's name as the user typed it.

    Args:
        typed: the path of the launcher or of this process's program; shortened to its file name if it is on PATH.
    """
    path = Path(typed)
    if path.name == "__main__.py":
        return "python -m burnish"
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return path.name if any(Path(folder) / path.name == path for folder in folders if folder) else typed


def printed(page: RenderableType) -> str:
    """A page as text in the terminal's width, styled if standard output is a terminal."""
    console = Console()
    console.width = min(console.width, _WIDEST)
    with console.capture() as captured:
        console.print(page)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def of_verb(verb: Verb, path: str, name: str, *, full: bool, configured: str = "") -> RenderableType:
    """A verb's page.

    Args:
        verb: the verb.
        path: the command without arguments, such as ``burnish study run``.
        name: the first of them, the program.
        full: whether all options are shown.
        configured: what a settings file gives to it, in a line.
    """
    called = [_usage(argument) for argument in verb.arguments] + [
        f"{option.name} {option.value}" for option in verb.options if option.required
    ]
    options = "[OPTIONS]" if verb.options else ""
    parts: list[RenderableType] = [
        _line("Usage: ", " ".join(filter(None, (path, *called, options)))),
        Text(),
        Text(filled(verb.help)),
    ]
    few = full or len(verb.options) <= MOST_OPTIONS
    shown = [option for option in verb.options if few or option.common or option.required]
    panels = {"Arguments": [(argument.value, described(argument)) for argument in verb.arguments]}
    for option in shown:
        panels.setdefault(option.panel, []).append((_spelled(option), described(option)))
    parts += _panels({panel: rows for panel, rows in panels.items() if rows})
    left = len(verb.options) - len(shown)
    if left:
        parts += [Text(), Text(f"{left} more options: {path} {FULL}")]
    if configured:
        parts += [Text(), Text(configured)]
    parts += [Text(), _line("Example: ", as_typed(filled(verb.example), name))]
    return Group(*parts)


def of_group(path: str, name: str, about: str, verbs: Iterable[tuple[str, str]], example: str) -> RenderableType:
    """The page of a group of verbs.

    Args:
        path: the command of the group, such as ``burnish study``.
        name: the first of them, the program.
        about: what it is for.
        verbs: (name, help) of each verb.
        example: a call of one.
    """
    return Group(
        _line("Usage: ", f"{path} VERB ..."),
        Text(),
        Text(about),
        *_panels({"Verbs": [(verb, first_sentence(text)) for verb, text in verbs]}),
        Text(),
        _line("Example: ", as_typed(filled(example), name)),
    )


def of_all(name: str, about: str) -> RenderableType:
    """The main page: every verb with what it does.

    Args:
        name: the program as it was called.
        about: what it is for.
    """
    parts: list[RenderableType] = [_line("Usage: ", f"{name} VERB ..."), Text(), Text(about)]
    parts += _panels({panel: [(verb, first) for verb, (_, first) in verbs.items()] for panel, verbs in PANELS.items()})
    options = [
        ("-h, --help", "Show help, of a verb too (or: help VERB)."),
        ("-V, --version", "Print the version."),
        ("--config FILE", "Settings file. Default: burnish.toml here or above."),
        ("--install-completion", "Complete words in your shell (--show-completion: how)."),
    ]
    codes = ", ".join(f"{code} {text}" for code, text in _SHORT_CODES.items())
    ends = Text(f"Exit codes: {codes} ({name} help exit-codes).")
    return Group(*parts, *_panels({"Options": options}), Text(), ends)


_SHORT_CODES = {
    0: "done",
    1: "broken, or nothing measured",
    2: "wrong request",
    3: "slower",
    4: "undecided",
    130: "interrupted",
}


def of_exit_codes() -> RenderableType:
    """The page of exit codes."""
    return Group(*_panels({"Exit codes": [(str(code), text) for code, text in EXIT_CODES.items()]})[1:])


def first_sentence(text: str) -> str:
    """The first sentence."""
    return re.split(r"(?<=\.)\s", filled(text), maxsplit=1)[0]


def as_typed(text: str, name: str) -> str:
    """The text with the program's name replaced in commands: in backquotes, at the start, after ``or:``, ``&&``, or
    after two spaces in a list of commands."""
    return re.sub(r"(^|`|or: |&& |  )burnish (?=[a-z])", lambda match: f"{match[1]}{name} ", text)


def _line(title: str, text: str) -> Text:
    styled = Text(title, style="bold")
    styled.append(text, style="not bold")
    return styled


def _usage(argument: Argument) -> str:
    name = f"{argument.value}..." if argument.many else argument.value
    return name if argument.required else f"[{name}]"


def _spelled(option: Option) -> str:
    """The short spelling, the long one, and the placeholder of the value."""
    return " ".join(filter(None, (", ".join(reversed(option.flags)), option.value)))


def described(declared: Argument | Option) -> str:
    """What it is, and its default."""
    unset = declared.unset or (declared.default if declared.reader is not None else "")
    required = "" if not isinstance(declared, Option) or not declared.required else "Required."
    default = f"Default: {unset}." if unset else required
    return " ".join(filter(None, (filled(declared.help), default)))


def _panels(panels: Mapping[str, Sequence[tuple[str, str]]]) -> list[RenderableType]:
    """Headings with their rows of names and texts, with all texts aligned in one column."""
    width = max((len(name) for rows in panels.values() for name, _ in rows), default=0)
    parts: list[RenderableType] = []
    for title, rows in panels.items():
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(width=width, no_wrap=True)
        table.add_column(ratio=1, overflow="fold")
        for name, text in rows:
            table.add_row(Text(name, style="cyan"), Text(text))
        parts += [Text(), Text(title, style="bold"), Padding(table, (0, 0, 0, 2))]
    return parts
