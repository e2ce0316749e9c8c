"""The script that makes a build again: what it says, and that the same program comes out, bit for bit."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from test_training import TRAINING, Shop

from burnish.base.errors import InfrastructureError, UnavailableError
from burnish.builds import reproducer, witness
from burnish.builds.after_link.maker import AfterLinkMaker
from burnish.builds.after_link.stage import AfterLink
from burnish.builds.builder import PROFILE_FILE
from burnish.builds.reproducer import KeptPatch, Making, Program
from burnish.builds.stages import PackageFlags, Stage, stages
from burnish.engines.steps import Command, Text
from burnish.model.recipe import Recipe, Variant
from burnish.record.store import Entry
from burnish.source.patches import overlay
from burnish.source.patches.patch import Patch
from burnish.toolchain.link_parts import find_parts
from burnish.toolchain.toolchains import Toolchain
from conftest import FAKE_SOURCE
from scripts import run_script

MAKING = Making(
    engine="x",
    title="mariadb 1:10.11.18-0+deb12u1 with gcc-12",
    key="0123456789abcdef",
    root="/r o/work/x",
    server="sql/mariadbd",
    source=("mariadb", "1:10.11.18-0+deb12u1", "debian"),
    archives=(("m.orig.tar.gz", "1" * 64), ("m.orig-www.tar.xz", "2" * 64), ("m_1-2.debian.tar.xz", "3" * 64)),
    patches=(KeptPatch("patches/01-a.patch", False, "4" * 64), KeptPatch("patches/02-b.patch", True, "5" * 64)),
    programs=(Program("/usr/bin/gcc-12", "gcc-12 (Debian 12.2.0) 12.2.0"),),
    makers=(Program("cmake", "cmake version 3.25.1"),),
    packages=(("libc6-dev", "2.36-9"),),
    profile=None,
    steps=(
        Command(
            "configure",
            ("cmake", "-DX=it's", "-ffile-prefix-map=/r o/work/x/source=.", "/r o/work/xy"),
            (("A", "b c"),),
        ),
        Text("a.mk", "END\nx: $(Y) `z`\n"),
        Command("compile", ("ninja", "-j7", "all")),
    ),
    jobs=7,
    date="20260102",
    sha256="6" * 64,
)


def test_what_the_script_says(tmp_path: Path) -> None:
    text = reproducer.script(MAKING)
    lines = text.splitlines()
    assert lines[0] == "#!/bin/sh"
    assert "RECORDED='/r o/work/x'" in lines
    command = next(line for line in lines if "cmake" in line and "cd " in line)
    assert command == (
        "(cd \"$ROOT/build\" && env A='b c' cmake '-DX=it'\"'\"'s' -ffile-prefix-map=\"$ROOT\"/source=. '/r o/work/xy')"
    ), "only what lies below the root moves with it"
    assert '(cd "$ROOT/build" && ninja "-j$JOBS" all)' in lines
    assert "put build/a.mk <<'END_'" in lines, "an end that the text does not have"
    assert "same_program /usr/bin/gcc-12 'gcc-12 (Debian 12.2.0) 12.2.0'" in lines
    assert "like_program cmake 'cmake version 3.25.1'" in lines
    assert f"own_patch patches/02-b.patch {'5' * 64} -R" in lines
    assert lines.index('unpack "$file" "$tree"') < lines.index('unpack "$file" "$tree/www"')
    assert lines.index('unpack "$file" "$tree/debian"') < lines.index("series")
    assert lines.index("series") < lines.index(f"own_patch patches/01-a.patch {'4' * 64}") < lines.index("settle")
    assert "https://deb.debian.org/debian/pool/main/m/mariadb/m.orig.tar.gz" in text
    assert "https://snapshot.debian.org/archive/debian/20260102T000000Z/pool/main/m/mariadb/m.orig.tar.gz" in text
    assert lines[-1] == f"finish build/sql/mariadbd {'6' * 64}"
    (tmp_path / "build.sh").write_text(text)
    assert subprocess.run(["sh", "-n", tmp_path / "build.sh"], check=False).returncode == 0


def test_the_script_drops_variables_that_make_another_program() -> None:
    head = reproducer.script(MAKING).partition("\nunset ")[2].partition("\n\n")[0]
    given = {
        "PATH": os.environ["PATH"],
        "CPATH": "/opt",
        "CMAKE_PREFIX_PATH": "/opt\nX_ROOT_DIR=y",
        "A_ROOT_DIR": "/opt",
    }
    done = subprocess.run(["sh", "-euc", f"unset {head}\nenv"], env=given, capture_output=True, text=True, check=True)
    assert "/opt" not in done.stdout
    assert subprocess.run(["sh", "-euc", f"unset {head}"], env={"PATH": given["PATH"]}, check=False).returncode == 0


def test_no_python_and_no_burnish_in_it() -> None:
    commands = [line for line in reproducer.script(MAKING).splitlines() if not line.lstrip().startswith("#")]
    assert not any(re.search(r"\bpython|burnish (tune|show)", line) for line in commands)


def test_a_making_survives_the_description() -> None:
    about = json.loads(json.dumps({"making": witness.described(MAKING)}))
    assert witness.read(about) == MAKING
    assert witness.read({}) is None
    del about["making"]["steps"]
    with pytest.raises(InfrastructureError, match="damaged"):
        witness.read(about)


# On the fake engine, for real.


@pytest.fixture
def shop(tmp_path: Path, gcc: Toolchain) -> Shop:
    return shop_at(tmp_path / "home", gcc)


def shop_at(root: Path, toolchain: Toolchain) -> Shop:
    made = Shop(root, toolchain)
    (made.builder.source / overlay.MARKER).write_text('{"digest": "source"}')
    (made.builder.work / ".source.lock").touch()  # as unpacking leaves them
    return made


def made_by(shop: Shop, recipe: Recipe, *patches: Patch) -> Entry:
    chain: tuple[Stage, ...] = stages(
        Variant("v", recipe, "for a test of scripts"),
        spec=shop.builder.engine.spec,
        source="source",
        toolchain=shop.toolchain,
        package=PackageFlags(("-O2", "-g"), (), ()),
        features="full",
        with_tools=False,
        bolt=shop.toolchain,
        profile_place=str(shop.builder.profile_place),
        training=TRAINING,
        patches=patches,
        parts=find_parts(recipe, shop.toolchain, shop.builder.engine.spec),
        link_place=str(shop.builder.link_place),
    )
    made = []
    for stage in chain:
        if isinstance(stage, AfterLink):
            made.append(AfterLinkMaker(shop.builder.engine, shop.builder.store, shop.builder.bench).make(stage, "test"))
        else:
            made.append(shop.make(stage))
    return made[-1]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_same_program_beside_burnish_and_on_a_machine_without_it(shop: Shop, tmp_path: Path) -> None:
    entry = made_by(shop, Recipe())
    built = digest(entry.folder / "bin/server")
    assert entry.about["sha256"] == built
    script = entry.folder / "build.sh"
    place = shop.builder.work
    before = {path: path.lstat().st_ino for path in place.rglob("*")}
    done = run_script(script, FAKE_SOURCE, cwd=tmp_path / "here")
    assert done.returncode == 0, done.stdout
    assert "the same program, bit for bit" in done.stdout
    assert digest(tmp_path / "here/server") == built
    assert {path: path.lstat().st_ino for path in place.rglob("*")} == before, "Burnish's own tree is where it was"

    again = run_script(script, FAKE_SOURCE, cwd=tmp_path / "here")
    assert again.returncode == 2
    assert "is there already" in again.stdout

    copied = tmp_path / "copied"
    copied.mkdir()
    for name in ("build.sh", "source.sha256"):
        (copied / name).write_bytes((entry.folder / name).read_bytes())
    (tmp_path / "home").rename(tmp_path / "away")
    done = run_script(copied / "build.sh", FAKE_SOURCE, cwd=tmp_path / "there")
    assert done.returncode == 0, done.stdout
    assert digest(tmp_path / "there/server") == built
    assert not place.exists(), "what it made it takes away"

    root = tmp_path / "elsewhere"
    done = run_script(copied / "build.sh", FAKE_SOURCE, cwd=tmp_path / "third", ROOT=root, KEEP="1")
    assert done.returncode == 1, "debug information has the path"
    assert "made in another folder" in done.stdout
    assert (root / "build/bin/server").is_file()


def test_what_is_not_as_it_was_is_refused(shop: Shop, tmp_path: Path) -> None:
    entry = made_by(shop, Recipe())
    script = entry.folder / "build.sh"
    text = script.read_text()

    def refused(*words: str | Path, **variables: str | Path) -> str:
        done = run_script(script, *words, cwd=tmp_path / "here", **variables)
        assert done.returncode == 2, done.stdout
        assert not (tmp_path / "here/server").exists()
        return done.stdout

    assert "give the source's folder" in refused()
    source = tmp_path / "source"
    source.mkdir()
    for path in FAKE_SOURCE.iterdir():
        (source / path.name).write_bytes(path.read_bytes())
    (source / "more.h").write_text("\n")
    assert "holds files that were not there" in refused(source)
    (source / "more.h").unlink()
    (source / "server.c").write_text((source / "server.c").read_text() + "\n")
    said = refused(source)
    assert "server.c: FAILED" in said
    assert "is not the source that was used" in said
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").touch()
    assert "holds something else" in refused(FAKE_SOURCE, ROOT=tmp_path / "mine")
    assert (tmp_path / "mine/file").exists()

    version = witness.program(str(shop.toolchain.cc)).version
    script.write_text(text.replace(version, "gcc 1.0"))
    said = refused(FAKE_SOURCE)
    assert f"is '{version}', it was 'gcc 1.0'" in said
    done = run_script(script, FAKE_SOURCE, cwd=tmp_path / "here", OTHER_VERSIONS="1")
    assert done.returncode == 0, done.stdout
    assert "note: " in done.stdout


def test_killed_it_leaves_nothing_that_burnish_cannot_mend(shop: Shop, tmp_path: Path) -> None:
    entry = made_by(shop, Recipe())
    source = shop.builder.source
    listed = sorted(path.name for path in source.iterdir())
    script = entry.folder / "build.sh"
    script.write_text(script.read_text().replace(f'\n(cd "$ROOT/build" && {shop.toolchain.cc}', "\n(sleep 60 && :"))
    child = subprocess.Popen(["sh", script, FAKE_SOURCE], cwd=tmp_path, start_new_session=True)
    clean = overlay.clean_place(source)
    deadline = time.monotonic() + 60
    while not (clean.exists() and source.exists()) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    assert json.loads((source / overlay.MARKER).read_text())["digest"] == "build.sh", "never taken for clean"
    overlay.recover(source)
    assert sorted(path.name for path in source.iterdir()) == listed
    assert json.loads((source / overlay.MARKER).read_text())["digest"] == "source"
    assert not clean.exists()


FASTER = Patch(
    Path("/p/faster.patch"),
    b"--- a/fake.h\n+++ b/fake.h\n@@ -20,3 +20,3 @@\n #ifndef FAKE_SPEED\n-#define FAKE_SPEED 100\n"
    b"+#define FAKE_SPEED 130\n #endif\n",
)


def test_patches_are_applied_by_the_script_too(shop: Shop, tmp_path: Path) -> None:
    plain = made_by(shop, Recipe())
    patched = made_by(shop, Recipe(), FASTER)
    undone = made_by(shop, Recipe(), FASTER, replace(FASTER, reverted=True))
    assert patched.about["sha256"] != plain.about["sha256"]
    assert undone.about["sha256"] == plain.about["sha256"], "there and back"
    assert len({plain.key, patched.key, undone.key}) == 3
    assert patched.about["patches"] == [{"file": "patches/01-faster.patch", "reverted": False, "sha256": FASTER.sha256}]
    for entry in (patched, undone):
        done = run_script(entry.folder / "build.sh", FAKE_SOURCE, cwd=tmp_path / entry.key)
        assert done.returncode == 0, done.stdout
        assert digest(tmp_path / entry.key / "server") == entry.about["sha256"]
    (patched.folder / "patches/01-faster.patch").write_bytes(FASTER.content + b"\n")
    done = run_script(patched.folder / "build.sh", FAKE_SOURCE, cwd=tmp_path / "other")
    assert done.returncode == 2
    assert "not there, or not as it was" in done.stdout


CLANG_LTO = Recipe(toolchain="clang", pgo=True, lto="thin", link=("-fuse-ld=lld",))


@pytest.mark.parametrize(
    ("family", "recipe"),
    [("gcc", Recipe(pgo=True)), ("clang", CLANG_LTO), ("clang", replace(CLANG_LTO, bolt=True))],
    ids=["gcc-pgo", "clang-pgo", "clang-pgo-bolt"],
)
def test_with_profiles(family: str, recipe: Recipe, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    toolchain: Toolchain = request.getfixturevalue(family)
    if not toolchain.has_profile_runtime or (recipe.bolt and not toolchain.bolt_can_instrument):
        pytest.skip(f"{toolchain.name} has no profile runtime, or no BOLT that can instrument")
    shop = shop_at(tmp_path / "home", toolchain)
    entry = made_by(shop, recipe)
    script = entry.folder / "build.sh"
    done = run_script(script, FAKE_SOURCE, cwd=tmp_path / "here")
    assert done.returncode == 0, done.stdout
    assert digest(tmp_path / "here/server") == entry.about["sha256"] == digest(entry.folder / "bin/server")
    making = witness.read(entry.about)
    assert making is not None
    assert making.profile is not None
    kept = shop.builder.store.root / "profiles" / making.profile.key / making.profile.files[0][0]
    kept.write_bytes(kept.read_bytes() + b"x")
    done = run_script(script, FAKE_SOURCE, cwd=tmp_path / "other")
    assert done.returncode == 2
    assert "is not the profile that was used" in done.stdout
    kept.unlink()
    if making.profile.name == PROFILE_FILE:
        done = run_script(script, FAKE_SOURCE, cwd=tmp_path / "other")
        assert "is not beside this script" in done.stdout


LINKS = {
    "strip": Recipe(strip="debug"),
    "bfd-layout": Recipe(layout=3),
    "lld-layout": Recipe(toolchain="clang", linker="lld", layout=3, strip="all"),
    "gcc-lld": Recipe(linker="lld"),
    "mold": Recipe(linker="mold"),
    "static": Recipe(static="full"),
    "word-32": Recipe(word=32),
    "linked-allocator": Recipe(allocator="jemalloc"),
    "preloaded-allocator": Recipe(allocator="jemalloc", preload=True),
    "gcc-lto": Recipe(lto="full"),
    "native": Recipe(target="native"),
}


@pytest.mark.parametrize("recipe", LINKS.values(), ids=LINKS)
def test_whatever_its_link(recipe: Recipe, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    shop = shop_at(tmp_path / "home", request.getfixturevalue(recipe.toolchain))
    try:
        entry = made_by(shop, recipe)
    except UnavailableError as error:
        pytest.skip(str(error))
    making = witness.read(entry.about)
    assert making is not None
    assert making.key == entry.key
    done = run_script(entry.folder / "build.sh", FAKE_SOURCE, cwd=tmp_path / "here")
    assert done.returncode == 0, done.stdout
    assert digest(tmp_path / "here/server") == entry.about["sha256"] == digest(entry.folder / "bin/server")
    assert ("start it with LD_PRELOAD=/" in done.stdout) == recipe.preload
    assert ("made for the processor" in done.stdout) == (recipe.target == "native")
    assert not (shop.builder.work / "given").exists()


def test_files_of_the_package_stand_in_the_script(tmp_path: Path) -> None:
    """What a step names in Burnish's own folder, or in its engine's, is not there on a machine without them."""
    file = Path(reproducer.__file__).with_name("reproducer.sh")
    other = tmp_path / "site-packages" / "tally" / "extra.cmake"
    other.parent.mkdir(parents=True)
    other.write_text("# extra\n")
    step = Command("configure", ("cmake", f"-DX={file}", "-DY=1", f"-DZ={other}"))
    root = tmp_path / "root"
    (moved,), (laid, extra) = witness._without_packages((step,), root, (file.parent, other.parent))
    assert isinstance(moved, Command)
    assert moved.argv == ("cmake", f"-DX={root}/given/reproducer.sh", "-DY=1", f"-DZ={root}/given/extra.cmake")
    assert (laid.path, laid.content) == ("given/reproducer.sh", file.read_text())
    assert (extra.path, extra.content) == ("given/extra.cmake", "# extra\n")


def test_the_script_runs_what_the_build_ran(shop: Shop) -> None:
    """The steps in the description are those that the workbench was given, without what watches or caches them."""
    ran: list[tuple[str, ...]] = []
    real = shop.builder.bench.run

    def watch(what: str, argv: list[str | Path], **rest: object) -> object:
        ran.append(tuple(map(str, argv)))
        return real(what, argv, **rest)  # type: ignore[arg-type]

    shop.builder.bench.run = watch  # type: ignore[method-assign, assignment]
    making = witness.read(made_by(shop, Recipe()).about)
    assert making is not None
    steps = [step.argv for step in making.steps if isinstance(step, Command)]
    bare = [argv[-len(step) :] for argv, step in zip(ran, steps, strict=False)]
    assert bare == steps
    before = {Path(word).name for argv, step in zip(ran, steps, strict=False) for word in argv[: -len(step)]}
    assert before <= {"ccache", "meter.sh"}, "nothing else stands before a command"


def test_every_stage_of_a_chain_has_its_script(tmp_path: Path, clang: Toolchain) -> None:
    shop = shop_at(tmp_path / "home", clang)
    made_by(shop, CLANG_LTO)
    entries = [entry for entry in shop.builder.store.entries() if entry.kind == "builds"]
    assert len(entries) == 2
    assert all((entry.folder / "build.sh").stat().st_mode & 0o100 for entry in entries)


def test_a_list_of_a_sources_files_that_has_changed_is_written_again(tmp_path: Path) -> None:
    tree, folder = tmp_path / "tree", tmp_path / "sources"
    (tree / "sql").mkdir(parents=True)
    (tree / "sql/main.c").write_text("int main;\n")
    listed = witness.source_list(tree, folder, "digest")
    content = listed.read_text()
    assert content.endswith("  sql/main.c\n")
    (tree / "sql/main.c").write_text("changed, which it never is under one digest")
    assert witness.source_list(tree, folder, "digest") == listed, "it is not read again"
    (tree / "sql/main.c").write_text("int main;\n")
    for damage in (lambda: listed.write_text(content.replace("0", "1")), lambda: (listed.unlink(), listed.mkdir())):
        damage()
        assert witness.source_list(tree, folder, "digest").read_text() == content
    assert [path.name for path in folder.iterdir()] == [listed.name]
