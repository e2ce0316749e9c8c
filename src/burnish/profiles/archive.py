"""Export and import of profiles: an archive with its description, or a bare file of the tool that made it.

An archive contains what the profile was trained on. A bare file does not, so the audit of the build that uses it
decides whether it fits.
"""

from __future__ import annotations

import json
import re
import shutil
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from burnish.base import temporary
from burnish.base.digest import digest_of
from burnish.base.errors import InfrastructureError, UserError
from burnish.base.workbench import Workbench
from burnish.model.engine import EngineSpec
from burnish.profiles import kept
from burnish.profiles.collecting import DATA, NAMES, check_digest, data_files, describe, profile_digest
from burnish.profiles.inspecting import reader
from burnish.profiles.stages import ProfileKind
from burnish.record.store import Entry, Store
from burnish.source.archives import extract
from burnish.toolchain.toolchains import Toolchain

MANIFEST = "profile.json"
ARCHIVES = (".tar.gz", ".tgz")
BARE: dict[str, ProfileKind] = {
    ".profdata": "clang",
    ".prof": "clang-samples",
    ".afdo": "gcc-samples",
    ".fdata": "bolt",
}
_CARRIED = ("engine", "kind", "source", "toolchain", "place", "training", "training_seed", "sampled", "rates", "digest")


def export(entry: Entry, target: Path, names: Mapping[str, str] | None = None) -> None:
    """Writes a profile to a file: an archive with its description, or only its data, depending on the suffix.

    Args:
        entry: the profile.
        target: the file.
        names: names of a gcc profile's functions (`collecting.named_functions`), which numbers stand for in its data.

    Raises:
        UserError: the file exists, or its suffix is neither.
        InfrastructureError: the profile has changed since it was made.
    """
    check_digest(entry)
    kind: ProfileKind = entry.about["kind"]
    if target.exists():
        raise UserError(f"{target}: this file exists; name a new one")
    if not target.parent.is_dir():
        raise UserError(f"{target.parent}: there is no such folder; name a file in one that is there")
    if target.name.endswith(ARCHIVES):
        with tempfile.TemporaryDirectory(dir=temporary.folder()) as scratch, tarfile.open(target, "w:gz") as archive:
            manifest = Path(scratch) / MANIFEST
            manifest.write_text(json.dumps({key: entry.about.get(key) for key in _CARRIED}, indent=1))
            archive.add(manifest, MANIFEST)
            if names:
                listed = Path(scratch) / NAMES
                listed.write_text(json.dumps(names, indent=0, sort_keys=True))
                archive.add(listed, NAMES)
            for path in data_files(entry.folder):
                archive.add(path, str(path.relative_to(entry.folder)))
    elif BARE.get(target.suffix) == kind:
        shutil.copyfile(entry.folder / DATA[kind], target)
    else:
        bare = "" if kind == "gcc" else f", or {Path(DATA[kind]).suffix} for its data alone"
        raise UserError(f"{target}: a {kind} profile is written to a file that ends in .tar.gz{bare}")


def import_profile(
    source: Path,
    name: str,
    spec: EngineSpec,
    store: Store,
    toolchains: Sequence[Toolchain],
    bench: Workbench,
    *,
    here: Path,
) -> Entry:
    """Reads a profile from a file (or, gcc's, from a folder of .gcda files) into the store, under a name.

    Args:
        source: an archive that `export` wrote, a bare file, or a folder.
        name: the profile's new name.
        spec: the engine that it is for.
        store: the store to write to.
        toolchains: those of this machine; one of the profile's family reads it.
        bench: runs the tools.
        here: path of the engine's source in this home, which is part of clang's names of local functions.

    Raises:
        UserError: it is not a profile, is of another engine, or no tool here can read it.
        InfrastructureError: it is empty or does not cover the server.
    """
    kept.check_name(store, name)
    with tempfile.TemporaryDirectory(dir=temporary.folder()) as scratch:
        place = Path(scratch) / "profile"
        about = _unpack(source, place)
        kind: ProfileKind = about["kind"]
        if about.get("engine") not in (None, spec.name):
            raise UserError(f"{source}: a profile of {about['engine']}; --engine says {spec.name}")
        if about.get("digest") not in (None, profile_digest(place)):
            raise UserError(f"{source}: its data are not those that were exported; export it again")
        toolchain = reader(kind, about.get("toolchain"), toolchains)
        if kind == "clang" and about.get("place") not in (None, str(here)):
            _move_names(place / DATA[kind], str(about["place"]), str(here), toolchain, bench)
        digest = profile_digest(place)
        key = digest_of(["imported", spec.name, kind, digest, about.get("source")])
        folder = store.begin("profiles", key)
        shutil.copytree(place, folder, dirs_exist_ok=True)
    facts = describe(kind, folder, toolchain, spec.covered, bench, name=str(source))
    entry = store.admit(
        "profiles",
        key,
        {
            **facts,
            **{field: about.get(field) for field in _CARRIED},
            "engine": spec.name,
            "kind": kind,
            "training": about.get("training") or [],
            "place": str(here),
            "imported": str(source),
            "digest": digest,
        },
    )
    kept.give_name(store, name, key)
    return entry


def _unpack(source: Path, place: Path) -> dict[str, Any]:
    """Unpacks the data to a profile's folder; returns the archive's description."""
    if source.is_dir():
        if not any(source.rglob("*.gcda")):
            raise UserError(f"{source}: no .gcda file in this folder; name a build folder that gcc's counters are in")
        shutil.copytree(source, place / DATA["gcc"], ignore=_only_counters)
        return {"kind": "gcc"}
    if not source.is_file():
        raise UserError(f"{source}: there is no such file; name a profile, or an archive that `burnish profile` wrote")
    if source.name.endswith(ARCHIVES):
        return _open_archive(source, place)
    if source.suffix not in BARE:
        suffix = source.suffix or "a file whose name says nothing of its kind"
        raise UserError(f"{source}: found {suffix}; allowed: {', '.join((*ARCHIVES, *BARE))}, a folder of .gcda files")
    kind = BARE[source.suffix]
    place.mkdir()
    shutil.copyfile(source, place / DATA[kind])
    return {"kind": kind}


def _open_archive(source: Path, place: Path) -> dict[str, Any]:
    try:
        extract(source, place)  # tarfile's own filter is not in Debian 12's Python, 3.11.2
        about: dict[str, Any] = json.loads((place / MANIFEST).read_text())
    except (UserError, OSError, ValueError) as error:
        raise UserError(f"{source}: no profile that `burnish profile export` wrote ({error})") from None
    (place / MANIFEST).unlink()
    _check_names(source, place / NAMES)
    if about.get("kind") not in get_args(ProfileKind) or not (place / DATA[about["kind"]]).exists():
        raise UserError(f"{source}: no profile that `burnish profile export` wrote (kind {about.get('kind')!r})")
    return about


def _check_names(source: Path, listed: Path) -> None:
    """Raises a `UserError` for names of functions that are not such."""
    if not listed.is_file():
        return
    try:
        names = json.loads(listed.read_text())
        good = all(re.fullmatch(r".+#\d+", key) and isinstance(name, str) for key, name in names.items())
    except (AttributeError, ValueError):
        good = False
    if not good:
        raise UserError(f"{source}: its {NAMES} does not name functions; export it again")


def _only_counters(folder: str, entries: list[str]) -> set[str]:
    """Filter for copying only .gcda files, with their folders."""
    return {name for name in entries if not name.endswith(".gcda") and not (Path(folder) / name).is_dir()}


def _move_names(data: Path, there: str, here: str, toolchain: Toolchain, bench: Workbench) -> None:
    """Replaces the former home's path by this one's in names of local functions, which contain their file's path."""
    tool, text = str(toolchain.profdata), data.with_suffix(".txt")
    bench.run("text", [tool, "merge", "--text", "-o", text, data]).check("reading the profile")
    content = text.read_text()
    if f"{there}/" in content:
        text.write_text(content.replace(f"{there}/", f"{here}/"))
        bench.run("merge", [tool, "merge", "-o", data, text]).check("moving the profile's names")
    text.unlink()
    if not data.stat().st_size:
        raise InfrastructureError(f"{data}: nothing was left of the profile")
