"""Every linker with every kind of LTO on this machine's compilers, compared with the catalogue's refusals."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.model.recipe import Flags, Linker, Lto, Recipe
from burnish.toolchain.link_parts import catalogue, find_linker, find_parts
from burnish.toolchain.linking import check, linked
from burnish.toolchain.toolchains import Toolchain

SPEC = load.engine("fake")
LTO: dict[tuple[str, Lto], tuple[str, ...]] = {
    ("gcc", "none"): (),
    ("gcc", "full"): ("-flto",),
    ("clang", "none"): (),
    ("clang", "full"): ("-flto",),
    ("clang", "thin"): ("-flto=thin",),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("linkers")
    (folder / "one.c").write_text("int two(int); int main(int c, char **v) { (void)v; return two(c) - 2; }\n")
    (folder / "two.c").write_text("int two(int x) { return 2 * x; }\n")
    return folder


@pytest.mark.parametrize("linker", list(catalogue().linkers))
@pytest.mark.parametrize(("family", "lto"), list(LTO))
def test_what_is_not_refused_links_and_runs(
    family: str, lto: Lto, linker: Linker, place: Path, gcc: Toolchain, request: pytest.FixtureRequest
) -> None:
    toolchain: Toolchain = gcc if family == "gcc" else request.getfixturevalue("clang")
    if find_linker(linker, toolchain) is None:
        pytest.skip(f"no {linker} on this machine")
    recipe = Recipe(toolchain=family, linker=linker, lto=lto)
    parts = find_parts(recipe, toolchain, SPEC)
    folder = place / f"{family}-{linker}"
    if linker == "lld" and parts.linker is not None:
        folder.mkdir(exist_ok=True)
        (folder / "ld.lld").unlink(missing_ok=True)
        (folder / "ld.lld").symlink_to(parts.linker.path)
    flags = linked(Flags((), (), LTO[family, lto]), recipe, toolchain, parts, str(folder))
    program = place / "program"
    program.unlink(missing_ok=True)
    argv = [toolchain.cc, "-O2", *flags.c, *LTO[family, lto], "one.c", "two.c", *flags.link, "-o", program]
    done = subprocess.run(argv, cwd=place, capture_output=True, text=True, check=False)
    works = done.returncode == 0 and subprocess.run([program], check=False).returncode == 0
    if works:
        check(recipe, "v", toolchain, parts, SPEC)
    else:
        with pytest.raises(UserError):
            check(recipe, "v", toolchain, parts, SPEC)
