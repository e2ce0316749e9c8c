"""Why a build failed, in one line: the first error in the output of compilers, linkers and build systems; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LONGEST = 300

_DRIVERS = r"(collect2|clang(\+\+)?(-\d+)?|lto-wrapper|gcc(-\d+)?|g\+\+(-\d+)?)"
_SECOND_HAND = r"(\S+ returned|\S*(linker|ld) command failed)"
_ERROR = r"(fatal |internal compiler )?[Ee]rror: \S"
_LINKER_SAYS = (
    r"(undefined reference|cannot find|multiple definition|relocation .* can ?not|recompile with|incompatible|"
    r"No such file|fatal|unknown|unrecogni[sz]ed|error|failed to|has no plugin)"
)

_ERRORS = tuple(
    re.compile(pattern)
    for pattern in (
        # gcc, clang, lld, mold, cc1, lto1: PLACE: [fatal] error: WORDS; gas writes Error. A driver's message that the
        # linker or another part failed is not a cause.
        rf"^(?!ninja: )(?!.*\b{_DRIVERS}: (fatal )?error: {_SECOND_HAND})\S.*?: {_ERROR}",
        r"^(fatal )?error: \S",
        rf"\b(ld|ld\.\w+|mold|gold)(-\d+)?: .*{_LINKER_SAYS}",
        r": (undefined reference to|multiple definition of) ",
        r"^LLVM ERROR: ",
        r"^BOLT-ERROR: ",
        r"\binternal compiler error: ",
        r"\bKilled signal terminated program|^\S+: .*\b(Segmentation fault|Killed|Bus error|Aborted)\b",
        r"No space left on device|[Cc]annot allocate memory|out of memory",
        r"^\S+: .*\b(not found|No such file or directory|Permission denied)$",
    )
)
"""Patterns of lines that name a cause."""

_CMAKE = re.compile(r"^CMake Error(?: at (\S+?):(\d+))?(?: \((\w+)\))?:(.*)$")

_CONSEQUENCES = tuple(
    re.compile(pattern)
    for pattern in (
        r"\berror: .*(returned \d+ exit status|command failed)",
        r"^FAILED: ",
        r"^(make|gmake)(\[\d+\])?: \*\*\* ",
        r"^ninja: (error|build stopped)",
    )
)
"""Patterns of lines that only report an earlier error."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|\x1b\]8;;[^\x07\x1b]*(\x07|\x1b\\)")


def last_command(text: str) -> str:
    """Output of the last command in a log of several commands."""
    begun = [match.start() for match in re.finditer(r"^\$ ", text, re.MULTILINE)]
    return text[begun[-1] :].partition("\n")[2] if begun else text


def first_error(text: str) -> str | None:
    """The first line of `text` that names the cause of a failure, otherwise the first that reports one; None: no line.

    Args:
        text: output of a compiler, a linker or a build system.
    """
    lines = [_COLOUR.sub("", line).rstrip() for line in text.splitlines()]
    for number, line in enumerate(lines):
        if match := _CMAKE.match(line):
            return _short(_cmake_error(match, lines[number + 1 :]))
        if any(pattern.search(line) for pattern in _ERRORS):
            return _short(line)
    return next((_short(line) for line in lines if any(p.search(line) for p in _CONSEQUENCES)), None)


def _cmake_error(match: re.Match[str], rest: Sequence[str]) -> str:
    """A cmake error: its location, and its message, the indented lines below."""
    place = f"{match[1]}:{match[2]}: " if match[1] else ""
    words = [match[4].strip()]
    for line in rest:
        if line and not line.startswith(" "):
            break
        if not line and any(words):
            break
        words.append(line.strip())
    return f"CMake Error: {place}{' '.join(filter(None, words))}"


def _short(line: str) -> str:
    line = line.strip()
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
