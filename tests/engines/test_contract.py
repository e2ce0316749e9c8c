"""The engines pass the tests that every engine passes."""

from __future__ import annotations

import pytest

from burnish.engines.contract import Built, Workload
from burnish.engines.testing import (
    ConditionContract,
    EngineContract,
    FilesContract,
    ProgramContract,
    SideContract,
)
from mariadb_support import mysql_server, real_server, small


class TestFake(EngineContract):
    name = "fake"
    wrong_flags = ("-DFAKE_WRONG",)


class TestSqliteFiles(FilesContract):
    name = "sqlite"


class TestMariaDBFiles(FilesContract):
    name = "mariadb"


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
