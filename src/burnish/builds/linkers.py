"""Work around a link: prepares linkers and checks the linked program."""

from __future__ import annotations

import shlex
import shutil
from importlib import resources
from pathlib import Path

from burnish.base import process
from burnish.base.errors import InfrastructureError
from burnish.builds.loaded import check_malloc, needed
from burnish.builds.stages import Compile
from burnish.program.built import Built
from burnish.toolchain.link_parts import catalogue
from burnish.toolchain.linking import layout_script


def lay_linkers(stage: Compile, folder: Path) -> None:
    """Makes the folder passed with -B to a link with another linker or in another order; removes old ones.

    The archives that are linked in are there too: found before the system's folders, which have the shared libraries.
    """
    shutil.rmtree(folder, ignore_errors=True)
    if stage.linking.archives:
        folder.mkdir(mode=0o700, parents=True)
        for archive in stage.linking.archives:
            (folder / archive.name).symlink_to(archive.path)
    linker = stage.linking.linker
    if linker is None or not stage.linking.needs_folder:
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if linker.name == "lld":
        (folder / "ld.lld").symlink_to(linker.path)
        (folder / "layout.ld").write_text(layout_script(stage.linking.layout))
        return
    wrapper = shuffling_linker(stage.linking.layout, linker.path, stage.toolchain.ar or Path("ar"))
    for name in ("ld", catalogue().linkers[linker.name].program):
        (folder / name).write_text(wrapper)
        (folder / name).chmod(0o700)


def shuffling_linker(seed: int, linker: Path, ar: Path) -> str:
    """The text of a program (sh and awk) that links as `linker` does, in an order shuffled by `seed`."""
    text = (resources.files("burnish.builds") / "shuffle_link.sh").read_text()
    return (
        text.replace("@SEED@", str(seed))
        .replace("'@LINKER@'", shlex.quote(str(linker)))
        .replace("'@AR@'", shlex.quote(str(ar)))
        .replace("@LINKER@", linker.name)
    )


def verify(stage: Compile, built: Built, name: str) -> dict[str, object]:
    """Checks facts about a linked program that its recipe promises.

    Raises:
        InfrastructureError: it should be static but is not, it loads a library that should be linked in, or its malloc
            is not the allocator's.
    """
    facts: dict[str, object] = {}
    if stage.linking.linker is not None:
        facts["linker"] = stage.linking.linker.version
    if stage.linking.layout:
        facts["layout"] = stage.linking.layout
    if stage.linking.static:
        libraries = needed(built.server)
        if libraries or "INTERP" in process.capture(["readelf", "-lW", built.server]):
            raise InfrastructureError(f"{name}: linked statically, yet it loads {', '.join(libraries) or 'a loader'}")
    if stage.linking.linked_in:
        loaded = [one for one in needed(built.server) if one.partition(".so")[0] in stage.linking.linked_in]
        if loaded:
            raise InfrastructureError(f"{name}: libraries were to be linked in, yet it loads {', '.join(loaded)}")
        facts["linked_in"] = stage.linking.linked_in
        facts["archives"] = [[archive.name, archive.digest] for archive in stage.linking.archives]
    if stage.linking.allocator is not None:
        check_malloc(built, stage.linking.allocator.name, name)
        facts["allocator"] = f"{stage.linking.allocator.name}, linked"
    return facts
