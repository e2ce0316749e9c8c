"""Which settings of a host the packaged file of paths would override: those that are read before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.catalogue import load
from burnish.engines.registry import packaged
from burnish.packages import comparing

DEBIANS = """\
[client-server]
# port = 3306
socket = /run/mysqld/mysqld.sock

!includedir /etc/mysql/conf.d/
!includedir /etc/mysql/mariadb.conf.d/
"""

VALUES = {"datadir": "/var/lib/mysql/", "socket": "/run/mysqld/mysqld.sock"}


def overrides(root: Path, files: dict[str, str]) -> list[str]:
    for name, text in {"etc/mysql/my.cnf": DEBIANS, **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    said = comparing.overrides(packaged(load.engine("mariadb")), VALUES, root)
    return [one.replace(f"{root}/", "/") for one in said]


@pytest.mark.parametrize(
    "name",
    [
        "etc/mysql/conf.d/local.cnf", "etc/mysql/conf.d/01.cnf", "etc/mysql/mariadb.conf.d/00-first.cnf",
        "etc/mysql/mariadb.conf.d/50-server.cnf",
    ],
)  # fmt: skip
def test_what_a_user_wrote_in_the_folders_goes_on_to_count(name: str, tmp_path: Path) -> None:
    (tmp_path / "etc/mysql/conf.d").mkdir(parents=True)
    (tmp_path / "etc/mysql/mariadb.conf.d").mkdir()
    assert overrides(tmp_path, {name: "[mysqld]\ndatadir = /srv/mysql\n"}) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("etc/my.cnf", "[mysqld]\ndatadir=/srv/mysql\n"),
        ("etc/my.cnf", "[client]\nuser=x\n[mariadb-10.11]\nloose_datadir\t= '/srv/mysql' # ours\n"),
        ("etc/mysql/my.cnf", f"[server]\ndatadir = /srv/mysql/\n{DEBIANS}"),
        ("etc/mysql/conf.d/00-before.cnf", "[mysqld]\nskip-name-resolve\ndatadir = /srv/mysql\n"),
    ],
)
def test_what_is_read_before_the_packaged_file_is_named(name: str, text: str, tmp_path: Path) -> None:
    earlier = {"etc/mysql/mariadb.conf.d/40-burnish-paths.cnf": "[mysqld]\ndatadir = /var/lib/mysql/\n"}
    (said,) = overrides(tmp_path, {name: text, **earlier})
    assert said.startswith(f"/{name} sets datadir = /srv/mysql")
    assert "/etc/mysql/conf.d/00-burnish-paths.cnf of the package, which is read after it, /var/lib/mysql/;" in said
    assert said.endswith("as /etc/mysql/conf.d/local.cnf")


def test_what_is_the_same_or_set_again_later_or_not_the_servers_is_no_matter(tmp_path: Path) -> None:
    files = {"etc/my.cnf": "[mysqld]\ndatadir = /var/lib/mysql\n[client]\nsocket = /tmp/s\n"}
    assert overrides(tmp_path, files) == []
    files["etc/my.cnf"] = "[mysqld]\ndatadir = /srv/old\n"
    assert len(overrides(tmp_path, files)) == 1
    later = {"etc/mysql/mariadb.conf.d/60-ours.cnf": "[mysqld]\ndatadir = /srv/mysql\n"}
    assert overrides(tmp_path, files | later) == []


def test_files_that_include_each_other_come_to_an_end(tmp_path: Path) -> None:
    assert overrides(tmp_path, {"etc/my.cnf": "!include /etc/my.cnf\n!include /etc/none.cnf\n!else\n"}) == []
