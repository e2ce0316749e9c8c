"""As wide as the memory allows, never wider than asked, never less than one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from burnish.engines.jobs import GIB, Jobs, choose, has_lto
from burnish.model.recipe import Flags


def test_plenty_of_memory_changes_nothing() -> None:
    assert choose(2, 22 * GIB, object_peak=0.7 * GIB, link_peak=2.5 * GIB, lto=True) == Jobs(2, 2)
    assert choose(2, None, object_peak=0.7 * GIB, link_peak=2.5 * GIB, lto=True) == Jobs(2, 2), "a host that can't say"


def test_links_are_serialised_where_two_would_not_fit() -> None:
    found = choose(8, 8 * GIB, object_peak=0.7 * GIB, link_peak=5 * GIB, lto=True)
    assert (found.compile, found.link, found.link_threads) == (8, 1, None)
    assert found.reason == "8.0 GiB of memory free: 1 of 8 links at a time, one may take 5.0 GiB"


def test_compilers_are_fewer_where_they_would_not_fit() -> None:
    found = choose(16, 4 * GIB, object_peak=0.7 * GIB, link_peak=0.5 * GIB, lto=False)
    assert (found.compile, found.link) == (4, 6)
    assert "4 of 16 compile jobs" in found.reason


def test_a_single_link_that_does_not_fit_has_fewer_threads() -> None:
    found = choose(8, 2 * GIB, object_peak=0.2 * GIB, link_peak=5 * GIB, lto=True)
    assert (found.link, found.link_threads) == (1, 2)
    assert choose(8, 2 * GIB, object_peak=0.2 * GIB, link_peak=5 * GIB, lto=False).link_threads is None


def test_what_was_asked_for_is_never_exceeded() -> None:
    assert choose(8, 64 * GIB, object_peak=GIB, link_peak=GIB, lto=False, wanted=3) == Jobs(3, 3)
    assert choose(2, 64 * GIB, object_peak=GIB, link_peak=GIB, lto=False, wanted=6) == Jobs(6, 6)


@given(
    st.integers(1, 256),
    st.integers(0, 1 << 42),
    st.floats(0, 1e12),
    st.floats(0, 1e12),
    st.booleans(),
    st.none() | st.integers(1, 300),
)
def test_always_something_and_never_too_much(
    cores: int, available: int, object_peak: float, link_peak: float, lto: bool, wanted: int | None
) -> None:
    found = choose(cores, available, object_peak=object_peak, link_peak=link_peak, lto=lto, wanted=wanted)
    assert 1 <= found.compile <= (wanted or cores)
    assert 1 <= found.link <= (wanted or cores)
    assert found.link_threads is None or 1 <= found.link_threads <= cores
    assert found.compile == 1 or found.compile * object_peak <= available
    assert found.link == 1 or found.link * link_peak <= available


def test_lto_is_what_the_last_word_says() -> None:
    def link(*words: str) -> Flags:
        return Flags((), (), words)

    assert has_lto(link("-flto=thin", "-fuse-ld=lld"))
    assert has_lto(link("-flto"))
    assert not has_lto(link("-fuse-ld=lld"))
    assert not has_lto(link("-flto", "-fno-lto"))
