"""The distribution's package, on stand-ins for apt and a real archive where dpkg-deb is there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.base import process
from burnish.base.errors import UserError
from burnish.source.debian import released

MADISON = """\
serverd | 1:2.0-1 | http://mirror.example/security bookworm-security/main amd64 Packages
serverd | 1:1.9-1 | http://mirror.example/debian bookworm/main amd64 Packages
serverd | 1:1.9-1 | http://mirror.example/debian bookworm/main Sources
"""

APT_CACHE = """\
#!/bin/sh
case "$1 $2" in
  "madison serverd") cat {madison} ;;
  "show serverd=1:1.9-1") printf 'Package: serverd\\nSize: 14200000\\nInstalled-Size: 60000\\n' ;;
esac
exit 0
"""

GET = """\
#!/bin/sh
# A mirror that lags behind its index: it no longer has what is newest.
for word; do last=$word; done
echo "$last" >> {asked}
case $last in
  serverd=1:2.0-1) echo 'E: Failed to fetch http://mirror.example/serverd.deb  404  Not Found'; exit 100 ;;
  *) cp {deb} ./serverd_1.9-1_amd64.deb ;;
esac
"""


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Puts an apt of ours first in PATH, whose package has the program of this name; returns what was asked for."""

    def make(program: str) -> Path:
        root = tmp_path / "package"
        (root / "DEBIAN").mkdir(parents=True)
        control = "Package: serverd\nVersion: 1:1.9-1\nArchitecture: amd64\nMaintainer: N. N. <n@mirror.example>\n"
        (root / "DEBIAN/control").write_text(control + "Description: a server\n")
        (root / "usr/sbin").mkdir(parents=True)
        (root / "usr/sbin" / program).write_text("the program")
        (root / "usr/sbin/alias").symlink_to(program)
        deb, asked = tmp_path / "made.deb", tmp_path / "asked"
        process.run(["dpkg-deb", "--root-owner-group", "-b", root, deb]).check("packing")
        programs = tmp_path / "programs"
        programs.mkdir()
        (tmp_path / "madison").write_text(MADISON)
        (programs / "apt-cache").write_text(APT_CACHE.format(madison=tmp_path / "madison"))
        (programs / "apt-get").write_text(GET.format(asked=asked, deb=deb))
        for path in programs.iterdir():
            path.chmod(0o755)
        monkeypatch.setenv("PATH", str(programs), prepend=":")
        return asked

    if shutil.which("dpkg-deb") is None:
        pytest.skip("no dpkg-deb here")
    return make


def test_the_version_that_is_built_is_preferred_and_kept(mirror: Callable[[str], Path], tmp_path: Path) -> None:
    asked, cache, messages = mirror("serverd"), tmp_path / "cache", list[str]()
    result = released.obtain("serverd", "serverd", "1:1.9-1", cache=cache, say=messages.append)
    assert result == cache / "serverd_1_1.9-1/usr/sbin/serverd"
    assert result.read_text() == "the program"
    assert asked.read_text().split() == ["serverd=1:1.9-1"]
    assert messages[0] == "downloading serverd 1:1.9-1 (14.2 MB), to be unpacked and not installed"
    assert released.obtain("serverd", "serverd", "1:1.9-1", cache=cache, say=messages.append) == result
    assert len(messages) == 1
    assert [path.name for path in cache.iterdir()] == ["serverd_1_1.9-1"]


def test_a_version_that_the_mirror_lost_gives_way_to_the_next(mirror: Callable[[str], Path], tmp_path: Path) -> None:
    asked = mirror("serverd")
    result = released.obtain("serverd", "serverd", "7.0", cache=tmp_path / "cache", say=lambda _: None)
    assert "1.9-1" in str(result)
    assert asked.read_text().split() == ["serverd=1:2.0-1", "serverd=1:1.9-1"]


def test_what_can_not_be_had_is_said_in_one_line(mirror: Callable[[str], Path], tmp_path: Path) -> None:
    mirror("otherd")
    with pytest.raises(UserError, match=r"serverd 1:1\.9-1 has no serverd; --release PATH"):
        released.obtain("serverd", "serverd", "1:1.9-1", cache=tmp_path / "cache", say=lambda _: None)
    with pytest.raises(UserError, match="apt lists no package unknown"):
        released.obtain("unknown", "serverd", "", cache=tmp_path / "cache", say=lambda _: None)
    (tmp_path / "made.deb").unlink()
    (tmp_path / "madison").write_text(MADISON.replace("1.9", "1.8"))
    with pytest.raises(
        UserError, match=r"can't be had \(1:2\.0-1: Failed to fetch .*404.*; 1:1\.8-1: .*`apt-get update`"
    ):
        released.obtain("serverd", "serverd", "", cache=tmp_path / "cache", say=lambda _: None)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["serverd_1_1.9-1"], "nothing half-made"
