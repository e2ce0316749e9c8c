"""From a profile's data files to an accepted profile: what they hold, whether they are any good, their digest.

The same for a profile that was trained just now, merged, or imported.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError
from burnish.base.workbench import Workbench
from burnish.profiles import audit
from burnish.profiles.stages import ProfileKind
from burnish.program.built import Built
from burnish.record.store import Entry
from burnish.toolchain import counts
from burnish.toolchain.toolchains import Toolchain

PROFILE_FILE = "profile.profdata"
BOLT_PROFILE = "bolt.fdata"
DATA: Mapping[ProfileKind, str] = {
    "clang": PROFILE_FILE,
    "clang-samples": "profile.prof",
    "gcc": "gcda",
    "gcc-samples": "profile.afdo",
    "bolt": BOLT_PROFILE,
}
"""Where a profile's data are in its folder; with gcc's counters that is a folder of .gcda files."""

HOT = "hot.txt"
HOT_AGAIN = "hot-again.txt"
"""The hot functions of the first, and of a context-sensitive second round: one a line."""

OBJECTS = "objects.json"
"""In an instrumented build's folder: the source file of each object, to name gcc's functions by."""

_SUFFIXES = frozenset({".profdata", ".prof", ".afdo", ".fdata", ".gcda"})


def describe(
    kind: ProfileKind,
    folder: Path,
    toolchain: Toolchain,
    covered: Sequence[str],
    bench: Workbench,
    *,
    name: str,
    program: Path | None = None,
    again: bool = False,
) -> dict[str, object]:
    """Facts of the profile in `folder`, for its description; its hot functions are written beside it.

    Args:
        kind: whose profile it is.
        folder: where its data lie, as `DATA` says.
        toolchain: whose tools read it.
        covered: functions that a usable profile must have counted.
        bench: runs the tools.
        name: for messages.
        program: the program that was trained; None where it is not there (then less can be checked).
        again: whether only a context-sensitive second round is in it.

    Raises:
        InfrastructureError: it is empty, does not cover the server, or its tool can't read it.
    """
    if kind == "gcc":
        return _describe_gcc(folder, toolchain, covered, name, program)
    if kind == "clang":
        return _describe_clang(folder, toolchain, covered, bench, name, again=again)
    if kind == "gcc-samples":
        # What create_gcov wrote can be read by gcc alone.
        if not (folder / DATA[kind]).stat().st_size:
            raise InfrastructureError(f"{name}: the sampled profile is empty")
        (folder / HOT).write_text("")
        return {"functions": None, "counted": None, "hot": 0}
    found = function_counts(kind, folder, toolchain)
    ran = {function for function, count in found.items() if count}
    expected = list(covered)
    if kind == "bolt":
        # What was inlined wherever it runs has no function of its own for BOLT to count, though a copy that is
        # never called may be left.
        there = _symbols(program) if program else []
        expected = [item for item in covered if not program or not audit.lacking([item], there)]
    # Some of them must have run, not each: one that was inlined everywhere, or that runs rarely, has no count.
    missing = audit.lacking(expected, map(audit.plain_name, ran))
    missing = missing if len(missing) == len(expected) else ()
    hot = counts.hot_names(found, audit.HOT_SHARE)
    return _accept(name, audit.Coverage(len(found), len(ran), hot, missing), folder)


def _describe_clang(
    folder: Path, toolchain: Toolchain, covered: Sequence[str], bench: Workbench, name: str, *, again: bool
) -> dict[str, object]:
    facts: dict[str, object] = {}
    second = _coverage(folder, toolchain, (), bench, "--showcs")
    if second.counted:
        (folder / HOT_AGAIN).write_text("\n".join(sorted(second.hot)))
        facts["context_sensitive"] = second.counted
    if again:
        if not second.counted:
            raise InfrastructureError(f"{name}: the profile is empty: {second.functions} functions, none of them ran")
        (folder / HOT).write_text("")
        found = {"functions": second.functions, "counted": second.counted, "hot": len(second.hot)}
        return {**found, **facts, "second_round_alone": True}
    return {**_accept(name, _coverage(folder, toolchain, covered, bench), folder), **facts}


def _coverage(
    folder: Path, toolchain: Toolchain, covered: Sequence[str], bench: Workbench, *options: str
) -> audit.Coverage:
    """What llvm-profdata says of a clang profile; its functions are listed only where there are any."""
    tool, data = str(toolchain.profdata), folder / PROFILE_FILE
    shown, summary = folder / "functions.txt", folder / "summary.txt"
    for path in (shown, summary):
        path.unlink(missing_ok=True)
    try:
        bench.run("show", [tool, "show", *options, "--detailed-summary", data], log=summary).check(
            "reading the profile"
        )
        text = summary.read_text(errors="replace")
        if options and re.search(r"^Total functions: 0$", text, re.MULTILINE):
            return audit.Coverage(0, 0, frozenset(), ())
        bench.run("show", [tool, "show", *options, "--all-functions", "--counts", data], log=shown)
        return audit.read_clang(shown.read_text(errors="replace"), text, covered)
    finally:
        shown.unlink(missing_ok=True)
        if options:
            summary.unlink(missing_ok=True)


def _describe_gcc(
    folder: Path, toolchain: Toolchain, covered: Sequence[str], name: str, program: Path | None
) -> dict[str, object]:
    objects = gcc_objects(folder, toolchain)
    symbols = _symbols(program, "--extern-only") if program else []
    facts = _accept(name, audit.read_gcc(objects, covered, symbols), folder)
    return {**facts, "objects": {path: (item.functions, item.total) for path, item in objects.items()}}


def gcc_objects(folder: Path, toolchain: Toolchain) -> dict[str, audit.ObjectCounts]:
    """Counts of each .gcda file of a profile, by its path relative to the build folder."""
    place = folder / DATA["gcc"]
    return {
        # One of hundreds of short calls that are not worth a record each.
        str(path.relative_to(place)): audit.read_gcov_dump(process.capture([str(toolchain.gcov_dump), "-l", path]))
        for path in sorted(place.rglob("*.gcda"))
    }


def function_counts(
    kind: ProfileKind, folder: Path, toolchain: Toolchain, trained: Built | None = None
) -> dict[str, int]:
    """How often each function ran, by the profile's own data.

    Args:
        kind: whose profile it is.
        folder: where its data lie.
        toolchain: whose tools read it.
        trained: the build that was trained, to name gcc's functions by; without it they are numbers.
    """
    data = folder / DATA[kind]
    if kind == "bolt":
        return counts.bolt_counts(data.read_text(errors="replace"))
    if kind == "gcc":
        names = _gcc_names(trained)
        found: dict[str, int] = {}
        for path, item in gcc_objects(folder, toolchain).items():
            for number, total in item.sums.items():
                name = names.of(path, number)
                found[name] = found.get(name, 0) + total
        return found
    if kind == "gcc-samples":
        return {}
    if kind == "clang-samples":
        return counts.sample_counts(process.capture([str(toolchain.profdata), "show", "--sample", data]))
    words = [str(toolchain.profdata), "show", "--all-functions", "--counts", str(data)]
    return counts.clang_counts(process.capture(words)) or counts.clang_counts(
        process.capture([*words[:2], "--showcs", *words[2:]])
    )


def _gcc_names(trained: Built | None) -> counts.GccNames:
    if trained is None or not (trained.folder / OBJECTS).is_file():
        return counts.GccNames({}, {})
    objects = json.loads((trained.folder / OBJECTS).read_text())
    listed = process.capture(["readelf", "-sW", trained.server])
    symbols, file = [], ""
    for line in listed.splitlines():
        words = line.split()
        if len(words) < 8:
            continue
        if words[3] == "FILE":
            file = words[7]
        elif words[3] == "FUNC":
            symbols.append((file if words[4] == "LOCAL" else "", words[7].partition("@")[0]))
    return counts.gcc_names(objects, symbols)


def _symbols(program: Path, *options: str) -> list[str]:
    """Names in a program's symbol table."""
    listed = process.capture(["nm", "--defined-only", *options, program])
    return [line.split()[-1] for line in listed.splitlines() if line]


def lost_functions(folder: Path, program: Path) -> list[str]:
    """Hot functions of a BOLT profile that the program does not have."""
    there = {name.partition("/")[0] for name in _symbols(program)}
    # A local function is 'f/file/1' or 'f/1' in BOLT's words.
    return sorted(name for name in hot_functions(folder) if name.partition("/")[0] not in there)


def hot_functions(folder: Path, file: str = HOT) -> frozenset[str]:
    """The hot functions that were written beside a profile."""
    path = folder / file
    return frozenset(path.read_text().split("\n")) - {""} if path.is_file() else frozenset()


def _accept(name: str, found: audit.Coverage, folder: Path) -> dict[str, object]:
    """Refuses a profile that is empty or does not cover the server; writes the hot names beside it."""
    if found.counted == 0:
        raise InfrastructureError(f"{name}: the profile is empty: {found.functions} functions, none of them ran")
    if found.missing:
        raise InfrastructureError(
            f"{name}: the profile does not cover the server: {', '.join(found.missing)} never ran in training"
        )
    (folder / HOT).write_text("\n".join(sorted(found.hot)))
    return {"functions": found.functions, "counted": found.counted, "hot": len(found.hot)}


def profile_digest(folder: Path) -> str:
    """SHA-256 over a profile's data files, by relative path and content."""
    digest = hashlib.sha256()
    for path in data_files(folder):
        digest.update(str(path.relative_to(folder)).encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def data_files(folder: Path) -> list[Path]:
    """The files that are the profile, not what describes it."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in _SUFFIXES)


def check_digest(entry: Entry) -> None:
    """Refuses a profile whose bytes are not those that training left."""
    if profile_digest(entry.folder) != entry.about["digest"]:
        raise InfrastructureError(f"profile {entry.key} has changed since it was trained ({entry.folder})")
