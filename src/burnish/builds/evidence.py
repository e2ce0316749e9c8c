"""Facts about a finished build, read from its program once, kept in the store, checked against a study's demands."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from burnish.base.digest import digest_of
from burnish.base.files import sha256_of
from burnish.base.workbench import Workbench
from burnish.catalogue.instructions import Processor, demanded, processors
from burnish.catalogue.instructions import instructions as instruction_data
from burnish.engines.contract import Engine
from burnish.model.recipe import Recipe
from burnish.program import changed, emulation, instructions, program
from burnish.program.built import Built
from burnish.program.machine_code import demangle
from burnish.record.store import Store

FORMAT = 1
"""Increased when more facts are read from a program."""

CONTENT = "content"
"""Under which evidence and results of gates have the digest of the program that they are about."""

_AT_LAUNCH = ("preload", "allocator", "huge_text")
"""Fields of a recipe that may take effect when the server starts, without a trace in its program."""


@dataclass(frozen=True)
class Portable:
    """What a study requires of its builds' portability.

    Attributes:
        demand: level or processor that every build must run on; None: not required.
        emulate: whether builds are tried on the catalogue's processors.
    """

    demand: str | None = None
    emulate: bool = False

    @property
    def needs_emulator(self) -> bool:
        """Whether any processor is emulated."""
        return self.emulate or (self.demand is not None and demanded(self.demand)[1] is not None)

    def to_try(self, architecture: str) -> dict[str, Processor]:
        """Processors to try builds of this architecture on."""
        matching = {
            name: processor for name, processor in processors().items() if processor.architecture == architecture
        }
        return {name: processor for name, processor in matching.items() if self.emulate or name == self.demand}


@dataclass(frozen=True)
class Examiner:
    """Examines builds.

    Attributes:
        engine: the engine, which can ask a build queries.
        store: keeps the results.
        bench: recorded processes.
        scratch: private folder.
    """

    engine: Engine
    store: Store
    bench: Workbench
    scratch: Path

    def look(self, built: Built) -> dict[str, Any]:
        """A build's ``program`` (`burnish.program.program`) and ``needs`` (`burnish.program.instructions`)."""
        data, key, content = instruction_data(), facts_key(built.key), content_of(self.store, built)
        kept = self.store.find("evidence", key)
        if kept is not None and kept.about.get(CONTENT) == content:
            return {name: kept.about[name] for name in ("program", "needs")}
        facts = {
            "program": program.read(built.server).as_dict(),
            "needs": instructions.scan(built.server, data, _symbols(built)).as_dict(),
        }
        self.store.begin("evidence", key)
        self.store.admit("evidence", key, {"build": built.key, "what": "program", CONTENT: content, **facts})
        return facts

    def try_on(self, built: Built, wanted: Mapping[str, Processor]) -> dict[str, str | None]:
        """By processor, why the build does not start or answer correctly there; None if it does."""
        reasons: dict[str, str | None] = {}
        for name, processor in wanted.items():
            emulator = emulation.find(processor.architecture)
            if emulator is None:
                reasons[name] = "not tried: qemu's user-mode emulation is not installed (qemu-user)"
            elif processor.model not in emulator.models:
                reasons[name] = f"not tried: {emulator.version} does not know {processor.model}"
            else:
                reasons[name] = self._try(built, name, processor, emulator)
        return reasons

    def _try(self, built: Built, name: str, processor: Processor, emulator: emulation.Emulator) -> str | None:
        launch = [list(built.environment), [option.replace(str(built.folder), "") for option in built.options]]
        key = digest_of(
            ["answers", FORMAT, built.key, content_of(self.store, built), launch, processor.model, emulator.version]
        )
        kept = self.store.find("evidence", key)
        if kept is not None:
            return kept.about["why_not"]  # type: ignore[no-any-return]
        place = self.scratch / "answers"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(mode=0o700, parents=True)
        self.bench.live(f"{built.name} on {name}")
        launcher = emulator.launcher(processor, built.environment)
        why = self.engine.answers(replace(built, environment=()), place, self.bench, launcher)
        shutil.rmtree(place, ignore_errors=True)
        self.store.begin("evidence", key)
        self.store.admit("evidence", key, {"build": built.key, "what": "answers", "processor": name, "why_not": why})
        return why

    def changed(self, built: Built, before: Built) -> dict[str, Any]:
        """Functions that differ between builds of the same source with and without a patch (`burnish.program.changed`).

        Returns:
            Plain values as in `changed.Changed`, with demangled names.
        """
        key = digest_of(["changed", FORMAT, *((side.key, content_of(self.store, side)) for side in (before, built))])
        kept = self.store.find("evidence", key)
        if kept is not None:
            return dict(kept.about["found"])
        self.bench.live(f"{built.name}: which functions differ from {before.name}'s")
        beside = {side.server: place for side in (before, built) if (place := _symbols(side)) is not None}
        changes = changed.compare(before.server, built.server, beside).as_dict()
        lists = ("differ", "gone", "new")
        spelled = demangle(name for kind in lists for name in changes[kind])
        changes |= {kind: [spelled[name] for name in changes[kind]] for kind in lists}
        self.store.begin("evidence", key)
        self.store.admit("evidence", key, {"build": built.key, "what": "changed", "of": before.key, "found": changes})
        return changes


def only_patched(recipe: Recipe, usual: Recipe) -> bool:
    """Whether two recipes differ only in the patches to the source; pure."""
    return recipe.patches != usual.patches and replace(recipe, patches=usual.patches) == usual


def _symbols(built: Built) -> Path | None:
    """The file with a stripped program's symbols, if one is kept beside it."""
    beside = built.server.with_name(f"{built.server.name}.debug")
    return beside if beside.is_file() else None


def refused(facts: Mapping[str, Any], tried: Mapping[str, str | None], portable: Portable) -> str | None:
    """Why a build does not meet the study's demand, or None; pure."""
    if portable.demand is None:
        return None
    allowed, _ = demanded(portable.demand)
    needs = facts["needs"]
    why = emulation.refused(needs["level"], tuple(needs["beyond"]), portable.demand, allowed)
    if why is None and (failed := tried.get(portable.demand)):
        why = f"{portable.demand}: {failed}" if failed.startswith("not tried") else f"on {portable.demand}: {failed}"
    return why


def same(
    facts: Mapping[str, Any], its: Mapping[str, Any], built: Built, baseline: Built, recipe: Recipe, usual: Recipe
) -> bool:
    """Whether a build would run exactly as the baseline does: same code, same data, same launch; pure.

    Args:
        facts: the build's facts.
        its: the baseline's facts.
        built: the build.
        baseline: the baseline's build.
        recipe: how the build was made.
        usual: how the baseline was made.
    """
    return _same_program(facts, its, recipe, usual) and _launch(built) == _launch(baseline)


def _launch(built: Built) -> tuple[object, ...]:
    """Its launch environment and options, without its folder."""
    return tuple(built.environment), tuple(option.replace(str(built.folder), "") for option in built.options)


def known_same(builds: Sequence[tuple[str, Recipe, str]], store: Store) -> frozenset[str]:
    """Keys of builds that an earlier run found to be the baseline's code.

    Args:
        builds: (variant, its recipe, key of its final build), the baseline first, as replicates name#1, name#2, ...
        store: where the facts are kept.
    """
    if not builds:
        return frozenset()
    first = builds[0][0].partition("#")[0]
    usual = {name.partition("#")[2]: (recipe, key) for name, recipe, key in builds if name.partition("#")[0] == first}
    identical = set()
    for name, recipe, key in builds:
        its, its_key = usual.get(name.partition("#")[2], (recipe, key))
        if key == its_key:
            continue
        kept, base = (store.find("evidence", facts_key(build_key)) for build_key in (key, its_key))
        entries = ((build_key, one) for build_key, one in ((key, kept), (its_key, base)) if one is not None)
        if not all(_is_of(store, build_key, one.about) for build_key, one in entries):
            continue  # of a program that was made again since, and came out otherwise
        if kept is not None and base is not None and _same_program(kept.about, base.about, recipe, its):
            identical.add(key)
    return frozenset(identical)


def content_of(store: Store, built: Built) -> str:
    """SHA-256 of a build's program.

    A build that was removed and made again has its key again, but after another training it is another program, and
    after BOLT even with the same build id.
    """
    name = str(built.server.relative_to(built.folder)) if built.server.is_relative_to(built.folder) else ""
    known = store.digests("builds", built.key) if not built.server.is_symlink() else {}
    return known.get(name) or sha256_of(built.server)


def _is_of(store: Store, build: str, facts: Mapping[str, Any]) -> bool:
    """Whether facts are about the program that the store has of a build now; of a build that it lacks they may be."""
    files = store.digests("builds", build)
    return not files or facts.get(CONTENT) in files.values()


def facts_key(build: str) -> str:
    """Key of the facts about the program of the build with this key."""
    return digest_of(["program", FORMAT, build, instruction_data().digest])


def _same_program(facts: Mapping[str, Any], its: Mapping[str, Any], recipe: Recipe, usual: Recipe) -> bool:
    if any(facts["program"][part] != its["program"][part] for part in ("code", "data")):
        return False
    return all(getattr(recipe, name) == getattr(usual, name) for name in _AT_LAUNCH)


def compared(facts: Mapping[str, Any], its: Mapping[str, Any]) -> str | None:
    """A note if the code is the baseline's but the data are not; pure."""
    code, data = (facts["program"][part] == its["program"][part] for part in ("code", "data"))
    if code and not data:
        return "its code is the baseline's, to the byte; only its data differ"
    return None
