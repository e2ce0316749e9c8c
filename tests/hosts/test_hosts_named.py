"""Which hosts are meant, which are accepted, and of which kind a processor is."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from burnish.base.errors import UserError
from burnish.base.processor import Processor
from burnish.cli.common import app
from burnish.hosts.host import Chosen, Host, accepted, chosen_of, host_of, name_of
from burnish.hosts.kinds import kind_of, kinds, level_of

ZEN = Host("z", machine="1", kind="zen5", architecture="x86_64", version="1")
ARM = Host("r", machine="2", kind="neoverse-n1", architecture="aarch64", version="1")
BUILDER = Host("b", machine="3", kind="zen5", architecture="x86_64", version="1", benches=False)
HOSTS = [ZEN, ARM, BUILDER]


@pytest.mark.parametrize(
    ("words", "names"),
    [("all", ["z", "r"]), ("kind=zen5", ["z"]), ("kind=zen5,arm64", ["z", "r"]), ("kind=amd64", ["z"]), ("r", ["r"])],
)
def test_hosts_are_named_by_kind_architecture_or_name(words: str, names: list[str]) -> None:
    chosen = chosen_of([words])
    assert [host.name for host in HOSTS if chosen.has(host)] == names, "a host for builds alone never measures"
    assert chosen.missing(HOSTS) == []
    assert chosen.words == words


def test_what_no_host_has_is_named() -> None:
    assert chosen_of(["kind=zen4,arm64"]).missing(HOSTS) == ["zen4"]
    assert Chosen(names=("z", "b")).missing(HOSTS) == ["b"], "it is there, but does not measure"


@pytest.mark.parametrize("words", ["", "kind=", "all,z", "z,kind=zen5", "z,,r"])
def test_wrong_words_are_refused(words: str) -> None:
    with pytest.raises(UserError, match="--hosts"):
        chosen_of([words])


def test_other_versions_and_doubles_are_refused_with_a_line() -> None:
    old = Host("old", machine="4", version="0")
    twin = Host("z", machine="5", version="1", address="later")
    copy = Host("copy", machine="2", version="1")
    good, lines = accepted([*HOSTS, old, twin, copy], "1")
    assert [host.name for host in good] == ["b", "copy", "z"]
    assert len(lines) == 3
    assert any(line.startswith("old: refused: it has Burnish 0, here is 1") for line in lines)
    assert any("two workers have this name" in line for line in lines)
    assert any(line.startswith("r: refused: another worker has its machine's id") for line in lines)


def test_names_that_hosts_can_have() -> None:
    assert name_of(None, "own") == "own"
    assert [name_of(name, "own") for name in ("zen5-a", "n3.rack1", "x_2")] == ["zen5-a", "n3.rack1", "x_2"]
    for name in ("rack1/n3", "", "all", "merged", ".n3", "-n3", "a,b", "kind=zen5"):
        with pytest.raises(UserError, match=r"^--host '.*': a name is letters, .*; name it otherwise with --host"):
            name_of(name, "own")
    with pytest.raises(UserError, match=r"^--host 'all' \(this machine's host name\): a name is"):
        name_of(None, "all")


def test_two_containers_of_a_machine_can_build_and_one_measures() -> None:
    """They count as one host in what is measured, and builds are no measure."""
    builders = [Host(name, machine="1", version="1", benches=False) for name in "ab"]
    bench = Host("c", machine="1", version="1")
    assert [host.name for host in accepted([*builders, bench], "1")[0]] == ["a", "b", "c"]
    assert [host.name for host in accepted([bench, Host("d", machine="1", version="1")], "1")[0]] == ["c"]


def test_a_host_travels_as_plain_values_and_unknown_ones_are_left_out() -> None:
    host = Host("a", compilers=("gcc-12",), memory=None)
    assert host_of({**host.as_dict(), "of_a_later_version": 1}) == host


@pytest.mark.parametrize(
    ("text", "architecture", "kind"),
    [
        ("vendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n", "x86_64", "zen5"),
        ("vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 173\n", "x86_64", "graniterapids"),
        ("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "aarch64", "neoverse-n1"),
        ("vendor_id\t: AuthenticAMD\ncpu family\t: 99\nmodel\t\t: 1\n", "x86_64", "x86_64-99-1"),
    ],
)
def test_the_kind_of_a_processor(text: str, architecture: str, kind: str) -> None:
    assert kind_of(text, architecture) == kind


def test_no_processor_is_of_two_kinds() -> None:
    known = [
        (kind.vendor, kind.family, model, kind.implementer, kind.part)
        for kind in kinds().values()
        for model in (kind.models or (0,))
    ]
    assert len(known) == len(set(known))


def test_the_level_that_a_processor_offers() -> None:
    two = frozenset(["sse2", "cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3"])
    assert level_of(Processor("x86_64", "", two)) == "x86-64-v2"
    assert level_of(Processor("aarch64", "", frozenset())) == ""


def test_a_list_of_hosts_names_no_option_that_nobody_typed() -> None:
    done = CliRunner().invoke(app, ["hosts", "list"])
    assert str(done.exception).startswith("this machine knows of no scheduler")
