"""Options of one verb or two, and those that a verb has with bounds of its own."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from burnish.bench.blocks import Times
from burnish.cli import completion, readers
from burnish.cli.completion import one
from burnish.cli.declaration import CONFIG as CONFIG_FIELD
from burnish.cli.declaration import Option
from burnish.cli.options.shared import PAIRS, STARTS, VARIANTS

_build = partial(Option, panel="What to build")
_how = partial(Option, panel="How exactly")
_machine = partial(Option, panel="Machine")
_option = partial(Option, panel="Options")

TARGETS = _option("only_targets", ("--targets",), "List processors and instruction-set levels to build for instead.")
AGAINST = _option(
    "against", ("--against",), "Another build (functions that differ) or profile (overlap) to compare it with.",
    readers.text, "NAME",
)  # fmt: skip
OLDER_THAN = _option(
    "older_than", ("--older-than",), "Remove what was not used for that many days.", readers.number(0), "DAYS"
)
KEEP_GB = _option("keep_gb", ("--keep-gb",), "Keep at most N GB, the most recently used.", readers.number(0), "N")
REMOVE_DAMAGED = _option("remove", ("--remove",), "Remove what is damaged, so that the next host makes it again.")
DUE = _option(
    "due", ("--due",), "Resume every run whose next sitting is due, or whose cells that the host disturbed are, and "
    "say when the others are.", common=True,
)  # fmt: skip
RUNS = _option("runs", ("--runs",), "Remove unfinished runs too; finished ones are never removed.")
TOP = _option("top", ("--top",), "Number of hottest functions to show.", readers.integer(0, 1000), "N", default="10")
NAME = _option("name", ("--name",), "Name of the profile in recipes and commands.", readers.text, "NAME", required=True)
WEIGHTS = _option(
    "weights", ("--weights",), "A weight for each profile, separated by commas.", readers.text, "N,...", unset="all 1"
)
TREE_A = _build(
    "a", ("--a",), "Side A: a build folder with compile_commands.json, a folder of sources, a kept build's key, or the "
    "engine's name.", readers.text, "TREE", unset="the engine's source",
)  # fmt: skip
TREE_B = replace(TREE_A, field="b", flags=("--b",), help="Side B, as --a.")
PATCH_A = _build(
    "patch_a", ("--patch-a",), "A unified diff or a bundled patch (patches/SET/NAME) for side A. Repeatable.",
    readers.verbatim, "PATCH", many=True,
)  # fmt: skip
PATCH_B = replace(PATCH_A, field="patch_b", flags=("--patch-b",), help="The same for side B.")
CROSS_CHECK = _how(
    "cross_check", ("--cross-check",), "Cross-compile too (aarch64), and check the results under qemu.",
    readers.text, "ARCH", old=("--check",),
)  # fmt: skip
MICRO_STARTS = replace(STARTS, reader=readers.integer(3, 200), default=str(Times.starts), unset="")
MICRO_PAIRS = replace(PAIRS, reader=readers.integer(3, 1000), default=str(Times.pairs), unset="")
CALIBRATION_STARTS = replace(STARTS, reader=readers.integer(12, 200), default="12", unset="")
MOST = _option(
    "most", ("--most",), "Number of different transactions to keep, the most frequent ones.",
    readers.integer(1), "N", default="100000",
)  # fmt: skip
SOCKET = _option("socket", ("--socket",), "A running server's socket, to read from instead.", readers.path, "PATH")
USER = _option("user", ("--user",), "Database user to connect as.", readers.text, "NAME", unset="your login name")
PASSWORD_FILE = _option(
    "password_file", ("--password-file",), "File with the password.", readers.path, "FILE", unset="no password"
)
SCHEMA = _option(
    "dump", ("--schema",), "A dump (.sql, .sql.gz) with the tables' columns and values.", readers.path, "FILE"
)
PACKAGE_AS = _option(
    "format", ("--as",), "What to make: deb, tar, rebuild (a script), cmake (toolchain file and presets), oci "
    "(the .deb with a Containerfile, built and run where podman is), rpm (a spec's fragment) or debian-patch.",
    readers.text, "NAME", default="deb", common=True,
    complete=one(completion.formats),
)  # fmt: skip
PACKAGED = replace(
    VARIANTS, field="variant", reader=readers.text, value="NAME", many=False, unset="the run's recommended one",
    complete=one(completion.variants),
)  # fmt: skip
BASE = _option(
    "base", ("--base",), "The distribution's package file (to measure against: or a program), instead of fetching the "
    "version that was built.",
    readers.path, "DEB",
)  # fmt: skip
ACCEPT = _option(
    "accepted", ("--accept",), "Differences to the distribution's server to do without, by name.",
    readers.names, "NAME,...", many=True, common=True,
)  # fmt: skip
STRIP = _option("strip", ("--strip",), "Remove symbols; what is loaded stays as measured, which is checked.")
SIGN_KEY = _option(
    "sign_key", ("--sign-key",), "Private SSH key to sign what is made (ssh-keygen -Y sign).", readers.path, "FILE"
)
KEY = _option("key", ("--key",), "Public SSH key that must have signed it.", readers.path, "FILE", common=True)
MEASURE = _option(
    "measured", ("--measure",), "Then measure its program against the distribution's here, as its study did, and say "
    "whether the gain is the study's.", common=True,
)  # fmt: skip
TRY_IN_ROOT = _option(
    "try_in_root", ("--try-in-root",), "Then try the .deb in a clean root: installed, started, used, taken back.",
)  # fmt: skip
LEAVE_OUT = _option("leave_out", ("--leave-out",), "Leave out, and count, statements whose literals are not known.")
HOSTS = _option(
    "hosts", ("--records",), "Exported records of other hosts, to add.", readers.paths, "RECORD,...", many=True,
    common=True,
)  # fmt: skip
CONFIG = _machine(
    CONFIG_FIELD, ("--config",), "Settings file to read; 'none' reads none.", readers.text, "FILE",
    unset="burnish.toml here or in a folder above",
)  # fmt: skip
