from __future__ import annotations

from pathlib import Path

import pytest

from burnish.base.errors import UserError
from burnish.source.debian import apt

DEBIAN = """\
# the host's own
Types: deb
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
# a comment inside
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""
KEYRING = (("signed-by", "/usr/share/keyrings/debian-archive-keyring.gpg"),)


def host(root: Path, files: dict[str, str], system: str = "ID=debian\nVERSION_CODENAME=bookworm\n") -> Path:
    for name, text in files.items():
        path = root / "etc/apt" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "etc").mkdir(exist_ok=True)
    (root / "etc/os-release").write_text(system)
    return root


def suites(entries: list[apt.Entry]) -> list[str]:
    return [entry.suite for entry in entries]


def test_deb822(tmp_path: Path) -> None:
    result = apt.host_entries(host(tmp_path, {"sources.list.d/debian.sources": DEBIAN}))
    assert result == [
        apt.Entry("http://mirror.example/debian", "bookworm", KEYRING),
        apt.Entry("http://mirror.example/debian", "bookworm-updates", KEYRING),
        apt.Entry("http://mirror.example/debian-security", "bookworm-security", KEYRING),
    ]
    assert result[0].stanza().splitlines()[0] == "Types: deb-src"


def test_one_line_with_options(tmp_path: Path) -> None:
    text = (
        "# deb http://no.example/debian bookworm main\n"
        "deb [ arch=amd64,i386 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg ] "
        "http://mirror.example/debian bookworm main contrib # why\n"
        "deb http://mirror.example/debian bookworm-updates main\n"
        "deb-src http://mirror.example/debian bookworm-updates main\n"
        "deb http://mirror.example/debian bookworm-backports main\n"
        "deb cdrom:[Debian]/ bookworm main\n"
        "deb http://flat.example/repo ./\n"
    )
    result = apt.host_entries(host(tmp_path, {"sources.list": text}))
    assert result == [
        apt.Entry("http://mirror.example/debian", "bookworm", KEYRING),
        apt.Entry("http://mirror.example/debian", "bookworm-updates", ()),
    ]


def test_other_vendors_and_disabled_entries_are_ignored(tmp_path: Path) -> None:
    other = "Types: deb\nURIs: https://v.example/\nSuites: {}\nComponents: {}\nSigned-By: {}\n{}"
    files = {
        "sources.list.d/debian.sources": DEBIAN,
        "sources.list.d/node.sources": other.format("nodistro", "main", "/usr/share/keyrings/node.gpg", ""),
        "sources.list.d/docker.sources": other.format("bookworm", "stable", "/etc/apt/docker.asc", ""),
        "sources.list.d/mariadb.sources": other.format("bookworm", "main", "/etc/apt/keyrings/mariadb.pgp", ""),
        "sources.list.d/off.sources": other.format("bookworm", "main", KEYRING[0][1], "Enabled: no\n"),
        "sources.list.d/gone.sources.disabled": DEBIAN.replace("mirror.example", "gone.example"),
        "sources.list.d/chrome.list": "deb https://dl.example/ stable main\n",
    }
    result = apt.host_entries(host(tmp_path, files))
    assert {entry.uri.split("/")[2] for entry in result} == {"mirror.example"}
    assert suites(result) == ["bookworm", "bookworm-updates", "bookworm-security"]


def test_inline_key_is_carried_over(tmp_path: Path) -> None:
    key = "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n -----END PGP PUBLIC KEY BLOCK-----\n"
    text = f"Types: deb\nURIs: http://m.example/debian\nSuites: bookworm\nComponents: main\n{key}"
    result = apt.host_entries(host(tmp_path, {"sources.list.d/debian.sources": text}))
    assert result[0].stanza().lower().endswith(key.lower().replace("signed-by:\n", "signed-by: \n"))


def test_extra_suite_is_looked_for_where_the_release_is(tmp_path: Path) -> None:
    result = apt.host_entries(host(tmp_path, {"sources.list.d/debian.sources": DEBIAN}), ("sid", "trixie-security"))
    assert result[3:] == [
        apt.Entry("http://mirror.example/debian", "sid", KEYRING),
        apt.Entry("http://mirror.example/debian-security", "trixie-security", KEYRING),
    ]


def test_suites_named_stable(tmp_path: Path) -> None:
    text = "deb http://m.example/debian stable main\ndeb http://m.example/debian stable-backports main\n"
    assert suites(apt.host_entries(host(tmp_path, {"sources.list": text}))) == ["stable"]


@pytest.mark.parametrize(
    ("files", "system"),
    [
        ({"sources.list": "deb http://archive.example/ubuntu jammy main\n"}, "ID=ubuntu\nVERSION_CODENAME=jammy\n"),
        ({}, "ID=debian\nVERSION_CODENAME=bookworm\n"),
        ({}, "ID=fedora\n"),
    ],
)
def test_host_without_debian_is_told_the_way_out(tmp_path: Path, files: dict[str, str], system: str) -> None:
    with pytest.raises(UserError, match="--source"):
        apt.host_entries(host(tmp_path, files, system))


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("E: Failed to fetch http://d/x_1.404-1.dsc  404  Not Found [IP: 203.0.113.80 80]", "404"),
        ("E: Failed to fetch http://d/x.dsc  403  Forbidden", "403"),
        (
            "E: Failed to fetch file:/r/x.dsc  File not found - /r/x.dsc (2: No such file or directory)",
            "File not found",
        ),
        ("E: Failed to fetch http://d/x_1.404-1.dsc  Could not connect to 127.0.0.1:9 (127.0.0.1).", None),
        ("E: Failed to fetch http://d/x.dsc  407  Proxy Authentication Required", None),
        ("E: Failed to fetch http://d/x.dsc  503  Service Unavailable", None),
        ("E: Failed to fetch http://d/x.dsc  Hash Sum mismatch", None),
    ],
)
def test_answers_that_mean_gone(line: str, answer: str | None) -> None:
    result = apt._GONE.search(line)
    assert (next(filter(None, result.groups())) if result else None) == answer
