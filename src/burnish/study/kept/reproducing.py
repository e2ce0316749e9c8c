"""Collects what is needed to rebuild a program without Burnish: script, profile, patches, source list, recipe."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burnish.base.errors import UserError, unknown
from burnish.base.files import remove_tree, written_to
from burnish.base.paths import Home
from burnish.builds import reproducer, witness
from burnish.builds.reproducer import Making
from burnish.catalogue import load
from burnish.model.recipe import REVERTED
from burnish.record.events.builds import BuildFailed, BuildMade, VariantSettled
from burnish.record.events.searches import SearchTold
from burnish.record.events.study import StudyBegun
from burnish.record.record import Record
from burnish.record.store import Entry, Store
from burnish.study.comparison import BASELINE
from burnish.study.kept import runs as studies
from burnish.study.kept.lost import AGAIN, inline, makes_again, value_text

RECIPE = "recipe.toml"
TRAINING = "training.txt"
_INSTRUMENTED = "instrumented"


@dataclass(frozen=True)
class FoundBuild:
    """A build and, if a study made it, its variant.

    Attributes:
        entry: the build in the store.
        variant: the variant's name; None where no study's record has the build.
        reason: the variant's reason.
        recipe: its recipe, as plain values.
        failure: why it was not measured, such as tests that failed; '' if it was, or if no study's record has it.
        run: folder of the run by which it was found; None where no study's record has the build.
    """

    entry: Entry
    variant: str | None = None
    reason: str = ""
    recipe: Mapping[str, Any] | None = None
    failure: str = ""
    run: Path | None = None

    @property
    def makes_again(self) -> str:
        """What makes it again, in words that end a message."""
        if self.run is None:
            return "no run here says what makes it again"
        return makes_again(self.run, self.variant)

    @property
    def made_anew(self) -> str:
        """What makes it again though it is still there, in words that end a message."""
        return self.makes_again if self.run is None else f"remove {self.entry.folder}, then {self.makes_again}"


@dataclass(frozen=True)
class Reproducer:
    """The collected files.

    Attributes:
        folder: where it is.
        files: names in it, the script first.
        recipe: the recipe as TOML, None when no study's record has it.
        sha256: hex digest of the program that the script makes.
    """

    folder: Path
    files: tuple[str, ...]
    recipe: str | None
    sha256: str


def find(home: Home, word: str, study: str | None = None, *, checked: bool = True) -> FoundBuild:
    """The build whose key is (or begins with) `word`, or the newest one of the variant of that name.

    Of a run with several builds of each variant (`--layouts`, `--trainings`) it is the first, whose figures are shown.

    Args:
        home: where store and studies are.
        word: a key or a variant's name.
        study: name of the run that made it; None searches all runs, the newest first.
        checked: whether the build is read and compared with its digests; False where only its place is said.
    """
    folders = [studies.find(home, study)] if study else list(reversed(studies.folders(home)))
    store = Store(home.store)
    look = store.find if checked else store.named
    names: dict[str, Path] = {}
    matching: dict[str, FoundBuild] = {}
    for folder in folders:
        builds = _builds(folder)
        for made in [*builds, *_first_replicates(builds)]:
            names.setdefault(made["variant"], folder)
            if made["variant"] == word or (len(word) >= 4 and made["key"].startswith(word)):
                entry = look("builds", made["key"])
                build = (
                    FoundBuild(entry, made["variant"], made["reason"], made["recipe"], made["failure"], folder)
                    if entry
                    else None
                )
                if build is not None and made["variant"] == word:
                    return build
                if build is not None:
                    matching.setdefault(made["key"], build)
    for entry in store.entries():
        if entry.kind == "builds" and len(word) >= 4 and entry.key.startswith(word):
            matching.setdefault(entry.key, FoundBuild(entry))
    if len(matching) == 1:
        return next(iter(matching.values()))
    if matching:
        raise UserError(f"{word}: several keys begin with this ({', '.join(sorted(matching))}); give the whole key")
    if word in names:
        raise UserError(
            f"{word}: its build is no longer in the store; {makes_again(names[word], word.partition('#')[0])}"
        )
    for folder in folders:
        if word in _failed(folder):
            raise UserError(
                f"{word}: its build failed in run {folder.name}; `burnish show {folder.name} --full` says why"
            )
    if study is None and word in load.variants():
        how = "burnish tune ENGINE" if word == BASELINE else f"burnish tune ENGINE --variant {word}"
        raise UserError(f"{word}: no run here made it; `{how}` does")
    if not names and not studies.folders(home):
        raise UserError(f"unknown variant or build {word!r}: {studies.none_yet()}")
    raise unknown("variant or build", word, names)


def variants(home: Home) -> dict[str, tuple[str, ...]]:
    """By a build's key: the names of the variants that it is in runs of this home, the newest run's first."""
    names: dict[str, dict[str, None]] = {}
    for folder in reversed(studies.folders(home)):
        for made in _builds(folder):
            names.setdefault(made["key"], {})[made["variant"]] = None
    return {key: tuple(found) for key, found in names.items()}


def _builds(folder: Path) -> list[dict[str, Any]]:
    """The builds that a study made or used, the latest first; none of a record that can't be read here."""
    with suppress(UserError), closing(Record(folder)) as record:
        begun = record.last(StudyBegun)
        recipes = dict(begun.event.definition["recipes"]) if begun else {}
        recipes |= {recorded.event.variant: recorded.event.recipe for recorded in record.events(SearchTold)}
        settled = {recorded.event.variant: recorded.event for recorded in record.events(VariantSettled)}
        made = [
            {
                "variant": recorded.event.build.name,
                "build": recorded.event.build,
                "key": recorded.event.key,
                "recipe": recipes.get(recorded.event.build.variant),
                "reason": about.reason if about else "",
                "failure": (about.failure or "") if about else "",
            }
            for recorded in record.events(BuildMade)
            for about in (settled.get(recorded.event.build.variant),)
        ]
        return made[::-1]
    return []


def _failed(folder: Path) -> set[str]:
    """The variants whose builds failed in a study; none of a record that can't be read here."""
    with suppress(UserError), closing(Record(folder)) as record:
        return {recorded.event.build.variant for recorded in record.events(BuildFailed)}
    return set()


def _first_replicates(builds: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first replicates of the variants that have no other build in a run, by the names of these variants.

    Where a variant has a build of its own, its replicates are other link orders of that, measured after it.
    """
    own = {made["build"].variant for made in builds if not made["build"].replicate}
    first = [made for made in builds if made["build"].replicate == 1 and made["build"].variant not in own]
    return [{**made, "variant": made["build"].variant} for made in first]


def collect(home: Home, build: FoundBuild, folder: Path) -> Reproducer:
    """Writes script, profiles, patches, source list and recipe to `folder`, which must be new or empty."""
    making = witness.read(build.entry.about)
    if making is None:
        raise UserError(
            f"build {build.entry.key}: it was made by a Burnish that did not yet record how; {build.made_anew}"
        )
    if folder.exists() and not folder.is_dir():
        raise UserError(f"--output {folder}: is a file; name a new folder")
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"--output {folder}: this folder exists and is not empty; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with written_to(folder):
            recipe = _fill(folder, Store(home.store), build, making)
    except BaseException:  # what is half filled would be in the way of the next call
        for part in folder.iterdir():
            remove_tree(part)
        raise
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    order = [reproducer.SCRIPT, *(name for name in files if name != reproducer.SCRIPT)]
    return Reproducer(folder, tuple(order), recipe, making.sha256)


def _fill(folder: Path, store: Store, build: FoundBuild, making: Making) -> str | None:
    """Writes everything, the script last: what has one is whole. Returns the recipe's text, if it is known."""
    _copy_build(build.entry, making, folder, store, build.made_anew)
    notes = _training(store, making, folder, build.made_anew)
    if notes:
        (folder / TRAINING).write_text(notes)
    recipe = None
    if build.recipe is not None and build.variant is not None:
        recipe = recipe_toml(build.variant, build.reason, build.recipe, [patch.file for patch in making.patches])
        (folder / RECIPE).write_text(recipe)
    shutil.copy2(build.entry.folder / reproducer.SCRIPT, folder)
    return recipe


def _copy_build(entry: Entry, making: Making, folder: Path, store: Store, again: str) -> None:
    """Copies what a build's script needs, but the script; `again` says what to do where a profile is gone."""
    folder.mkdir(exist_ok=True)
    if (entry.folder / reproducer.SOURCE_LIST).is_file():
        shutil.copy2(entry.folder / reproducer.SOURCE_LIST, folder)
    for patch in making.patches:
        (folder / patch.file).parent.mkdir(exist_ok=True)
        shutil.copy2(entry.folder / patch.file, folder / patch.file)
    for name in making.beside:
        shutil.copy2(entry.folder / name, folder / name)
    for kept in making.profiles:
        profile = store.find("profiles", kept.key)
        if profile is None:
            raise UserError(f"profile {kept.key} of build {entry.key} is no longer in the store; {again}")
        for name, _ in kept.files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(profile.folder / name, folder / name)


def _training(store: Store, making: Making, folder: Path, again: str) -> str:
    """How the profiles were trained, for those who want to train again; copies the scripts of the trained builds."""
    parts: list[str] = []
    scripts = _Scripts(folder, again)
    for kept in making.profiles:
        parts += _trained(store, making, scripts, kept.key, kept.name)
    return "\n".join(parts)


@dataclass(frozen=True)
class _Scripts:
    """Scripts of the builds that were trained, as they are copied.

    Attributes:
        folder: below which they are.
        again: what to do where a profile that such a build needs is gone, in words.
        places: by a build's key, its folder in `folder`.
    """

    folder: Path
    again: str
    places: dict[str, str] = field(default_factory=dict)

    def copy(self, store: Store, build: Entry, making: Making, kind: str) -> None:
        """Copies a build's script and what it needs."""
        place = f"{_INSTRUMENTED}-{kind}"
        place = f"{place}-{len(self.places) + 1}" if (self.folder / place).exists() else place
        self.places[build.key] = place
        _copy_build(build, making, self.folder / place, store, self.again)
        shutil.copy2(build.folder / reproducer.SCRIPT, self.folder / place)


def _trained(store: Store, making: Making, scripts: _Scripts, key: str, name: str) -> Iterator[str]:
    """Where the profile `key` came from; for a merged profile, each of its parts too.

    Builds that are found here are added to `scripts`.
    """
    profile = store.find("profiles", key)
    if profile is None:
        return
    about = profile.about
    if about.get("imported"):
        yield f"{name}: imported from {about['imported']}; how it was trained is not recorded here.\n"
        return
    if about.get("merged"):
        parts = [(f"part {number} of {name}", *part) for number, part in enumerate(about["merged"], 1)]
        weighed = " and ".join(f"{part} times {weight:g}" for part, _, weight in parts)
        yield f"{name}: merged of {weighed}; `burnish profile merge` does it again.\n"
        for part, its_key, _ in parts:
            yield from _trained(store, making, scripts, its_key, part)
        return
    loads = ", ".join(f"{load} for {seconds:g} s" for load, seconds in about["training"])
    build = store.find("builds", str(about["build"]))
    how = witness.read(build.about) if build else None
    if build is not None and how is not None and build.key not in scripts.places:
        scripts.copy(store, build, how, str(about["kind"]))
    program = scripts.places.get(str(about["build"]))
    with_what = (
        f"with the program that {program}/{reproducer.SCRIPT} makes"
        if program
        else "with a program that is no longer kept"
    )
    kind = "bolt-samples" if about["kind"] == "bolt" and about.get("sampled") else about["kind"]
    steps = _TRAINED[kind].format(
        root=making.root, profdata=_tool(making, "llvm-profdata"), profgen=_tool(making, "llvm-profgen")
    )
    yield f"{name}: trained on {loads}, {with_what}.\n\n{steps}"


_TRAINED = {
    "clang": """\
    1. Run it under the load with LLVM_PROFILE_FILE=/some/folder/%4m.profraw in its environment.
    2. End it by itself (SIGTERM, not SIGKILL): it writes its counters at its end.
    3. {profdata} merge -o profile.profdata /some/folder/*.profraw
""",
    "gcc": """\
    1. Run it under the load with GCOV_PREFIX=/some/folder in its environment.
    2. End it by itself (SIGTERM, not SIGKILL): it writes its counters at its end.
    3. /some/folder{root}/build, with its .gcda files, is the folder `gcda`.
""",
    "bolt": """\
    1. Make the folder {root}/bolt-raw (its name is in the program) and run it under the load.
    2. End it by itself (SIGTERM, not SIGKILL): it writes its counts at its end.
    3. merge-fdata -o bolt.fdata {root}/bolt-raw/*
""",
    "clang-samples": """\
    1. Run it under the load and sample it: perf record -e cycles:u -j any,u -o samples -p PID
    2. perf script --show-mmap-events -F ip,brstack -i samples > script
    3. {profgen} --binary=PROGRAM --perfscript=script --format=extbinary --output=profile.prof
""",
    "gcc-samples": """\
    1. Run it under the load and sample it: perf record -e cycles:u -j any,u -o samples -p PID
    2. create_gcov --binary=PROGRAM --profile=samples --gcov=profile.afdo -gcov_version=2
""",
    "bolt-samples": """\
    1. Run it under the load and sample it: perf record -e cycles:u -j any,u -o samples -p PID
    2. perf2bolt -p samples -o bolt.fdata PROGRAM
""",
}


def _tool(making: Making, name: str) -> str:
    """A tool of the compiler's release: clang-19's is llvm-profdata-19."""
    compiler = Path(making.programs[0].path).name if making.programs else ""
    _, dash, release = compiler.partition("-")
    return f"{name}{dash}{release}"


def recipe_toml(name: str, reason: str, recipe: Mapping[str, Any], patches: list[str]) -> str:
    """A variant in the catalogue's format, with the fields that differ from the default recipe.

    Args:
        name: the variant's.
        reason: the variant's; at least 20 characters.
        recipe: as plain values.
        patches: the recipe's patches, as they are named beside the file.
    """
    values = dict(recipe)
    if values.get("patches"):
        marks = [REVERTED if word.startswith(REVERTED) else "" for word in values["patches"]]
        values["patches"] = [mark + file for mark, file in zip(marks, patches, strict=True)]
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else value_text(name)
    return f"[{key}]\nreason = {value_text(reason or AGAIN)}\nrecipe = {inline(values)}\n"
