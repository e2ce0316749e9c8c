"""From a profile's data files to an accepted profile: its content, whether it is usable, its digest.

The same for trained, merged and imported profiles.
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
"""By kind, the name of a profile's data in its folder; for gcc's counters a folder of .gcda files."""

HOT = "hot.txt"
HOT_AGAIN = "hot-again.txt"
"""Files with the hot functions of the first and of a context-sensitive second round, one per line."""

OBJECTS = "objects.json"
"""In an instrumented build's folder: the source file of each object, to name gcc's functions by."""

NAMES = "functions.json"
"""In the folder of an imported gcc profile: its functions' names, since the build that was trained lies elsewhere."""

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
        folder: where its data are, as in `DATA`.
        toolchain: whose tools read it.
        covered: functions that a usable profile must have counted.
        bench: runs the tools.
        name: for messages.
        program: the program that was trained; None if it is not available (then less can be checked).
        again: whether it has only a context-sensitive second round.

    Raises:
        InfrastructureError: it is empty, does not cover the server, or its tool cannot read it.
    """
    if kind == "gcc":
        return _describe_gcc(folder, toolchain, covered, name, program)
    if kind == "clang":
        return _describe_clang(folder, toolchain, covered, bench, name, again=again)
    if kind == "gcc-samples":
        # Only gcc can read what create_gcov wrote.
        if not (folder / DATA[kind]).stat().st_size:
            raise InfrastructureError(f"{name}: the sampled profile is empty")
        (folder / HOT).write_text("")
        return {"functions": None, "counted": None, "hot": 0}
    function_totals = function_counts(kind, folder, toolchain)
    ran = {function for function, count in function_totals.items() if count}
    expected = list(covered)
    if kind == "bolt":
        # A function that is inlined everywhere has no body for BOLT to count, though a copy that is
        # never called may be left.
        there = _symbols(program) if program else []
        expected = [item for item in covered if not program or not audit.lacking([item], there)]
    # Some must have run, not all: one that is inlined everywhere, or runs rarely, has no count.
    missing = audit.lacking(expected, map(audit.plain_name, ran))
    missing = missing if len(missing) == len(expected) else ()
    hot = counts.hot_names(function_totals, audit.HOT_SHARE)
    return _accept(name, audit.Coverage(len(function_totals), len(ran), hot, missing), folder)


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
        figures = {"functions": second.functions, "counted": second.counted, "hot": len(second.hot)}
        return {**figures, **facts, "second_round_alone": True}
    return {**_accept(name, _coverage(folder, toolchain, covered, bench), folder), **facts}


def _coverage(
    folder: Path, toolchain: Toolchain, covered: Sequence[str], bench: Workbench, *options: str
) -> audit.Coverage:
    """Coverage of a clang profile from llvm-profdata; functions are listed only if there are any."""
    tool, data = str(toolchain.profdata), folder / PROFILE_FILE
    shown, summary = folder / "functions.txt", folder / "summary.txt"
    for path in (shown, summary):
        path.unlink(missing_ok=True)
    try:
        bench.run("show", [tool, "show", *options, "--detailed-summary", data], log=summary).check(
            "reading the profile"
        )
        text = summary.read_text(encoding="utf-8", errors="replace")
        if options and re.search(r"^Total functions: 0$", text, re.MULTILINE):
            return audit.Coverage(0, 0, frozenset(), ())
        bench.run("show", [tool, "show", *options, "--all-functions", "--counts", data], log=shown)
        return audit.read_clang(shown.read_text(encoding="utf-8", errors="replace"), text, covered)
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
        # One of hundreds of short calls, which are not recorded one by one.
        str(path.relative_to(place)): audit.read_gcov_dump(process.capture([str(toolchain.gcov_dump), "-l", path]))
        for path in sorted(place.rglob("*.gcda"))
    }


def function_counts(
    kind: ProfileKind, folder: Path, toolchain: Toolchain, trained: Built | None = None, *, named: bool = True
) -> dict[str, int]:
    """How often each function ran, from the profile's data.

    Args:
        kind: whose profile it is.
        folder: where its data are.
        toolchain: whose tools read it.
        trained: the build that was trained, to name gcc's functions by; without it, and without names that came with
            an imported profile, they are numbers.
        named: whether gcc's functions are named at all; else they are numbers.
    """
    data = folder / DATA[kind]
    if kind == "bolt":
        return counts.bolt_counts(data.read_text(encoding="utf-8", errors="replace"))
    if kind == "gcc":
        names = _gcc_names(trained, folder) if named else counts.GccNames({}, {})
        totals: dict[str, int] = {}
        for path, item in gcc_objects(folder, toolchain).items():
            for number, total in item.sums.items():
                name = names.of(path, number)
                totals[name] = totals.get(name, 0) + total
        return totals
    if kind == "gcc-samples":
        return {}
    if kind == "clang-samples":
        return counts.sample_counts(process.capture([str(toolchain.profdata), "show", "--sample", data]))
    words = [str(toolchain.profdata), "show", "--all-functions", "--counts", str(data)]
    return counts.clang_counts(process.capture(words)) or counts.clang_counts(
        process.capture([*words[:2], "--showcs", *words[2:]])
    )


def named_functions(folder: Path, toolchain: Toolchain, trained: Built | None) -> dict[str, str]:
    """Names of a gcc profile's functions that ran, by '.gcda file#number', as far as they are known; for an archive."""
    names, found = _gcc_names(trained, folder), {}
    for path, item in gcc_objects(folder, toolchain).items():
        for number in item.ran:
            name = names.known(path, number)
            if name:
                found[f"{path}#{number}"] = name
    return found


def _gcc_names(trained: Built | None, folder: Path) -> counts.GccNames:
    """Names from the build that was trained; of an imported profile those that came with it."""
    carried = folder / NAMES
    if carried.is_file():
        given = {tuple(key.rsplit("#", 1)): name for key, name in json.loads(carried.read_text()).items()}
        return counts.GccNames({}, {(path, int(number)): str(name) for (path, number), name in given.items()})
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
    # BOLT writes a local function as 'f/file/1' or 'f/1'.
    # Profiles that Burnish 0.1.0 made list the place outside of the program among the hot functions.
    hot = hot_functions(folder) - {counts.NOWHERE}
    return sorted(name for name in hot if name.partition("/")[0] not in there)


def hot_functions(folder: Path, file: str = HOT) -> frozenset[str]:
    """The hot functions that were written beside a profile."""
    path = folder / file
    return frozenset(path.read_text().split("\n")) - {""} if path.is_file() else frozenset()


def _accept(name: str, coverage: audit.Coverage, folder: Path) -> dict[str, object]:
    """Refuses a profile that is empty or does not cover the server; writes the hot names beside it."""
    if coverage.counted == 0:
        raise InfrastructureError(f"{name}: the profile is empty: {coverage.functions} functions, none of them ran")
    if coverage.missing:
        raise InfrastructureError(
            f"{name}: the profile does not cover the server: {', '.join(coverage.missing)} never ran in training"
        )
    (folder / HOT).write_text("\n".join(sorted(coverage.hot)))
    return {"functions": coverage.functions, "counted": coverage.counted, "hot": len(coverage.hot)}


def profile_digest(folder: Path) -> str:
    """SHA-256 over a profile's data files, by relative path and content."""
    digest = hashlib.sha256()
    for path in data_files(folder):
        digest.update(str(path.relative_to(folder)).encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def data_files(folder: Path) -> list[Path]:
    """The profile's data files, without its description."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in _SUFFIXES)


def check_digest(entry: Entry) -> None:
    """Refuses a profile whose data have changed since it was made."""
    if profile_digest(entry.folder) != entry.about["digest"]:
        raise InfrastructureError(f"profile {entry.key} has changed since it was trained ({entry.folder})")
