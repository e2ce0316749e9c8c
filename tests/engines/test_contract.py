"""The engines pass the tests that every engine passes."""

from __future__ import annotations

from dataclasses import replace

import pytest

import debians
from burnish.catalogue import load
from burnish.engines.contract import Built, Workload
from burnish.engines.registry import create
from burnish.engines.testing import (
    ConditionContract,
    EngineContract,
    FilesContract,
    ProgramContract,
    SideContract,
)
from mariadb_support import real_server, small


class TestFake(EngineContract):
    name = "fake"
    wrong_flags = ("-DFAKE_WRONG",)


class TestSqliteFiles(FilesContract):
    name = "sqlite"


class TestMariaDBFiles(FilesContract):
    name = "mariadb"


class TestPostgreSQLFiles(FilesContract):
    name = "postgresql"


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
