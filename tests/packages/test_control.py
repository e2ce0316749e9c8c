"""Control files, versions, dependencies and names: pure."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from burnish.base import system
from burnish.base.errors import UserError
from burnish.base.paths import Home
from burnish.engines.testing import PlainBench
from burnish.packages import control, deb
from burnish.packages.chosen import Chosen
from burnish.packages.planned import Format, Request, make
from burnish.source.debian import binary

FIELDS = """\
Package: one-server
Version: 1:2.3-0+deb12u1
Architecture: amd64
Depends: one-common (>= 1:2.3-0+deb12u1), libc6 (>= 2.30), default-x | x, zlib1g (>= 1:1.2.0)
Description: a server
 It serves.
 .
 And more.
"""


def lower(first: str, second: str) -> bool:
    return subprocess.run(["dpkg", "--compare-versions", first, "lt", second], check=False).returncode == 0


@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize(
    ("original", "update"),
    [
        ("1:10.11.18-0+deb12u1", "1:10.11.18-0+deb12u2"),
        ("1:10.11.18-0+deb12u1", "1:10.11.19-0+deb12u1"),
        ("2.3-1", "2.3-2"),
        ("2.3-1", "2.3-1+deb12u1"),
        ("2.3", "2.3.1"),
    ],
)
def test_the_next_update_wins_over_the_package(original: str, update: str, forced: bool) -> None:
    made = control.version(original, forced=forced)
    assert lower(original, made)
    if (original, update) == ("2.3-1", "2.3-1+deb12u1"):
        assert lower(made, update), "a security update of the same revision"
    assert lower(made, update)
    assert binary.VERSION.fullmatch(made)


def test_a_control_file_is_read_and_written_unchanged() -> None:
    assert control.text_of(control.fields_of(FIELDS)) == FIELDS


def test_dependencies_are_the_originals_and_what_the_program_needs() -> None:
    merged = control.dependencies(
        control.fields_of(FIELDS)["Depends"], "libc6 (>= 2.34), libnew1 (>= 2), zlib1g (>= 1:1.1)", lower
    )
    assert merged == (
        "one-common (>= 1:2.3-0+deb12u1), libc6 (>= 2.34), default-x | x, zlib1g (>= 1:1.2.0), libnew1 (>= 2)"
    )


def test_what_a_variant_is_called_cannot_make_another_field() -> None:
    hostile = "x\nDepends: evil\n\nPackage: other\x07 $(reboot) `id`"
    fields = control.repackaged(
        control.fields_of(FIELDS), new_version="1:2.3-0+deb12u1+burnish1", depends="libc6", size_kb=7,
        lines=[f"variant {hostile}"], facts={"Burnish-Variant": hostile},
    )  # fmt: skip
    text = control.text_of(fields)
    again = control.fields_of(text)
    assert again["Depends"] == "libc6"
    assert again["Package"] == "one-server"
    assert again["Source"] == "one-server (1:2.3-0+deb12u1)"
    assert again["Burnish-Variant"] == "x Depends: evil Package: other $(reboot) `id`"
    assert "\n\n" not in text
    assert again["Description"].startswith("a server\n It serves.\n .\n And more.\n .\n variant x Depends: evil")
    assert list(again)[-1] == "Description"


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a b", "a-b"),
        ("../../etc/passwd", "etc-passwd"),
        ("x;rm -rf /", "x-rm--rf-"),
        ("...", "unnamed"),
        ("é\n", "unnamed"),
    ],
)
def test_names_of_files_are_plain(name: str, safe: str) -> None:
    assert control.file_name(name) == safe


def test_checksums_are_sorted_by_path() -> None:
    assert control.sums([("usr/b", "2"), ("usr/a", "1")]) == "1  usr/a\n2  usr/b\n"


def test_what_makes_a_package_is_looked_for_first(monkeypatch: pytest.MonkeyPatch) -> None:
    deb.ready("--as deb")
    monkeypatch.setattr(system, "find_programs", dict.fromkeys)
    with pytest.raises(UserError, match=r"^--as oci: dpkg-deb and dpkg-shlibdeps needed .* install .*dpkg-dev"):
        deb.ready("--as oci")


def test_what_is_missing_is_said_in_the_words_of_the_verb(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(system, "find_programs", dict.fromkeys)
    engine = SimpleNamespace(spec=SimpleNamespace(packaging=object(), title="A server"))
    chosen = cast("Chosen", SimpleNamespace(engine=engine, objections=(), variant="v"))
    home, bench = Home(tmp_path), PlainBench(tmp_path)
    for request, begins in (
        (Request(Format.DEB, tmp_path, verb="install"), "install: dpkg-deb"),
        (Request(Format.DEB, tmp_path), "--as deb: dpkg-deb"),
    ):
        with pytest.raises(UserError, match=f"^{begins}"):
            make(home, chosen, request, bench)
    engine.spec.packaging = None
    with pytest.raises(
        UserError, match=r"^install: A server has no package .*; `burnish package` with --as tar or reb"
    ):
        make(home, chosen, Request(Format.DEB, tmp_path, verb="install"), bench)
