"""Deployment choices: found by name, and none may change what the server promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base.engine_folders import EngineFolder
from burnish.base.errors import UserError
from burnish.catalogue import deployment as module
from burnish.catalogue import load
from burnish.catalogue.deployment import FILE, Choice, deployment, deployments
from burnish.catalogue.space import space_file
from burnish.model.condition import Condition
from burnish.report.sections import catalogue
from burnish.report.values import catalogue as values
from burnish.workload.conditions import condition_of, difference, words_of
from burnish.workload.deployment import check, choices_of, together
from drawn import drawn

MARIADB = load.engine("mariadb")
KNOWN = deployment("mariadb")


@pytest.mark.parametrize("engine", sorted(deployments()))
def test_no_choice_of_the_catalogue_changes_a_promise(engine: str) -> None:
    """The list of what must not be touched, compared with every entry."""
    spec, known = load.engine(engine), deployment(engine)
    assert {"durability"} <= set(known.promises)
    assert len(choices_of(["all"], spec, known)) == len(known.choices) > 2
    for choice in known.choices.values():
        assert not choice.only_with or condition_of([choice.only_with], spec.settings) != Condition()
    denied = Choice("mine", (f"{known.promises['durability'].settings[0]}=0",))
    with pytest.raises(UserError, match="decides about durability"):
        check(denied, spec, known.promises)


def test_a_choice_of_any_server_that_there_is_not_is_refused_by_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tally").mkdir()
    (tmp_path / "tally" / FILE).write_text('common = ["jemalloc", "jemaloc"]\n[promises]\n[choices]\n')
    folder = EngineFolder("tally", "tally", tmp_path / "tally")
    monkeypatch.setattr(module, "engine_folders", lambda: (folder,))
    with pytest.raises(UserError) as error:
        deployments.__wrapped__()
    assert str(error.value) == (
        "tally/deployment.toml: common: unknown choice 'jemaloc' (did you mean 'jemalloc'?); there are: huge-heap, "
        "jemalloc, mimalloc, tcmalloc, unix-socket"
    )


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("innodb_flush_log_at_trx_commit=2", "innodb_flush_log_at_trx_commit decides about durability"),
        ("loose-innodb-flush-log-at-trx-commit=0", "innodb_flush_log_at_trx_commit decides about durability"),
        ("durability=second", "innodb_flush_log_at_trx_commit decides about durability"),
        ("skip-innodb-doublewrite=ON", "skip_innodb_doublewrite decides about durability"),
        ("sync_relay_log=0", "sync_relay_log decides about durability"),
        ("binlog=off", "skip_log_bin decides about durability"),
        ("innodb_flush_method=nosync", "innodb_flush_method decides about durability"),
        ("innodb_flush_method=nosy", "innodb_flush_method decides about durability"),  # servers take abbreviations
        ("innodb_flush_method=3", "innodb_flush_method decides about durability"),  # and numbers
        ("loose_innodb_flush_log_at_tr=0", "innodb_flush_log_at_tr decides about durability"),  # of names too
        ("loose-skip-innodb-doublewr=ON", "skip_innodb_doublewr decides about durability"),
        ("loose_innodb_flush_meth=nosync", "innodb_flush_meth decides about durability"),
        ("loose_sync_bin=0", "sync_bin decides about durability"),
        ("loose_tx_iso=READ-COMMITTED", "tx_iso decides about isolation"),
        ("wsrep_on=ON", "wsrep_on decides about durability"),
        ("rocksdb_flush_log_at_trx_commit=0", "rocksdb_flush_log_at_trx_commit decides about durability"),
        ("init_file=other.sql", "init_file decides about answers"),
        ("tx_isolation=READ-COMMITTED", "tx_isolation decides about isolation"),
        ("query_cache_type=ON", "query_cache_type decides about answers"),
        ("storage=memory", "storage decides whether data survive"),
        ("skip_grant_tables=1", "Burnish decides skip_grant_tables"),
        ("thred-pool", "unknown choice 'thred-pool' (did you mean 'thread-pool'?); there are: all, thread-pool,"),
    ],
)
def test_what_is_refused_by_name(word: str, says: str) -> None:
    with pytest.raises(UserError) as caught:
        choices_of([word], MARIADB, KNOWN)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("fsync=off", "fsync decides about durability (a commit that was answered survives a crash)"),
        ("FSync=0", "fsync decides about durability"),  # a name in any case, a value in any spelling
        ("--full-page-writes=fa", "full_page_writes decides about durability"),
        ("synchronous_commit=local", "synchronous_commit decides about durability"),
        ("synchronous_standby_names=", "synchronous_standby_names decides about durability"),
        ("durability=second", "fsync decides about durability"),
        ("wal_level=minimal", "wal_level decides about durability"),
        ("wal_writer_delay=10s", "wal_writer_delay decides about durability"),
        ("wal_sync_method=fsync_writethrough", "wal_sync_method decides about durability"),
        ("wal_sync_method=1", "wal_sync_method decides about durability"),
        ("zero_damaged_pages=on", "zero_damaged_pages decides about durability"),
        ("default_transaction_isolation=read uncommitted", "default_transaction_isolation decides about isolation"),
        ("Deadlock_Timeout=1h", "deadlock_timeout decides about isolation"),
        ("DateStyle=German", "datestyle decides about answers"),
        ("session_replication_role=replica", "session_replication_role decides about answers"),
        ("plpgsql.variable_conflict=use_column", "plpgsql.variable_conflict decides about answers"),
        ("shared_preload_libraries=mine", "shared_preload_libraries decides about protection"),
        ("autovacuum=off", "autovacuum decides about upkeep (it works next month as it does today)"),
        ("storage=memory", "storage decides whether data survive"),
        ("PORT=1", "Burnish decides port"),
        ("large-page", "unknown choice 'large-page' (did you mean 'large-pages'?); there are: all, large-pages,"),
    ],
)
def test_what_postgresql_promises_is_refused_by_name(word: str, says: str) -> None:
    with pytest.raises(UserError) as caught:
        choices_of([word], load.engine("postgresql"), deployment("postgresql"))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_decides_about_recovery_alone_may_be_tried_on_postgresql() -> None:
    words = ["checkpoint_timeout=30min", "max_wal_size=16GB", "wal_sync_method=OPEN_SYNC", "jit=off"]
    chosen = choices_of(words, load.engine("postgresql"), deployment("postgresql"))
    assert [choice.name for choice in chosen] == words


@pytest.mark.parametrize("engine", ["fake", "mariadb", "mysql", "postgresql"])
def test_a_space_lists_the_ways_to_deploy_and_what_none_changes(engine: str) -> None:
    known, space = deployment(engine), space_file().for_engine(load.engine(engine))
    short = [" ".join(line.split()) for line in drawn(catalogue.space(engine, space, {}, known)).splitlines()]
    assert "Ways to deploy the winner, measured where --deploy names them" in short
    for choice in known.choices.values():
        assert any(line.endswith(f"{choice.name}: {' '.join(choice.words)}") for line in short), choice.name
    whole = " ".join(drawn(catalogue.space(engine, space, {}, known, full=True)).split())
    for choice in known.choices.values():
        for words in (choice.does, choice.reason, choice.costs, choice.source):
            assert words in whole
    assert f"none may change {', '.join(known.promises)}" in whole
    plain = values.space(engine, space, known)
    assert plain["promises"] == {name: promise.reason for name, promise in known.promises.items()}
    assert {name: tuple(way["words"]) for name, way in plain["deployment"].items()} == {
        name: choice.words for name, choice in known.choices.items()
    }
    sqlite = drawn(catalogue.space("sqlite", space_file().for_engine(load.engine("sqlite")), {}, deployment("sqlite")))
    assert "Ways to deploy" not in sqlite


def test_a_setting_that_a_server_may_lack_is_one_of_ones_own_too() -> None:
    (chosen,) = choices_of(["loose_innodb_spin_wait_delay=8"], MARIADB, KNOWN)
    assert chosen.words == ("loose_innodb_spin_wait_delay=8",)


def test_choices_are_taken_by_name_and_settings_of_ones_own_too() -> None:
    chosen = choices_of(["no-spinning", "innodb_flush_method=O_DIRECT", "no-spinning"], MARIADB, KNOWN)
    assert [choice.name for choice in chosen] == ["no-spinning", "innodb_flush_method=O_DIRECT"]
    with pytest.raises(UserError, match="no ways to deploy SQLite are known here; leave it out"):
        choices_of(["all"], load.engine("sqlite"), deployment("sqlite"))


def test_of_a_group_only_the_best_is_taken_together() -> None:
    best = [KNOWN.choices[name] for name in ("tcmalloc", "thread-pool", "jemalloc")]
    assert [choice.name for choice in together(best)] == ["tcmalloc", "thread-pool"]


def test_how_a_server_is_launched_is_a_condition() -> None:
    condition = condition_of(["allocator=jemalloc", "heap-pages=huge"])
    assert condition == Condition(allocator="jemalloc", heap_pages="huge")
    assert words_of(condition) == "allocator=jemalloc,heap_pages=huge"
    assert difference(condition, Condition()) == "allocator=libc,heap_pages=usual"
    assert condition_of(["allocator=libc", "heap_pages=usual"]) == Condition()
    with pytest.raises(UserError, match="'jemaloc' \\(did you mean 'jemalloc'\\?\\)"):
        condition_of(["allocator=jemaloc"])
