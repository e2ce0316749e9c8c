"""What every stage after the link has: where it begins, what it does, and how a script repeats it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from burnish.builds.reproducer import Making
from burnish.engines.contract import Engine
from burnish.model.recipe import Recipe
from burnish.program.built import Built
from burnish.record.store import Entry
from burnish.record.workbench import Bench
from burnish.toolchain.link_parts import Parts
from burnish.toolchain.toolchains import Toolchain


@dataclass(frozen=True)
class Workplace:
    """Where a stage works.

    Attributes:
        engine: the engine.
        bench: recorded processes and progress.
        name: the variant's name.
        base: the build that the stage begins with.
        folder: the new build's folder: hard links to the files of `base`.
        key: the new build's content address.
    """

    engine: Engine
    bench: Bench
    name: str
    base: Entry
    folder: Path
    key: str

    @property
    def before(self) -> Built:
        """The build that the stage begins with."""
        return self.engine.built(self.name, self.base.folder, self.base.key)

    @property
    def built(self) -> Built:
        """The new build."""
        return self.engine.built(self.name, self.folder, self.key)

    def run(self, what: str, argv: Sequence[str | Path], cwd: Path | None = None) -> None:
        """Runs a tool.

        Raises:
            InfrastructureError: it failed.
        """
        self.bench.run(what, argv, cwd=cwd, timeout=600).check(f"{self.name}: {what}")


@dataclass(frozen=True)
class AfterLink(ABC):
    """A stage that works on a finished program and never compiles it again.

    Attributes:
        key: content address of the build it makes.
        build: key of the build it begins with.
        title: what it does, in words.
    """

    key: str
    build: str
    title: str

    @abstractmethod
    def apply(self, place: Workplace) -> dict[str, object]:
        """Changes the files in the new build's folder and returns facts for its description.

        Raises:
            InfrastructureError: it failed, or what came of it is not what was promised.
        """

    @abstractmethod
    def script(self, making: Making, place: Workplace) -> Making:
        """How the new build is made by hand, from how its base is made; may put files beside the script."""


StageOf = Callable[[Recipe, str, Toolchain, Toolchain | None, Parts], AfterLink | None]
"""From recipe, key of the base build, toolchain, BOLT's toolchain if BOLT wrote the program, and the machine's parts to
the stage; None where the recipe does not ask for it."""
