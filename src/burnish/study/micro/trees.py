"""Configured trees of the sides of `micro`: build folders, sources, an engine's own source, builds of the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from burnish.base.digest import digest_of
from burnish.base.errors import UserError
from burnish.base.files import read_json
from burnish.base.paths import Home
from burnish.builds import trees, witness
from burnish.builds.stages import Compile
from burnish.builds.trees import DATABASE, Tree
from burnish.catalogue import load
from burnish.catalogue.patches import located
from burnish.engines.contract import BuildJob
from burnish.engines.registry import create
from burnish.engines.steps import Command
from burnish.model.engine import EngineSpec
from burnish.model.recipe import REVERTED, Recipe, Variant
from burnish.record.workbench import Bench
from burnish.source.patches import overlay, patch_set
from burnish.source.patches.patch import Patch
from burnish.study.builds import resolving
from burnish.study.builds.source import unpacked
from burnish.study.kept import reproducing
from burnish.study.request.options import Options
from burnish.toolchain.toolchains import find_toolchains

_CONFIGURE_S = 1800.0


@dataclass(frozen=True)
class SideRequest:
    """One side as requested.

    Attributes:
        tree: a build folder with a compile database, a folder of sources, the engine's name (its own source), or a
            build of the store (key or variant); None: the engine's own source.
        patches: unified diffs, or names of the catalogue's patches; after ``-R``, a patch to be reverted.
    """

    tree: str | None = None
    patches: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Sources:
    """Sources to configure: where they are, their patches, how they are configured."""

    name: str
    folder: Path
    patches: tuple[Patch, ...]
    command: Callable[[Path, Path], Command]


@dataclass
class Trees:
    """Finds or configures the trees of a run.

    Attributes:
        home: the home folder.
        spec: the engine.
        variant: how sources are configured.
        bench: recorded processes.
        ensure: installs groups of system packages, with the reason.
    """

    home: Home
    spec: EngineSpec
    variant: str
    bench: Bench
    ensure: Callable[[Sequence[str], str], None]

    def of(self, asked: SideRequest, label: str) -> Tree:
        """The configured tree of a side; `label` names the folder of its patched copy.

        Raises:
            UserError: there is no such tree, or a patch does not apply.
            InfrastructureError: it cannot be configured.
        """
        given = asked.tree or self.spec.name
        path = Path(given).expanduser()
        if (path / DATABASE).is_file():
            if asked.patches:
                raise UserError(f"{path}: is a build folder, and patches go into sources; name the folder of sources")
            return trees.read_tree(given, path.resolve())
        if not path.is_dir() and os.sep in given:
            raise UserError(f"{path}: there is no such folder; name a build folder or sources")
        if path.is_dir() and not (path / "CMakeLists.txt").is_file():
            raise UserError(f"{path}: holds neither {DATABASE} nor CMakeLists.txt; name a build folder or sources")
        self.ensure(list(self.spec.build_packages), "trees are configured")
        sources = self._sources(given, path)
        added = self._patches(asked.patches, label)
        return self._configured(replace(sources, patches=(*sources.patches, *added)), label)

    def _patches(self, words: Sequence[str], label: str) -> tuple[Patch, ...]:
        paths = []
        for word in words:
            mark = REVERTED if word.startswith(REVERTED) else ""
            paths.append(f"{mark}{located(word.removeprefix(REVERTED).strip()).absolute()}")
        return patch_set.read(Variant(f"side {label.upper()}", Recipe(patches=tuple(paths)), "the side's patches"))

    def _sources(self, given: str, path: Path) -> _Sources:
        if path.is_dir():
            return _Sources(given, path.resolve(), (), self._by_variant)
        if given == self.spec.name:
            return _Sources(given, self._own(None), (), self._by_variant)
        return self._of_build(given)

    def _own(self, version: str | None) -> Path:
        """The engine's own source, unpacked where builds have it."""
        return unpacked(self.home, self.spec, Options(source_version=version), self.bench.say)[1]

    def _of_build(self, word: str) -> _Sources:
        """The sources that a build of the store was made from, configured as it was."""
        entry = reproducing.find(self.home, word).entry
        made = witness.read(entry.about)
        if made is None or made.engine != self.spec.name:
            raise UserError(f"{word}: no build of {self.spec.name} that records how it was made; name a tree instead")
        if made.profile is not None or made.source[2] == "folder":
            why = "used a profile" if made.profile is not None else "was made from a folder"
            raise UserError(f"{word}: this build {why}, so its objects can't be made again by themselves; name a tree")
        kept = tuple(
            Patch(entry.folder / patch.file, (entry.folder / patch.file).read_bytes(), patch.reverted)
            for patch in made.patches
        )
        step = next(
            (
                command_step
                for command_step in made.steps
                if isinstance(command_step, Command) and command_step.what == "configure"
            ),
            None,
        )
        if step is None:
            raise self._no_database()

        def command(source: Path, place: Path) -> Command:
            moved = [
                argument.replace(f"{made.root}/source", str(source)).replace(f"{made.root}/build", str(place))
                for argument in step.argv
            ]
            return replace(step, argv=tuple(moved))

        return _Sources(word, self._own(made.source[1]), kept, command)

    def _configured(self, sources: _Sources, label: str) -> Tree:
        work = self.home.work(self.spec.name) / "micro"
        source, name = sources.folder, sources.name
        if sources.patches:
            marker = read_json(source / overlay.MARKER)
            what = f"{marker.get('name', source)} {marker.get('version', '')}".strip()
            for note in patch_set.fit(sources.patches, source, what):
                self.bench.say(note)
            name = " + ".join([name, *(_short(patch) for patch in sources.patches)])
            source = work / f"{label}-source"
            trees.patched_copy(sources.folder, sources.patches, source, what)
        # The patches are part of the name, so that objects compiled from other headers are not used for this tree.
        named = digest_of([str(source), self.variant, sources.name, *(patch.sha256 for patch in sources.patches)])
        place = work / f"build-{named}"
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        step = sources.command(source, place)
        with self.bench.step(f"configure {label.upper()}: {name}", f"configure-{label}"):
            done = self.bench.run(step.what, step.argv, cwd=place, env=dict(step.env), timeout=_CONFIGURE_S)
            done.check(f"configuring {name}")
        return trees.read_tree(name, place, ours=True)

    def _by_variant(self, source: Path, place: Path) -> Command:
        """The command by which the variant configures these sources."""
        (chain,) = resolving.resolve(
            [load.variant(self.variant)],
            spec=self.spec,
            source_digest="micro",
            source=source,
            toolchains=find_toolchains(),
            features=self.spec.default_features,
            profile_place=place / "profile",
        )
        stage = chain.stages[0]
        if len(chain.stages) != 1 or not isinstance(stage, Compile):
            raise UserError(
                f"--variant {self.variant}: is made in several stages; name a variant that is only compiled"
            )
        job = BuildJob(
            source=source,
            place=place,
            toolchain=stage.toolchain,
            flags=stage.flags,
            features=stage.features,
            options=stage.options,
            hardening=stage.hardening,
            with_tools=False,
            relocations=False,
            jobs=len(os.sched_getaffinity(0)),
            bench=self.bench,
        )
        for step in create(self.spec).steps(job):
            if isinstance(step, Command) and step.what == "configure":
                return step
        raise self._no_database()

    def _no_database(self) -> UserError:
        return UserError(f"{self.spec.name}: its build writes no {DATABASE}; name build folders that have one")


def _short(patch: Patch) -> str:
    return f"{'-R ' if patch.reverted else ''}{patch.path.stem}"
