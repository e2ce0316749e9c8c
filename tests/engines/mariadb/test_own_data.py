from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from burnish.base.errors import UserError
from burnish.engines.mariadb.product import PRODUCT
from burnish.engines.mysql.product import PRODUCT as MYSQL
from burnish.engines.mysql_family import data, own_data
from burnish.engines.mysql_family.product import Product
from burnish.engines.mysql_family.server import Server
from burnish.engines.mysql_family.side import FamilySide
from burnish.engines.shared import server_process
from burnish.engines.side import SideSpec
from burnish.model.condition import Condition
from burnish.model.workload import Workload
from burnish.program.built import Built
from mariadb_support import PlainBench


def folder(tmp_path: Path, *databases: str) -> Path:
    place = tmp_path / "theirs"
    for name in ("mysql", *databases):
        (place / name).mkdir(parents=True)
        (place / name / "t.frm").write_text("table")
    (place / "ibdata1").write_text("system")
    return place


def test_a_folder_is_copied_and_left_as_it_is(tmp_path: Path) -> None:
    place = folder(tmp_path, "shop")
    before = own_data.identity(place)
    target = tmp_path / "copy"
    target.mkdir()
    own_data.copy_folder(place, target, PlainBench(tmp_path))
    (target / "ibdata1").write_text("changed")
    assert (place / "ibdata1").read_text() == "system"
    assert own_data.identity(place) == before
    os.utime(place / "ibdata1", (1, 1))
    assert own_data.identity(place) != before


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    place = folder(tmp_path, "shop")
    held = (
        "import fcntl, sys; f = open(sys.argv[1], 'r+b'); fcntl.lockf(f, fcntl.LOCK_EX); print('held', flush=True); "
        "sys.stdin.read()"
    )
    words = [sys.executable, "-c", held, str(place / "ibdata1")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(UserError, match="a server is running on it"):
            own_data.check_folder(place)
        holder.communicate("")
    own_data.check_folder(place)


def test_parts_that_are_elsewhere_are_refused(tmp_path: Path) -> None:
    place = folder(tmp_path, "shop")
    (place / "shop" / "big.isl").write_text("/elsewhere/big.ibd")
    with pytest.raises(UserError, match=r"shop/big\.isl leads out of the folder"):
        own_data.identity(place)
    (place / "shop" / "big.isl").unlink()
    (place / "shop" / "link.ibd").symlink_to(tmp_path / "x")
    with pytest.raises(UserError, match=r"shop/link\.ibd leads out"):
        own_data.identity(place)


@pytest.mark.parametrize("row", [b"\x1eE%sid=7;\x05", b"\x00.%s\0\0\0\0\0\0\0\x08"], ids=["the row", "its index"])
@pytest.mark.parametrize("name", ["shop/big table.ibd", "general.ibd", "undo_003.ibu", "undo_001"])
def test_parts_that_mysqls_dictionary_has_elsewhere_are_refused(tmp_path: Path, row: bytes, name: str) -> None:
    place, outside = folder(tmp_path, "shop"), tmp_path / "mount" / name
    (place / "mysql.ibd").write_bytes(b"\0" * 50 + row % str(outside).encode() + b"\0" * 50)
    own_data.check_folder(place)  # dropped: there is no such file
    outside.parent.mkdir(parents=True)
    outside.touch()
    with pytest.raises(UserError, match=rf"mount/{name} is a part of it that mysql\.ibd names; it leads out"):
        own_data.identity(place)


def test_what_mysqls_dictionary_has_within_the_folder_is_no_part_elsewhere(tmp_path: Path) -> None:
    place, manual = folder(tmp_path, "shop"), tmp_path / "employee.ibd"
    manual.touch()
    rows = (b"r./shop/t.ibd\0\0\0\0", b"\x1e./shop/t.ibdid=3;", b"/./undo_001id=4294967279;", b"mysql.ibd\0\0\0")
    content = b"".join((*rows, b"format_path('", str(manual).encode(), b"');"))
    (place / "mysql.ibd").write_bytes(content)
    for name in ("shop/t.ibd", "undo_001"):
        (place / name).touch()
    own_data.check_folder(place)


def test_what_is_no_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no such thing"):
        own_data.identity(tmp_path / "nowhere")
    with pytest.raises(UserError, match="no ibdata1 in it"):
        own_data.identity(tmp_path)


def test_the_database_is_the_only_one_or_the_named_one(tmp_path: Path) -> None:
    one = folder(tmp_path / "a", "shop")
    assert own_data.database_of(one, None) == "shop"
    two = folder(tmp_path / "b", "shop", "blog")
    assert own_data.database_of(two, "blog") == "blog"
    with pytest.raises(UserError, match=r"it holds 2 databases \(blog, shop\); name one"):
        own_data.database_of(two, None)
    with pytest.raises(UserError, match=r"--database blgo: not in .*; there are: blog, shop"):
        own_data.database_of(two, "blgo")


def test_a_dump_tells_its_database_packed_or_not(tmp_path: Path) -> None:
    plain = tmp_path / "d.sql"
    plain.write_text("CREATE DATABASE `shop`;\nUSE `shop`;\nCREATE TABLE t (a INT);\n")
    packed = tmp_path / "d.sql.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert own_data.databases(plain) == own_data.databases(packed) == ["shop"]
    assert own_data.identity(plain) != own_data.identity(packed)
    assert own_data.identity(plain, "shop") == own_data.identity(plain), "it says itself where it goes"
    for name, pack in (("d.sql.xz", lzma.compress), ("d.sql.bz2", bz2.compress)):
        (tmp_path / name).write_bytes(pack(plain.read_bytes()))
        assert own_data.databases(tmp_path / name) == ["shop"]
    plain.write_text("USE `my shop`;\nCREATE TABLE t (a INT);\n")
    assert own_data.databases(plain) == ["my shop"]
    plain.write_text("CREATE TABLE t (a INT);\n")
    assert own_data.database_of(plain, None) == "sbtest"
    assert own_data.identity(plain, "shop") != own_data.identity(plain) == own_data.identity(plain, "sbtest")


def test_a_server_on_them_has_time_to_end_cleanly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It purges and merges all that a load of many minutes has left to do."""
    given: list[float] = []

    class Ending(Server):
        def boot(self) -> None:
            pass

        def query(self, *_: Any, **__: Any) -> list[tuple[object, ...]]:
            return [("t", "BASE TABLE")]

        def stop(self, patience: float = server_process.STOP_S) -> int:
            given.append(patience)
            return 0

    monkeypatch.setattr(data, "Server", Ending)
    load = Workload("w", "mariadb", "", "oltp_read_only", own_data=str(folder(tmp_path, "shop")), database="shop")
    built = Built("b", tmp_path, tmp_path / "mariadbd", "key")
    made, bench = tmp_path / "made", PlainBench(tmp_path)
    data.create_dataset(built, built, load, made, bench, product=PRODUCT, initialise=None, shaping=())
    assert given[0] > 10 * server_process.STOP_S


def settings_launched(server: Server) -> list[str]:
    """The event scheduler's option in a server's command line."""
    return [str(word) for word in server.words() if "event_scheduler" in str(word)]


@pytest.mark.parametrize("product", [PRODUCT, MYSQL])
def test_events_of_a_users_data_do_not_run_unless_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, product: Product
) -> None:
    launched: list[list[str]] = []

    def boot(server: Server) -> None:
        launched.append(settings_launched(server))
        raise UserError("launched")

    monkeypatch.setattr(Server, "boot", boot)
    theirs = Workload("w", "mariadb", "", "oltp_read_only", own_data=str(folder(tmp_path, "shop")), database="shop")
    built = Built("b", tmp_path, tmp_path / "mariadbd", "key")

    def words(load: Workload, *settings: tuple[str, str]) -> list[str]:
        place = Path(tempfile.mkdtemp(dir=tmp_path))
        spec = SideSpec("a", built, Condition(settings=settings), load, place, place, 1, frozenset({0}))
        return settings_launched(FamilySide(spec, product.habits).server)

    def made(load: Workload) -> list[str]:
        place = Path(tempfile.mkdtemp(dir=tmp_path)) / "made"
        with pytest.raises(UserError, match="launched"):
            data.create_dataset(
                built, built, load, place, PlainBench(tmp_path), product=product, initialise=None, shaping=()
            )
        return launched.pop()

    off = ["--event_scheduler=OFF"]
    assert words(theirs) == made(theirs) == off
    assert words(theirs, ("event_scheduler", "ON")) == ["--event_scheduler=ON"]
    with_file = replace(theirs, settings=(("event_scheduler", "ON"),))
    assert words(with_file) == made(with_file) == ["--event_scheduler=ON"]
    assert words(replace(theirs, own_data="")) == [], "as it was measured before"


@pytest.mark.parametrize("product", [PRODUCT, MYSQL])
def test_a_replicas_data_do_not_replicate(product: Product) -> None:
    known = {word.removeprefix("--").removeprefix("loose-") for word in product.habits.options}
    assert "skip-slave-start" in known, "of MySQL before 8.0.26, too"
    assert product is PRODUCT or "skip-replica-start" in known


def test_what_is_no_dump_is_named(tmp_path: Path) -> None:
    packed = tmp_path / "d.sql.gz"
    packed.write_bytes(b"USE `shop`;\n")
    with pytest.raises(UserError, match=r"d\.sql\.gz: can't be read \(Not a gzipped file .*give a whole dump"):
        own_data.identity(packed)
    packed.write_bytes(gzip.compress(bytes(range(1, 128)) * 90)[:60])
    with pytest.raises(UserError, match=r"can't be read .*ended before"):
        own_data.identity(packed)
    packed.with_suffix(".zst").write_bytes(b"\x28\xb5\x2f\xfd\0\0")
    with pytest.raises(UserError, match=r"d\.sql\.zst: no dump, which is text; give one \(\.sql, \.sql\.gz"):
        own_data.identity(packed.with_suffix(".zst"))


def test_a_folders_name_is_the_databases_in_the_servers_own_spelling(tmp_path: Path) -> None:
    place = folder(tmp_path, "my@002dapp")
    assert own_data.databases(place) == ["my-app"]
    assert own_data.database_of(place, None) == own_data.database_of(place, "my-app") == "my-app"
    (place / "my@002dapp" / "t.ibd").write_bytes(b"x" * 70)
    assert own_data.size(place, "my-app") == 70
    assert own_data.size(place, "shop") == 0
    assert own_data.named("caf@4e2d_1") == "caf中_1"
