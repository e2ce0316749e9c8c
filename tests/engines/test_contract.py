"""The engines pass the tests that every engine passes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import debians
from burnish.base.errors import InfrastructureError
from burnish.catalogue import load
from burnish.catalogue.deployment import deployment
from burnish.engines.contract import Built, Condition, Workload
from burnish.engines.postgresql.side import PostgreSQLSide
from burnish.engines.registry import create
from burnish.engines.testing import (
    ConditionContract,
    EngineContract,
    FilesContract,
    ProgramContract,
    SideContract,
)
from burnish.engines.testing.sides import Start, ticks_of
from burnish.study.workshop.launching import launched
from burnish.workload.conditions import condition_of
from mariadb_support import mysql_server, real_server, small


class TestFake(EngineContract):
    name = "fake"
    wrong_flags = ("-DFAKE_WRONG",)


class TestSqliteFiles(FilesContract):
    name = "sqlite"


class TestMariaDBFiles(FilesContract):
    name = "mariadb"


class TestPostgreSQLFiles(FilesContract):
    name = "postgresql"


class TestMySQLFiles(FilesContract):
    name = "mysql"


@pytest.mark.real
class TestMySQL(ProgramContract, SideContract, ConditionContract):
    """A server that is named, under a load with little data."""

    name = "mysql"

    @pytest.fixture(scope="class")
    @classmethod
    def built(cls) -> Built:
        return mysql_server()

    @pytest.fixture(scope="class")
    @classmethod
    def workload(cls) -> Workload:
        return small("oltp_read_only", engine="mysql")


@pytest.mark.real
class TestMariaDB(ProgramContract, SideContract, ConditionContract):
    """The installed server, under a load with little data."""

    name = "mariadb"

    @pytest.fixture(scope="class")
    @classmethod
    def built(cls) -> Built:
        return real_server()

    @pytest.fixture(scope="class")
    @classmethod
    def workload(cls) -> Workload:
        return small("oltp_read_only")


@pytest.mark.real
class TestPostgreSQL(ProgramContract, SideContract, ConditionContract):
    """Debian's own server, under a load with little data."""

    name = "postgresql"

    @pytest.fixture(scope="class")
    @classmethod
    def built(cls, tmp_path_factory: pytest.TempPathFactory) -> Built:
        return create(load.engine("postgresql")).existing(debians.postgres(tmp_path_factory.mktemp("debian")))

    @pytest.fixture(scope="class")
    @classmethod
    def workload(cls) -> Workload:
        entry = load.workload(load.engine("postgresql"), "select_only")
        return replace(entry, threads=2, parameters=(("scale", "1"), ("protocol", "simple")))

    @pytest.mark.parametrize("memory", ["1GB", "32MB"])
    def test_only_the_loads_own_pages_are_misses(self, memory: str, start: Start) -> None:
        """Autovacuum reads catalogs in all databases, at any time.

        Of a table larger than a quarter of its memory the server keeps only a few pages of a usual scan.
        """
        side = start(condition=Condition((("shared_buffers", memory),)))
        side.boot()
        side.fingerprint()
        assert isinstance(side, PostgreSQLSide)
        before = side.misses()
        side.server.query("SELECT count(*) FROM pg_attribute, pg_depend WHERE attrelid = objid", "template1")
        assert side.misses() == before
        side.fingerprint()
        assert side.misses() == before, "all rows and indexes were read, and stayed"
        side.load()
        assert len(ticks_of(side, 3)) >= 3
        assert side.misses() == before

    @pytest.mark.parametrize("method", ["fdatasync", "open_datasync"])
    def test_commits_are_seen_as_flushes(self, method: str, start: Start) -> None:
        """The server counts none of a log that is opened with O_DSYNC."""
        side = start(condition=Condition((("wal_sync_method", method),)))
        side.boot()
        assert isinstance(side, PostgreSQLSide)
        before = side.writes().done["flushes"]
        for number in range(5):
            side.server.query(f"CREATE TABLE t{number} (a int)")
        assert side.writes().done["flushes"] >= before + 5

    @pytest.mark.parametrize("name", deployment("postgresql").choices)
    def test_the_server_takes_each_way_to_deploy_it(self, name: str, built: Built, start: Start) -> None:
        """Or says what of this host's it lacks; nothing is measured."""
        choice = deployment("postgresql").choices[name]
        condition = condition_of(choice.words, load.engine("postgresql").settings)
        side = start(condition=condition, built=launched(built, condition))
        assert isinstance(side, PostgreSQLSide)
        try:
            side.boot()
        except InfrastructureError:
            assert "reserved huge pages" in choice.needs
            assert "could not map anonymous shared memory" in side.server.complaints()[0]
            return
        for setting, value in condition.settings:
            assert side.server.query(f"SHOW {setting}") == [(value,)]
        if condition.allocator:
            maps = [Path(f"/proc/{pid}/maps").read_text() for pid in side.server_pids()]
            assert all(condition.allocator in text for text in maps), "in each of its processes"
        side.load()
        assert len(ticks_of(side, 2)) >= 2
