from __future__ import annotations

import email.utils
import functools
import hashlib
import http.server
import io
import os
import shutil
import signal
import sys
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from burnish.base import process
from burnish.base.errors import InfrastructureError, UserError
from burnish.source import sources
from burnish.source.debian import package
from burnish.source.sources import DebianSource, Source, SourceRequest

needs_apt = pytest.mark.skipif(shutil.which("apt-get") is None, reason="apt-get is not installed")


def tarball(path: Path, members: dict[str, str]) -> Path:
    with tarfile.open(path, f"w:{path.suffix[1:]}") as tar:  # type: ignore[call-overload]
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(text.encode()), 0o755 if text.startswith("#!") else 0o644
            tar.addfile(info, io.BytesIO(text.encode()))
    return path


def diff(file: str, old: str, new: str) -> str:
    return f"--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-{old}\n+{new}\n"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@dataclass
class Mirror:
    """A small Debian mirror, and a host that has it in its sources."""

    root: Path
    packages: dict[str, list[str]] = field(default_factory=dict)  # by "repository/suite"
    server: http.server.ThreadingHTTPServer | None = None
    clock: int = 1_767_225_600  # each index is a minute newer, or apt would take it for the one it has

    @property
    def host(self) -> Path:
        return self.root / "host"

    def start(self) -> None:
        handler = functools.partial(Quiet, directory=str(self.root / "www"))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        url = f"http://127.0.0.1:{self.server.server_port}"
        lines = [
            f"deb [trusted=yes] {url}/debian bookworm main",
            f"deb [trusted=yes] {url}/debian-security bookworm-security main",
            f"deb [trusted=yes] {url}/vendor bookworm main",
            "deb https://deb.nodesource.invalid/node_20.x nodistro main",
        ]
        (self.host / "etc/apt").mkdir(parents=True)
        (self.host / "etc/apt/sources.list").write_text("\n".join(lines) + "\n")
        (self.host / "etc/os-release").write_text('ID=debian\nVERSION_CODENAME="bookworm"\n')
        for place, origin in (
            ("debian/bookworm", "Debian"),
            ("debian-security/bookworm-security", "Debian"),
            ("vendor/bookworm", "Vendor"),
        ):
            self.packages[place] = []
            self.index(place, origin)

    def stop(self) -> None:
        if self.server is not None:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def pool(self, place: str) -> Path:
        return self.root / "www" / place.partition("/")[0] / "pool"

    def index(self, place: str, origin: str = "Debian") -> None:
        repository, suite = place.split("/")
        folder = self.root / "www" / repository / "dists" / suite
        (folder / "main/source").mkdir(parents=True, exist_ok=True)
        index = folder / "main/source/Sources"
        index.write_text("\n".join(self.packages[place]))
        (folder / "Release").write_text(
            f"Origin: {origin}\nSuite: {suite}\nCodename: {suite}\nComponents: main\n"
            f"Date: {email.utils.formatdate(self.clock, usegmt=True)}\n"
            f"SHA256:\n {sha256(index)} {index.stat().st_size} main/source/Sources\n"
        )
        self.clock += 60
        os.utime(folder / "Release", (self.clock, self.clock))
        os.utime(index, (self.clock, self.clock))

    def add(
        self,
        version: str,
        place: str = "debian/bookworm",
        *,
        orig: dict[str, str] | None = None,
        patch: str = diff("main.c", "int a;", "int patched;"),
        origin: str = "Debian",
        source_format: str = "3.0 (quilt)",
    ) -> None:
        """A package `tiny` with a component, a debian/ of upstream's own that must go, and two patches."""
        pool = self.pool(place)
        pool.mkdir(parents=True, exist_ok=True)
        stem = version.rpartition(":")[2]
        upstream = stem.rpartition("-")[0]
        top = f"tiny-{upstream}"
        content = {f"{top}/main.c": "int a;\n", f"{top}/VERSION": upstream, f"{top}/debian/theirs": "x"}
        files = [
            tarball(pool / f"tiny_{upstream}.orig.tar.gz", orig or content),
            tarball(pool / f"tiny_{upstream}.orig-www.tar.xz", {"www/index.html": "<p>\n"}),
            tarball(
                pool / f"tiny_{stem}.debian.tar.xz",
                {
                    "debian/rules": "#!/usr/bin/make\n",
                    "debian/patches/series": "# first\none.patch\n\ntwo.patch # and why\n",
                    "debian/patches/one.patch": patch,
                    "debian/patches/two.patch": diff("www/index.html", "<p>", "<h1>"),
                },
            ),
            pool / f"tiny_{upstream}.orig.tar.gz.asc",
        ]
        files[-1].write_text("a signature\n")
        listed = "".join(f"\n {sha256(file)} {file.stat().st_size} {file.name}" for file in files)
        common = f"Format: {source_format}\nBinary: tiny\nVersion: {version}\nArchitecture: any\n"
        dsc = pool / f"tiny_{stem}.dsc"
        dsc.write_text(
            "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n"
            f"Source: tiny\n{common}Checksums-Sha256:{listed}\n\n-----BEGIN PGP SIGNATURE-----\n\nxx\n"
        )
        line = f"\n {sha256(dsc)} {dsc.stat().st_size} {dsc.name}"
        self.packages[place].append(f"Package: tiny\n{common}Directory: pool\nChecksums-Sha256:{line}{listed}\n")
        self.index(place, origin)


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    config = tmp_path / "test.conf"
    config.write_text('Acquire::Retries "0";\nAcquire::http::Proxy::127.0.0.1 "DIRECT";\n')
    monkeypatch.setenv("APT_CONFIG", str(config))
    made = Mirror(tmp_path / "mirror")
    made.start()
    yield made
    made.stop()


OLD, NEW = "1:1.2.9-1+deb12u1", "1:1.2.10-0+deb12u1"  # by Debian's order 10 is newer than 9
SECURITY = "debian-security/bookworm-security"


@dataclass
class Lab:
    mirror: Mirror
    cache: Path
    place: Path
    said: list[str] = field(default_factory=list)

    def request(self, version: str | None = None) -> SourceRequest:
        return SourceRequest("tiny-engine", DebianSource("tiny", version))

    def resolve(self, request: SourceRequest | None = None) -> Source:
        result = request or self.request()
        return sources.resolve(result, cache=self.cache, say=self.said.append, host=self.mirror.host)

    def unpack(self, source: Source, request: SourceRequest | None = None) -> Path:
        return sources.unpack(source, request or self.request(), cache=self.cache, place=self.place)

    def cached(self, name: str) -> Path:
        return next((self.cache / "debian").glob(f"*/{name}"))

    def a_day_passes(self) -> None:
        for path in (*self.cache.glob("apt/*/refreshed"), *self.cache.glob("debian/.resolved-*")):
            os.utime(path, (1, 1))


@pytest.fixture
def lab(mirror: Mirror, tmp_path: Path) -> Lab:
    mirror.add(OLD)
    mirror.add(NEW, SECURITY)
    return Lab(mirror, tmp_path / "home/downloads", tmp_path / "home/work/tiny/src")


def beside(place: Path) -> list[str]:
    """What is left beside the tree, locks aside."""
    return [path.name for path in place.parent.glob("*") if not path.name.endswith(".lock")]


@needs_apt
def test_newest_is_fetched_and_unpacked_with_components_and_patches(lab: Lab) -> None:
    before = sorted((lab.mirror.host / "etc/apt").rglob("*"))
    source = lab.resolve()
    assert (source.name, source.version, source.note) == ("tiny", NEW, None)
    assert source.origin == f"Debian source package tiny {NEW} (bookworm-security)"
    assert [name for name, _ in source.archives] == [
        "tiny_1.2.10.orig.tar.gz",
        "tiny_1.2.10.orig-www.tar.xz",
        "tiny_1.2.10-0+deb12u1.debian.tar.xz",
    ]
    tree = lab.unpack(source)
    assert tree == lab.place
    assert (tree / "main.c").read_text() == "int patched;\n"
    assert (tree / "www/index.html").read_text() == "<h1>\n"
    assert os.access(tree / "debian/rules", os.X_OK)
    assert not (tree / "debian/theirs").exists()
    assert sorted((lab.mirror.host / "etc/apt").rglob("*")) == before
    assert beside(lab.place) == ["src"]


@needs_apt
def test_version_the_mirror_lost_gives_the_next_older_one_and_says_so(lab: Lab) -> None:
    (lab.mirror.pool(SECURITY) / "tiny_1.2.10-0+deb12u1.dsc").unlink()
    source = lab.resolve()
    assert source.version == OLD
    assert source.note == f"{NEW} is signed but the mirror no longer has it (404); used {OLD}"
    assert source.note in lab.said
    assert lab.resolve() == source  # and it is remembered, note included


@needs_apt
def test_pinned_version_the_mirror_lost_is_an_error_with_the_way_out(lab: Lab) -> None:
    (lab.mirror.pool(SECURITY) / "tiny_1.2.10.orig.tar.gz").unlink()
    with pytest.raises(UserError, match=r"404.*has 1:1\.2\.9-1\+deb12u1: pin one of these.*--source") as error:
        lab.resolve(lab.request(NEW))
    assert "\n" not in str(error.value)


@needs_apt
def test_pinned_version(lab: Lab) -> None:
    assert lab.resolve(lab.request(OLD)).version == OLD
    assert lab.resolve(lab.request("1.2.9")).version == OLD
    with pytest.raises(UserError, match=r"tiny 7: no such version.*1\.2\.10.*1\.2\.9.*--source"):
        lab.resolve(lab.request("7"))


@needs_apt
def test_unknown_package(lab: Lab) -> None:
    with pytest.raises(UserError, match=r"no such source package in bookworm.*--source"):
        lab.resolve(SourceRequest("x", DebianSource("nothing")))


@needs_apt
def test_another_vendors_suite_of_the_same_name_is_not_debians(lab: Lab) -> None:
    lab.mirror.add("1:9.0-1", "vendor/bookworm", origin="Vendor")
    assert lab.resolve().version == NEW


@needs_apt
def test_cached_works_without_network(lab: Lab) -> None:
    online = lab.resolve()
    lab.mirror.stop()
    assert lab.resolve() == online
    lab.a_day_passes()
    offline = lab.resolve()
    assert offline.digest == online.digest
    assert offline.note is not None
    assert "could not be refreshed" in offline.note
    assert "from the cache" in offline.note
    assert (lab.unpack(offline) / "main.c").is_file()
    lab.said.clear()
    assert lab.resolve().note is None  # asked once a day, not at every call
    assert not lab.said


@needs_apt
def test_pinned_and_cached_never_asks_the_network(lab: Lab) -> None:
    lab.resolve()
    lab.mirror.stop()
    lab.a_day_passes()
    lab.said.clear()
    assert lab.resolve(lab.request(NEW)).note is None
    assert not lab.said


@needs_apt
def test_newer_version_is_found_when_the_day_is_over(lab: Lab) -> None:
    lab.resolve()
    lab.mirror.add("1:1.2.11-1")
    assert lab.resolve().version == NEW
    lab.a_day_passes()
    assert lab.resolve().version == "1:1.2.11-1"


@needs_apt
def test_index_that_lists_what_was_replaced_is_fetched_again(lab: Lab) -> None:
    lab.resolve(lab.request(OLD))  # the index is fresh now
    shutil.rmtree(lab.mirror.pool(SECURITY))
    lab.mirror.packages[SECURITY].clear()
    lab.mirror.add("1:1.2.11-1", SECURITY)
    source = lab.resolve()
    assert (source.version, source.note) == ("1:1.2.11-1", None)


@needs_apt
def test_newest_unreachable_but_older_cached(lab: Lab) -> None:
    lab.resolve(lab.request(OLD))
    lab.mirror.stop()
    source = lab.resolve()
    assert source.version == OLD
    assert source.note is not None
    assert f"{NEW} cannot be downloaded" in source.note


@needs_apt
def test_no_network_and_no_cache(lab: Lab) -> None:
    lab.mirror.stop()
    with pytest.raises(InfrastructureError, match=r"connect.*--source"):
        lab.resolve()


@needs_apt
def test_file_that_is_not_what_was_signed_never_enters_the_cache(lab: Lab) -> None:
    path = lab.mirror.pool(SECURITY) / "tiny_1.2.10.orig.tar.gz"
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(InfrastructureError, match=r"1\.2\.10.*cannot be downloaded"):
        lab.resolve(lab.request(NEW))
    assert package.load(lab.cache, "tiny", NEW) is None


@needs_apt
def test_cached_file_that_changed_is_refused_and_kept(lab: Lab) -> None:
    source = lab.resolve()
    path = lab.cached("tiny_1.2.10.orig.tar.gz")
    path.write_bytes(path.read_bytes() + b"!")
    for attempt in (lab.resolve, lambda: lab.unpack(source)):
        with pytest.raises(UserError, match=r"tiny_1\.2\.10\.orig\.tar\.gz: its SHA-256 is .*nothing was unpacked"):
            attempt()
    assert path.exists()
    assert beside(lab.place) == []


@needs_apt
def test_cached_dsc_that_changed_is_refused(lab: Lab) -> None:
    source = lab.resolve()
    dsc = lab.cached("*.dsc")
    dsc.write_text(dsc.read_text().replace("tiny", "tiny "))
    with pytest.raises(UserError, match=r"\.dsc: its SHA-256"):
        lab.unpack(source)


@needs_apt
def test_half_a_download_is_not_taken_for_a_whole(lab: Lab) -> None:
    partial = lab.cache / "debian/.partial/tiny_1%3a1.2.10-0+deb12u1"
    partial.mkdir(parents=True)
    whole = (lab.mirror.pool(SECURITY) / "tiny_1.2.10.orig.tar.gz").read_bytes()
    (partial / "tiny_1.2.10.orig.tar.gz").write_bytes(whole[:50])
    assert package.load(lab.cache, "tiny", NEW) is None
    source = lab.resolve()
    assert lab.cached("tiny_1.2.10.orig.tar.gz").read_bytes() == whole
    assert (lab.unpack(source) / "main.c").is_file()


@needs_apt
def test_hostile_package_is_refused_and_leaves_nothing(lab: Lab) -> None:
    lab.mirror.add("1:2.0-1", orig={"t/good": "x", "t/../../../evil": "x"})
    source = lab.resolve()
    with pytest.raises(UserError, match=r"tiny_2\.0\.orig\.tar\.gz: its member .*outside"):
        lab.unpack(source)
    assert beside(lab.place) == []
    assert not list(lab.cache.parent.rglob("evil"))


@needs_apt
def test_package_patch_that_does_not_apply(lab: Lab) -> None:
    lab.mirror.add("1:2.0-1", patch=diff("main.c", "int q;", "int z;"))
    with pytest.raises(UserError, match=r"one\.patch: does not apply to tiny 1:2\.0-1: hunk #1 of main\.c"):
        lab.unpack(lab.resolve())
    assert beside(lab.place) == []


@needs_apt
def test_other_source_formats_are_refused(lab: Lab) -> None:
    lab.mirror.add("1:2.0-1", source_format="1.0")
    with pytest.raises(UserError, match=r"'1\.0' is not known.*--source"):
        lab.resolve()


@needs_apt
def test_marker_saves_the_work_and_another_source_replaces_the_tree(lab: Lab, tmp_path: Path) -> None:
    source = lab.resolve()
    lab.unpack(source)
    node = lab.place.stat().st_ino
    lab.unpack(source)
    assert lab.place.stat().st_ino == node
    other = local(tarball(tmp_path / "t-2.tar.gz", {"t/main.c": "int mine;\n"}))
    lab.unpack(lab.resolve(other), other)
    assert (lab.place / "main.c").read_text() == "int mine;\n"
    assert beside(lab.place) == ["src"]


def local(path: Path, **more: object) -> SourceRequest:
    return SourceRequest("tiny", None, local=path, **more)  # type: ignore[arg-type]


def resolve(request: SourceRequest, home: Path) -> Source:
    return sources.resolve(request, cache=home / "downloads", say=lambda _: None)


def unpack(source: Source, request: SourceRequest, home: Path) -> Path:
    return sources.unpack(source, request, cache=home / "downloads", place=home / "work/src")


def test_folder(tmp_path: Path) -> None:
    tree = tmp_path / "tiny-1.5"
    (tree / ".git").mkdir(parents=True)
    (tree / "main.c").write_text("int a;\n")
    request = local(tree)
    source = resolve(request, tmp_path)
    assert (source.name, source.version, source.archives) == ("tiny", "1.5", ())
    place = unpack(source, request, tmp_path)
    assert (place / "main.c").read_text() == "int a;\n"
    assert not (place / ".git").exists()
    (tree / "main.c").write_text("int b;\n")
    with pytest.raises(UserError, match="changed since"):
        sources.unpack(source, request, cache=tmp_path, place=tmp_path / "other/src")
    assert beside(tmp_path / "other/src") == []
    assert resolve(request, tmp_path).digest != source.digest


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("postgres-REL_16_2", "16.2"),
        ("postgres-REL9_6_24", "9.6.24"),
        ("postgres-REL_18_BETA1", "18beta1"),
        ("postgres-REL_17_STABLE", "17"),
        ("mariadb-10.11.18", "10.11.18"),
    ],
)
def test_versions_in_names(tmp_path: Path, name: str, version: str) -> None:
    """Data are kept by them: a server does not start on another's of PostgreSQL."""
    archive = tarball(tmp_path / f"{name}.tar.gz", {"t/main.c": "int a;\n"})
    assert resolve(local(archive), tmp_path).version == version


def test_data_of_a_folder_are_named_by_what_its_program_says_too(tmp_path: Path) -> None:
    tree = tmp_path / "pg-1"
    tree.mkdir()
    (tree / "main.c").write_text("int a;\n")
    folder = resolve(local(tree), tmp_path)
    assert folder.version == "1"
    assert len({folder.data_version(program) for program in ("", "15.2", "16.2")}) == 3
    archive = tarball(tmp_path / "postgres-REL_16_2.tar.gz", {"t/main.c": "int a;\n"})
    assert resolve(local(archive), tmp_path).data_version("16.2 of another build") == "16.2"
    debian = Source("postgresql-15", "15.18-0+deb12u1", "digest", "origin", (), None, "debian")
    assert debian.data_version("15.18") == "15.18-0+deb12u1", "as in users' stores"


def test_archive_with_and_without_digest(tmp_path: Path) -> None:
    archive = tarball(tmp_path / "tiny-src-3450100.tar.gz", {"t/main.c": "int a;\n"})
    good = sha256(archive)
    source = resolve(local(archive), tmp_path)
    assert source == resolve(local(archive, sha256=good.upper()), tmp_path)
    assert (source.version, source.archives) == ("3450100", ((archive.name, good),))
    with pytest.raises(UserError, match=r"its SHA-256 is .* asked for was 0000.*nothing was unpacked"):
        resolve(local(archive, sha256="0" * 64), tmp_path)
    tarball(archive, {"t/main.c": "int other;\n"})
    with pytest.raises(UserError, match="changed since"):
        unpack(source, local(archive), tmp_path)
    assert beside(tmp_path / "work/src") == []


def test_bad_requests_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.rar").write_text("x")
    (tmp_path / "folder").mkdir()
    for request, words in (
        (local(tmp_path / "none"), "no such file or folder"),
        (local(tmp_path / "x.rar"), "not an archive we know"),
        (local(tmp_path / "folder", sha256="0" * 64), "not for a folder"),
        (SourceRequest("tiny", None), "--source"),
        (SourceRequest("tiny", DebianSource("tiny"), sha256="0" * 64), "--source"),
    ):
        with pytest.raises(UserError, match=words) as error:
            resolve(request, tmp_path)
        assert "\n" not in str(error.value)


def test_what_a_killed_run_left_goes_though_its_tree_was_in_place(tmp_path: Path) -> None:
    archive = local(tarball(tmp_path / "t.tar.gz", {"t/main.c": "int a;\n"}))
    unpack(resolve(archive, tmp_path), archive, tmp_path)
    (tmp_path / "work/.src.unpacking/old").mkdir(parents=True)
    unpack(resolve(archive, tmp_path), archive, tmp_path)
    assert beside(tmp_path / "work/src") == ["src"]


def test_what_is_not_ours_is_not_replaced(tmp_path: Path) -> None:
    archive = tarball(tmp_path / "t.tar.gz", {"t/main.c": "int a;\n"})
    (tmp_path / "work/src").mkdir(parents=True)
    (tmp_path / "work/src/precious").write_text("x")
    with pytest.raises(UserError, match="not unpacked by Burnish"):
        unpack(resolve(local(archive), tmp_path), local(archive), tmp_path)
    assert beside(tmp_path / "work/src") == ["src"]
    assert (tmp_path / "work/src/precious").exists()


def test_folder_that_holds_our_own_is_refused(tmp_path: Path) -> None:
    source = resolve(local(tmp_path), tmp_path)
    with pytest.raises(UserError, match="is inside it"):
        unpack(source, local(tmp_path), tmp_path)


KILLED = """
import os, signal, sys
from pathlib import Path
from burnish.source import archives, sources
home, archive = Path(sys.argv[1]), Path(sys.argv[2])
request = sources.SourceRequest("tiny", None, local=archive)
source = sources.resolve(request, cache=home, say=print)
{module}.{function} = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)
sources.unpack(source, request, cache=home, place=home / "work/src")
"""


@pytest.mark.parametrize(("module", "function"), [("archives", "extract"), ("sources", "write_json")])
@pytest.mark.parametrize("before", [True, False])
def test_killed_while_unpacking(tmp_path: Path, module: str, function: str, before: bool) -> None:
    first = tarball(tmp_path / "t-1.tar.gz", {"t/main.c": "int first;\n"})
    second = tarball(tmp_path / "t-2.tar.gz", {"t/main.c": "int second;\n"})
    if before:
        unpack(resolve(local(first), tmp_path), local(first), tmp_path)
    script = KILLED.format(module=module, function=function)
    done = process.run([sys.executable, "-c", script, tmp_path, second])
    assert done.exit_code == -signal.SIGKILL
    main = tmp_path / "work/src/main.c"
    assert (main.read_text() if main.exists() else None) == ("int first;\n" if before else None)
    unpack(resolve(local(second), tmp_path), local(second), tmp_path)
    assert main.read_text() == "int second;\n"
    assert beside(tmp_path / "work/src") == ["src"]
