"""Conditions as a user asks for them: settings by name and value, a few of them words of Burnish's own; pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from burnish.errors import UserError, unknown
from burnish.study.model import Condition, Transport

TRANSPORTS: tuple[Transport, ...] = get_args(Transport)

WORDS: Mapping[str, Mapping[str, tuple[tuple[str, str], ...]]] = {
    "binlog": {
        "on": (("log_bin", "binlog"), ("server_id", "1")),
        "off": (("skip_log_bin", "ON"),),
    },
    "durability": {
        "commit": (("innodb_flush_log_at_trx_commit", "1"), ("sync_binlog", "1")),
        "system": (("innodb_flush_log_at_trx_commit", "2"), ("sync_binlog", "0")),
        "second": (("innodb_flush_log_at_trx_commit", "0"), ("sync_binlog", "0")),
    },
    "threads_by": {
        "connection": (("thread_handling", "one-thread-per-connection"),),
        "pool": (("thread_handling", "pool-of-threads"),),
    },
}
"""Words for several server variables at once: binary log; where a commit has arrived when it is answered (on the
disk, in the operating system, within a second); a thread for each connection or a pool of them."""

OURS = (
    "basedir",
    "bind_address",
    "datadir",
    "defaults_file",
    "innodb_data_home_dir",
    "innodb_log_group_home_dir",
    "innodb_undo_directory",
    "log_error",
    "pid_file",
    "plugin_dir",
    "port",
    "skip_grant_tables",
    "skip_networking",
    "socket",
    "ssl_ca",
    "ssl_cert",
    "ssl_key",
    "tmpdir",
    "user",
)
"""Settings that Burnish decides, since several servers run side by side in folders of its own."""


def condition_of(words: Iterable[str], *, over: Condition | None = None, option: str = "--set") -> Condition:
    """The condition that these words make, over another one.

    Args:
        words: ``NAME=VALUE`` each: ``transport``, one of `WORDS`, or a server variable.
        over: what holds where no word speaks.
        option: where the words come from, for errors.

    Raises:
        UserError: no NAME=VALUE, an unknown value of one of our words, a setting that Burnish decides.
    """
    condition = over or Condition()
    for word in words:
        name, equals, value = word.partition("=")
        name, value = plain(name), value.strip()
        if not name or not equals or not value:
            raise UserError(f"{option} {word}: write NAME=VALUE, as in transport=tcp or innodb_buffer_pool_size=2G")
        if name == "transport":
            chosen = next((each for each in TRANSPORTS if each == value), None)
            if chosen is None:
                raise unknown(f"value in {option} transport=", value, TRANSPORTS)
            condition = replace(condition, transport=chosen)
        elif name in WORDS:
            if value not in WORDS[name]:
                raise unknown(f"value in {option} {name}=", value, WORDS[name])
            condition = replace(condition, settings=merged(condition.settings, WORDS[name][value]))
        elif name in OURS:
            raise UserError(f"{option} {word}: Burnish decides {name}, since several servers run at once; leave it out")
        else:
            condition = replace(condition, settings=merged(condition.settings, ((name, value),)))
    return condition


def plain(name: str) -> str:
    """A setting's name as the server's own list of variables has it, with underscores."""
    return name.strip().lstrip("-").replace("-", "_").lower().removeprefix("loose_")


def merged(settings: Sequence[tuple[str, str]], later: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Settings with later ones over them: one of each name, and no log both wanted and not."""
    gone = {name for name, _ in later}
    if "log_bin" in gone:
        gone.add("skip_log_bin")
    if "skip_log_bin" in gone:
        gone.add("log_bin")
    return (*(item for item in settings if item[0] not in gone), *later)


def words_of(condition: Condition) -> str:
    """A condition in a few words, for names and reports; '' for the usual one."""
    transport = [f"transport={condition.transport}"] if condition.transport != "unix" else []
    return ",".join([*transport, *(f"{name}={value}" for name, value in condition.settings)])


def difference(one: Condition, other: Condition) -> str:
    """What sets the second condition apart from the first, in a few words."""
    said = [f"transport={other.transport}"] if other.transport != one.transport else []
    mine = dict(one.settings)
    said += [f"{name}={value}" for name, value in other.settings if mine.get(name) != value]
    return ",".join(said)
