"""The control file of a repackaged binary package: version, dependencies, description, checksums; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

SUFFIX = "+burnish1"
"""Put behind the distribution's version: sorts above it, and below the next upload of the distribution."""

FORCED = ".forced"
"""Behind the suffix of a package that was made in spite of an objection."""


def fields_of(text: str) -> dict[str, str]:
    """The fields of a control file in their order; continuation lines as they are."""
    fields: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if line[:1] in (" ", "\t") and name:
            fields[name] += f"\n{line}"
        elif ":" in line:
            name, _, value = line.partition(":")
            fields[name] = value.strip()
    return fields


def text_of(fields: Mapping[str, str]) -> str:
    """A control file with these fields."""
    return "".join(f"{name}: {value}\n" for name, value in fields.items())


def one_line(text: str, most: int = 200) -> str:
    """A text that can stand in a field: one line without control characters, shortened to `most`."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def file_name(text: str) -> str:
    """A text as part of a file's name: letters, digits and ``.+~-`` only, and no dot first."""
    return re.sub(r"[^A-Za-z0-9.+~-]+", "-", text).lstrip(".-") or "unnamed"


def version(original: str, *, forced: bool) -> str:
    """The version of the package made from the distribution's version `original`."""
    return f"{original}{SUFFIX}{FORCED if forced else ''}"


def relations(text: str) -> dict[str, str]:
    """Dependencies by package; alternatives stay together, under the first one's name."""
    found = {}
    for relation in filter(None, (part.strip() for part in text.replace("\n", " ").split(","))):
        found[re.split(r"[\s(:|]", relation, maxsplit=1)[0]] = relation
    return found


def at_least(relation: str) -> str:
    """The version V of ``NAME (>= V)``; '' for another relation."""
    match = re.fullmatch(r"\S+ \(>= (\S+)\)", relation)
    return match[1] if match else ""


def dependencies(
    original: str, computed: str, older: Callable[[str, str], bool], needless: Collection[str] = ()
) -> str:
    """All dependencies of the original, those of the program added, each with the higher of two lowest versions.

    Args:
        original: field Depends of the distribution's package.
        computed: what the new program needs, from dpkg-shlibdeps.
        older: whether a version sorts below another.
        needless: packages of the original's that nothing in the new package needs.
    """
    merged = {name: relation for name, relation in relations(original).items() if name not in needless}
    for name, relation in relations(computed).items():
        kept = at_least(merged.get(name, ""))
        if name not in merged or (kept and at_least(relation) and older(kept, at_least(relation))):
            merged[name] = relation
    return ", ".join(merged.values())


def described(original: str, lines: Iterable[str]) -> str:
    """The field Description with paragraphs added at its end, a line each."""
    added = "".join(f"\n .\n {one_line(line, 400)}" for line in lines)
    synopsis, newline, rest = original.partition("\n")
    return f"{synopsis}{newline}{rest}{added}"


def repackaged(
    original: Mapping[str, str],
    *,
    new_version: str,
    depends: str,
    size_kb: int,
    lines: Sequence[str],
    facts: Mapping[str, str],
) -> dict[str, str]:
    """The fields of the new package.

    Args:
        original: the distribution's fields.
        new_version: see `version`.
        depends: see `dependencies`.
        size_kb: Installed-Size.
        lines: added to the description.
        facts: further fields, such as the program's digest.
    """
    fields = dict(original)
    source = original.get("Source", original["Package"])
    if "(" not in source:
        # The source package is the distribution's, with the distribution's version.
        source = f"{source} ({original['Version']})"
    changed = {"Source": source, "Version": new_version, "Installed-Size": str(size_kb), "Depends": depends}
    changed["Description"] = described(original.get("Description", ""), lines)
    fields = {"Package": original["Package"], "Source": source, **fields} | changed
    description = fields.pop("Description")
    return fields | {name: one_line(value) for name, value in facts.items()} | {"Description": description}


def sums(files: Iterable[tuple[str, str]]) -> str:
    """The file md5sums: (path in the package, hex MD5), sorted by path as dh_md5sums does."""
    return "".join(f"{digest}  {path}\n" for path, digest in sorted(files))
