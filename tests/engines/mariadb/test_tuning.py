from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.engines.mariadb.product import PRODUCT
from burnish.engines.mysql_family import examine, tuning
from burnish.engines.mysql_family.loads import ServerLoads
from burnish.engines.mysql_family.tuning import Facts
from burnish.engines.testing import PlainBench
from burnish.model.condition import Condition
from burnish.model.workload import Workload
from burnish.program.built import Built
from burnish.workload import loads

HELP = """\
mariadbd  Ver 10.11
  --max-connections=# The number of simultaneous clients allowed
  -P, --port=#        Port number
  --skip-slave-start  Skips starting slave threads when the slave server starts.
                      (Defaults to on; use --skip-innodb to disable.)

Variables (--variable-name=value)
and boolean options {FALSE|TRUE}                             Value (after reading options)
------------------------------------------------------------ -------------
innodb-buffer-pool-size                                      134217728
log-bin                                                      (No default value)
max-connections                                              151
slow-query-log                                               FALSE

To see what variables a running server is using, type
"""
GOOD = {
    "innodb_buffer_pool_size": str(512 << 20),
    "innodb_log_file_size": str(96 << 20),
    "max_connections": "2048",
    "max_prepared_stmt_count": "1048576",
    "table_open_cache": "2000",
    "slow_query_log": "FALSE",
    "general_log": "FALSE",
    "query_cache_type": "OFF",
}
LOAD = Workload(
    name="w",
    engine="mariadb",
    reason="for tests",
    program="oltp_read_write",
    parameters=(("tables", "4"),),
    writes=True,
    threads=16,
    in_memory=True,
)


def facts(**values: str) -> Facts:
    return Facts({**GOOD, **values}, LOAD, data_bytes=116 << 20)


def test_the_servers_own_list_of_variables() -> None:
    found = tuning.parse_help(HELP)
    assert found["innodb_buffer_pool_size"] == "134217728"
    assert found["log_bin"] == ""
    assert "skip_slave_start" in found
    assert "port" in found
    assert len([name for name in found if found[name]]) == 3


def test_the_table_of_settings_is_read_in_one_way() -> None:
    """By the checks of settings, with underscores, and as a package's configuration file has them."""
    found, table = tuning.parse_help(HELP), tuning.defaults_in(HELP.splitlines())
    assert list(table) == ["innodb-buffer-pool-size", "log-bin", "max-connections", "slow-query-log"]
    assert table["log-bin"] == "(No default value)"
    for name, value in table.items():
        assert found[name.replace("-", "_")] == value.replace("(No default value)", "")


def test_an_unknown_variable_gets_the_nearest_name() -> None:
    known = tuning.parse_help(HELP)
    tuning.check_names({"max_connections": "5", "skip_log_bin": "ON"}, known, "mariadbd", "--set")
    tuning.check_names({"disable_log_bin", "enable_slow_query_log", "maximum_max_connections"}, known, "m", "my.cnf")
    with pytest.raises(
        UserError, match=r"unknown server variable 'max_conections' \(did you mean 'max_connections'\?\) in my\.cnf;"
    ):
        tuning.check_names({"max_conections": "5"}, known, "mariadbd", "my.cnf")


def test_a_tuned_server_gives_no_warning() -> None:
    assert tuning.warnings(facts()) == []


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("innodb_buffer_pool_size", str(64 << 20), "innodb_buffer_pool_size is 64 MB, the data of w are 116 MB"),
        ("innodb_log_file_size", str(48 << 20), "innodb_log_file_size is 48 MB, less than an eighth"),
        ("slow_query_log", "TRUE", "slow_query_log is on"),
        ("general_log", "TRUE", "general_log is on"),
        ("query_cache_type", "DEMAND", "query_cache_type is on"),
        ("max_prepared_stmt_count", "100", "max_prepared_stmt_count is 100, 16 threads on 4 tables may prepare 704"),
        ("table_open_cache", "10", "table_open_cache is 10, 16 threads on 4 tables hold 64 open"),
    ],
)
def test_what_is_untuned_is_named(name: str, value: str, says: str) -> None:
    (said,) = tuning.warnings(facts(**{name: value}))
    assert said.startswith(says)


def test_own_data_that_the_pool_does_not_hold_are_named() -> None:
    """Nothing says of them whether they are meant to fit."""
    small = facts(innodb_buffer_pool_size=str(64 << 20))
    (said,) = tuning.warnings(replace(small, workload=replace(LOAD, in_memory=False, own_data="/srv/shop.sql")))
    assert said.startswith("innodb_buffer_pool_size is 64 MB, the data of w are 116 MB")


def test_what_does_not_matter_is_not_named() -> None:
    small = facts(innodb_buffer_pool_size=str(64 << 20), max_prepared_stmt_count="100")
    load = replace(LOAD, in_memory=False, writes=False, parameters=(("tables", "4"), ("db_ps_mode", "disable")))
    assert tuning.warnings(replace(small, workload=load)) == []


def test_a_load_that_cannot_connect_is_refused() -> None:
    with pytest.raises(UserError, match=r"max_connections is 16, but w has 16 client threads .* max_connections=21"):
        tuning.warnings(facts(max_connections="16"))


def test_threads_that_a_mix_cannot_share_out_by_its_weights_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examine, "variables", lambda *_: {})
    built = Built(name="a", folder=tmp_path, server=tmp_path / "mariadbd", key="k")
    bench = PlainBench(tmp_path)

    def said(words: str) -> list[str]:
        (mix,) = ServerLoads(load.engine("mariadb")).resolve(loads.asked(words))
        return examine.examine(built, PRODUCT.habits, mix, Condition(), None, tmp_path, bench)

    assert "take a multiple of 4" in said("together:oltp_read_only=3,oltp_update_index=1,threads=6")[0]
    assert said("together:oltp_read_only=3,oltp_update_index=1,threads=8") == []
