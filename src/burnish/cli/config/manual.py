"""The manual page burnish(1), made from the same declarations as the help."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from burnish import __version__
from burnish.cli import help as pages
from burnish.cli.config import settings
from burnish.cli.config.keys import NAME, verbs_of
from burnish.cli.declaration import Argument, Option, Verb
from burnish.study.kept import machine

ENVIRONMENT = {
    "BURNISH_HOME": "The folder where everything is kept. Default: ~/.local/share/burnish.",
    machine.VARIABLE: (
        "The file that keeps two runs from building or measuring on one machine at once, whatever their homes and "
        f"users; '{machine.NONE}' for none. Default: burnish.lock in /run/lock, else in /tmp."
    ),
    settings.VARIABLE: f"The settings file, if --config names none; '{settings.NONE}' for none.",
    "NO_COLOR": "If set, nothing is coloured.",
}

FILES = {
    NAME: "Settings, in the current folder or one above; `burnish init` writes it with every key explained.",
    "~/.local/share/burnish/store": "Builds, profiles, data sets, the compiler cache.",
    "~/.local/share/burnish/studies": "A folder for each run: its record and its logs.",
}


def page(root: Any) -> str:
    """The page, in the language of man(7).

    Args:
        root: the whole command line, as typer makes it.
    """
    verbs = verbs_of(root)
    shown = {words: verb for words, verb in verbs.items() if not verb.hidden}
    parts = [
        f'.TH BURNISH 1 "" "burnish {__version__}" "User Commands"',
        ".nh",
        ".ad l",
        ".SH NAME",
        rf"burnish \- {_text(_lower(root.help or '').rstrip('.'))}",
        ".SH SYNOPSIS",
        ".B burnish",
        _italic("VERB"),
        r"[\fIARGUMENT\fR ...] [\fIOPTION\fR ...]",
        ".SH DESCRIPTION",
        _text(
            "Burnish builds a database server many ways, checks each build, runs load on two builds at the same time, "
            "and says with an interval which is faster. A verb's arguments and options are listed with it; what an "
            "option means is in OPTIONS, and is the same for every verb that has it."
        ),
        ".SH VERBS",
    ]
    for panel, names in pages.PANELS.items():
        parts.append(f".SS {_quoted(panel)}")
        for words, verb in shown.items():
            if words[0] in names:
                parts += _verb(words, verb)
    parts += [".SH OPTIONS", *_options(shown.values())]
    parts += [".SH EXIT STATUS", *_terms((str(code), about) for code, about in pages.EXIT_CODES.items())]
    parts += [".SH ENVIRONMENT", *_terms(ENVIRONMENT.items()), ".SH FILES", *_terms(FILES.items())]
    parts += [".SH SEE ALSO", _text("`burnish VERB --help` and `burnish help VERB`; the documents in the source.")]
    return "\n".join(parts) + "\n"


def _verb(words: Sequence[str], verb: Verb) -> list[str]:
    called = [_called(argument) for argument in verb.arguments]
    parts = [".TP", rf"\fBburnish {_text(' '.join(words))}\fR {' '.join(called)}".rstrip()]
    for number, paragraph in enumerate(pages.filled(verb.help).split("\n\n")):
        parts += ([".IP"] if number else []) + [_text(paragraph)]
    for argument in verb.arguments:
        parts += [".RS", ".TP", _italic(argument.value), _text(pages.described(argument)), ".RE"]
    if verb.options:
        parts += [".IP", "Options: " + ", ".join(_bold(option.name) for option in verb.options) + "."]
    return [*parts, ".IP", rf"Example: {_text(pages.filled(verb.example))}"]


def _called(argument: Argument) -> str:
    name = _italic(argument.value) + (" ..." if argument.many else "")
    return name if argument.required else f"[{name}]"


def _options(verbs: Iterable[Verb]) -> list[str]:
    """Every option once, by name; a default that differs between verbs is in their own help."""
    found: dict[str, list[Option]] = {}
    for verb in verbs:
        for option in verb.options:
            found.setdefault(option.name, []).append(option)
    parts = []
    for _, declared in sorted(found.items()):
        first = declared[0]
        alike = len({pages.described(option) for option in declared}) == 1
        about = pages.described(first) if alike else pages.filled(first.help)
        flags = ", ".join(_bold(flag) for flag in reversed(first.flags))
        parts += [".TP", f"{flags} {_italic(first.value)}" if first.value else flags, _text(about)]
    return parts


def _terms(items: Iterable[tuple[str, str]]) -> list[str]:
    return [part for name, about in items for part in (".TP", _bold(name), _text(about))]


def _bold(text: str) -> str:
    return rf"\fB{_text(text)}\fR"


def _italic(text: str) -> str:
    return rf"\fI{_text(text)}\fR"


def _quoted(text: str) -> str:
    return f'"{_text(text)}"'


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _text(text: str) -> str:
    """Text of a line: words in backquotes are bold, and nothing in it is a request or an escape of roff."""
    plain = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("~", r"\(ti")
    plain = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", plain.replace("^", r"\(ha"))
    return rf"\&{plain}" if plain.startswith(".") else plain
