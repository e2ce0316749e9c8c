from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from burnish.base.errors import UserError
from burnish.catalogue import load
from burnish.model.condition import Condition
from burnish.model.engine import ServerSettings
from burnish.workload import conditions, defaults_file

SERVER = load.engine("mariadb").settings


def condition_of(words: list[str], **how: Any) -> Condition:
    return conditions.condition_of(words, SERVER, **how)


def test_words_and_variables_in_any_spelling() -> None:
    result = condition_of(["transport=tls", "binlog=on", "innodb-buffer-pool-size=2G", "Threads-By=pool"])
    assert result == Condition(
        transport="tls",
        settings=(
            ("log_bin", "binlog"),
            ("server_id", "1"),
            ("innodb_buffer_pool_size", "2G"),
            ("thread_handling", "pool-of-threads"),
        ),
    )
    assert condition_of([]) == Condition()


def test_a_later_word_replaces_an_earlier_one() -> None:
    first = condition_of(["binlog=on", "sync_binlog=5", "durability=system"])
    assert dict(first.settings)["sync_binlog"] == "0"
    second = condition_of(["binlog=off"], over=first)
    assert "log_bin" not in dict(second.settings)
    assert conditions.difference(first, second) == "skip_log_bin=ON"
    assert "log_bin" not in dict(condition_of(["disable-log-bin=ON"], over=first).settings)
    assert conditions.difference(first, condition_of(["transport=tcp"], over=first)) == "transport=tcp"
    assert conditions.words_of(condition_of(["transport=tcp", "x=1"])) == "transport=tcp,x=1"


def test_a_network_between_two_hosts_has_limits() -> None:
    limited = condition_of(["transport=remote,rate=100Mbit,delay=1ms", "sql_mode=A,B"])
    assert limited == Condition(transport="remote", rate="100mbit", delay="1ms", settings=(("sql_mode", "A,B"),))
    assert limited.limited
    assert condition_of(["transport=remote", "rate=100mbit"]) == Condition(transport="remote", rate="100mbit")
    assert conditions.words_of(limited) == "transport=remote,rate=100mbit,delay=1ms,sql_mode=A,B"
    slower = condition_of(["rate=10mbit,delay=none"], over=limited, option="--versus")
    assert conditions.difference(limited, slower) == "rate=10mbit,delay=none"
    here = condition_of(["transport=tcp"], over=limited, option="--versus")
    assert conditions.difference(limited, here) == "transport=tcp"
    assert not here.limited


def test_storage_is_a_condition() -> None:
    assert condition_of(["storage=memory"]) == Condition(storage="memory")
    assert conditions.words_of(condition_of(["storage=/mnt/second", "x=1"])) == "storage=/mnt/second,x=1"
    first = condition_of(["storage=memory"])
    assert conditions.difference(first, condition_of(["storage=disk"], over=first)) == "storage=disk"
    with pytest.raises(UserError, match=r"storage=floppy: give disk \(.*\), memory \(.*\), or the full path"):
        condition_of(["storage=floppy"])


def test_data_are_on_the_disk_unless_asked_for_elsewhere() -> None:
    assert Condition().place == "disk"
    assert Condition(storage="memory").place == "memory"


@pytest.mark.parametrize(
    ("words", "durability"),
    [
        ([], "commit"),
        (["durability=system"], "system"),
        (["durability=second"], "second"),
        (["sync_binlog=0"], ""),
        (["innodb_flush_log_at_trx_commit=2"], ""),
    ],
)
def test_durability_is_named_by_what_is_set(words: list[str], durability: str) -> None:
    assert conditions.durability_of(condition_of(words).settings, SERVER) == durability


def test_a_server_without_the_word_has_no_durability() -> None:
    assert conditions.durability_of([], ServerSettings()) == ""


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("transport", "--set transport: write NAME=VALUE"),
        ("transport=tsl", "unknown value in --set transport= 'tsl' (did you mean 'tls'?)"),
        ("durability=none", "unknown value in --set durability= 'none'; there are: commit, second, system"),
        ("datadir=/var/lib/mysql", "--set datadir=/var/lib/mysql: Burnish decides datadir"),
        ("--port=3306", "--set --port=3306: Burnish decides port"),
        ("general_log_file=/var/log/g", "--set general_log_file=/var/log/g: general_log_file names a place outside"),
        ("log_bin=../binlog", "--set log_bin=../binlog: log_bin names a place outside of Burnish's folders"),
        ("rate=100mbit", "--set: rate and delay are those of a network between two hosts; say transport=remote"),
        ("transport=remote,rate=fast", "--set rate=fast: give a rate, as in 100mbit"),
        ("transport=remote,delay=0ms", "--set delay=0ms: give a delay of each direction, as in 1ms"),
        ("transport=remote,rat=1mbit", "--set rat=1mbit: a transport has rate= and delay= beside it"),
    ],
)
def test_what_cannot_be_set_is_told(word: str, says: str) -> None:
    with pytest.raises(UserError) as caught:
        condition_of([word])
    assert str(caught.value).startswith(says)


CNF = """\
# of a production server
[client]
socket = /run/mysqld/mysqld.sock
[mysqld]
user = mysql
port = 3306
innodb-buffer-pool-size = 4G   # most of it
skip-name-resolve
[mariadb-10.11]
sql_mode = "STRICT_TRANS_TABLES"
[mysqldump]
quick
"""


def test_the_servers_groups_of_a_configuration_are_taken() -> None:
    settings, notes = defaults_file.parse(CNF, "my.cnf", SERVER, "10.11")
    assert settings == (
        ("innodb_buffer_pool_size", "4G"),
        ("skip_name_resolve", "ON"),
        ("sql_mode", "STRICT_TRANS_TABLES"),
    )
    assert notes == (
        "[mariadb-10.11] (line 9) is read, as a server of 10.11 does",
        "user, port left out: Burnish decides these",
    )


def test_a_group_for_one_version_is_left_out_and_told() -> None:
    """Which version the server is turns out when its source is there; another one's settings would be wrong for it."""
    text = "[mysqld-5.7]\nmax_connections=5\n[client-server]\nmax_allowed_packet=1G\n[mysqldump]\nquick\n"
    settings, (note,) = defaults_file.parse(text, "my.cnf", SERVER)
    assert settings == (("max_allowed_packet", "1G"),)
    assert note == "[mysqld-5.7] (line 1) left out: not for a release that is known yet"


def test_loose_stays_and_plugins_add_up() -> None:
    text = "[mysqld]\nloose-rocksdb_cache=5\nplugin-load-add=a\nplugin_load_add = b\nsql_mode =\n"
    assert defaults_file.parse(text, "my.cnf", SERVER)[0] == (
        ("loose_rocksdb_cache", "5"),
        ("plugin_load_add", "a;b"),
        ("sql_mode", ""),
    )
    with pytest.raises(UserError, match="loose_datadir"):
        defaults_file.parse("[mysqld]\nloose-datadir = x\n", "my.cnf", SERVER)


@pytest.mark.parametrize("engine", ["mariadb", "mysql"])
def test_each_line_of_a_setting_that_adds_up_is_kept(engine: str) -> None:
    text = """[mysqld]
performance-schema-instrument = 'wait/synch/%=ON'
max_connections = 5
performance_schema_instrument = "stage/%=OFF"
loose-replicate-do-table = a.b
loose_replicate_do_table = a.c
binlog-ignore-db = one
binlog-ignore-db = two
optimizer_switch = index_merge=off
optimizer_switch = mrr=on
max-connections = 7
"""
    settings, notes = defaults_file.parse(text, "my.cnf", load.engine(engine).settings)
    assert settings == (
        ("performance_schema_instrument", "wait/synch/%=ON"),
        ("performance_schema_instrument", "stage/%=OFF"),
        ("max_connections", "7"),
        ("loose_replicate_do_table", "a.b"),
        ("loose_replicate_do_table", "a.c"),
        ("binlog_ignore_db", "one"),
        ("binlog_ignore_db", "two"),
        ("optimizer_switch", "index_merge=off"),
        ("optimizer_switch", "mrr=on"),
    )
    assert notes == ()


def test_a_variable_may_be_empty_and_loose() -> None:
    assert condition_of(["sql_mode=", "loose-Max-Connections=5"]).settings == (
        ("sql_mode", ""),
        ("loose_max_connections", "5"),
    )
    for word in ("transport=", "binlog=", "=5", "sql_mode"):
        with pytest.raises(UserError, match="write NAME=VALUE"):
            condition_of([word])


def test_all_foreign_paths_are_named() -> None:
    text = "[mysqld]\ndatadir=/var/lib/mysql\nlog_bin = /var/log/bin\nmax_connections=5\n"
    with pytest.raises(UserError) as caught:
        defaults_file.parse(text, "my.cnf", SERVER)
    message = str(caught.value)
    assert message.startswith(
        "my.cnf: it names places outside of Burnish's folders: datadir (line 2), log_bin (line 3);"
    )
    with pytest.raises(UserError, match=r"my.cnf:1: !includedir brings in other files"):
        defaults_file.parse("!includedir /etc/mysql/conf.d/\n", "my.cnf", SERVER)


def test_words_are_the_engines_own() -> None:
    """Of an engine that knows none, they are settings like any other, for the engine to refuse."""
    plainly = conditions.condition_of(["durability=commit", "datadir=x", "log_bin=a", "skip_log_bin=ON"])
    assert plainly.settings == (("durability", "commit"), ("datadir", "x"), ("log_bin", "a"), ("skip_log_bin", "ON"))
    own = ServerSettings(
        words={"safe": {"yes": (("fsync", "on"), ("full_page_writes", "on"))}},
        reserved=frozenset({"port"}),
        opposed=(("a", "b"),),
        option_groups=("server",),
    )
    assert conditions.condition_of(["b=2", "safe=yes", "a=1"], own).settings == (
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("a", "1"),
    )
    with pytest.raises(UserError, match="Burnish decides port"):
        conditions.condition_of(["port=5432"], own)
    text = "[server]\nport = 5\n[server-16]\nx = 1\n[mysqld]\nmax_connections = 5\n"
    with pytest.raises(UserError, match=r"places outside of Burnish's folders: port \(line 2\)"):
        defaults_file.parse(text, "a.conf", own)
    groups = replace(own, reserved=frozenset(), release_groups=("server",))
    assert defaults_file.parse(text, "a.conf", groups, "16") == (
        (("port", "5"), ("x", "1")),
        ("[server-16] (line 3) is read, as a server of 16 does",),
    )
