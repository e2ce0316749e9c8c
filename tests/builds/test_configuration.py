"""A check of a build's configuration that came out otherwise than the baseline's is said."""

from __future__ import annotations

from pathlib import Path

from burnish.builds import configuration

HEADER = """
#ifndef CONFIG_H
#define CONFIG_H
#define HAVE_VFORK 1
/* #undef HAVE_KQUEUE */
#  define SIZEOF_LONG   8   /* bytes */
#define HAVE_POLL
#define PACKAGE_STRING "server 1.0, compiled by gcc"
#define ALIGNED(n) __attribute__((aligned(n)))
#define STACK_DIRECTION (-1)
#endif
"""


def build(place: Path, **headers: str) -> Path:
    """A finished build's folder, of a build folder with these headers."""
    tree, folder = place / "tree", place / "kept"
    for name, text in headers.items():
        path = tree / "include" / f"{name}.h"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    folder.mkdir(parents=True)
    tree.mkdir(exist_ok=True)
    configuration.keep(tree, folder)
    return folder


def test_macros_of_a_header() -> None:
    assert configuration.macros(HEADER) == {
        "CONFIG_H": "",
        "HAVE_VFORK": "1",
        "SIZEOF_LONG": "8",
        "HAVE_POLL": "",
        "STACK_DIRECTION": "(-1)",
    }


def test_a_check_that_failed_is_named(tmp_path: Path) -> None:
    usual = build(tmp_path / "usual", my_config=HEADER)
    other = build(tmp_path / "other", my_config=HEADER.replace("#define HAVE_VFORK 1", "/* #undef HAVE_VFORK */"))
    assert configuration.note(other, usual, "baseline") == (
        "configured otherwise than baseline: HAVE_VFORK undefined instead of 1"
    )
    assert configuration.note(usual, other, "other") == (
        "configured otherwise than other: HAVE_VFORK 1 instead of undefined"
    )
    assert configuration.note(usual, usual, "baseline") is None


def test_of_many_four_are_named(tmp_path: Path) -> None:
    usual = build(tmp_path / "usual", config="".join(f"#define HAVE_{letter} 1\n" for letter in "ABCDEF"))
    other = build(tmp_path / "other", config="#define HAVE_A 1\n#define HAVE_B\n#define NEW 3\n")
    assert configuration.note(other, usual, "baseline") == (
        "configured otherwise than baseline: HAVE_B defined instead of 1, HAVE_C undefined instead of 1, "
        "HAVE_D undefined instead of 1, HAVE_E undefined instead of 1 and 2 more"
    )


def test_texts_other_headers_and_builds_without_one_are_no_difference(tmp_path: Path) -> None:
    usual = build(tmp_path / "usual", my_config=HEADER)
    text = build(tmp_path / "text", my_config=HEADER.replace("by gcc", "by clang"))
    more = build(tmp_path / "more", my_config=HEADER, tools_config="#define A 1\n")
    none = build(tmp_path / "none", other="#define A 1\n")
    assert not (none / configuration.KEPT).exists(), "it writes no configuration header"
    for folder in (text, more, none):
        assert configuration.note(folder, usual, "baseline") is None
        assert configuration.note(usual, folder, "baseline") is None
