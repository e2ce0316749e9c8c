"""Call stacks as trees, two builds' stacks made comparable, and the graphs drawn of them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace

import pytest

from burnish.why import flame, stacks
from burnish.why.alignment import align
from burnish.why.attribution import Part
from burnish.why.samples import KERNEL, Frame
from burnish.why.stacks import Side, tree

SERVER = "/srv/mariadbd"
LIBC = "/usr/lib/libc.so.6"
SVG = "{http://www.w3.org/2000/svg}"


def stack(*names: str) -> tuple[Frame, ...]:
    """``libc:`` and ``kernel:`` before a name say whose it is; else it is the server's."""
    objects = {"libc": LIBC, "kernel": KERNEL}
    return tuple(
        Frame(objects[part], name) if part in objects else Frame(SERVER, item)
        for item in names
        for part, _, name in [item.partition(":")]
    )


def side(cpu: float = 100e-6, **lines: int) -> Side:
    return Side(Counter({stack(*line.split("__")): events for line, events in lines.items()}), SERVER, cpu)


def test_a_tree_adds_up_at_every_level() -> None:
    root = tree(Side({stack("a", "b"): 3, stack("a", "libc:memcpy"): 1, stack("c"): 6}, SERVER, 100e-6))
    assert root.before == pytest.approx(100e-6)
    a = root.children[Part.OWN, "a"]
    assert a.before == pytest.approx(40e-6)
    assert a.children[Part.LIBC, "memcpy"].before == pytest.approx(10e-6)
    assert root.width == pytest.approx(100e-6)


def test_two_builds_on_top_of_each_other_show_what_is_gone_and_what_is_new() -> None:
    root = tree(side(a=50, b=50), side(80e-6, a=50, c=50))
    gone, new = root.children[Part.OWN, "b"], root.children[Part.OWN, "c"]
    assert (gone.before, gone.after) == (pytest.approx(50e-6), 0.0)
    assert (new.before, new.after) == (0.0, pytest.approx(40e-6))
    assert root.difference == pytest.approx(-20e-6)
    assert root.width == pytest.approx(50e-6 + 50e-6 + 40e-6), "as wide as all of its children"


def test_differences_within_chance_are_told_from_others() -> None:
    root = tree(side(a=1000, b=5, d=10), side(a=500, b=6, d=10))
    assert root.children[Part.OWN, "b"].certain is False
    large = tree(side(a=1000, b=1000), side(a=1000, b=200))
    assert large.children[Part.OWN, "b"].certain


def test_the_chance_is_that_of_samples_however_many_events_each_stands_for() -> None:
    one, other = side(a=1_000_000, b=1_000_000, tiny=1), side(a=1_000_000, b=900_000, tiny=1)
    root = tree(replace(one, samples=20), replace(other, samples=20))
    assert not root.children[Part.OWN, "b"].certain, "ten samples against nine"
    root = tree(replace(one, samples=200_000), replace(other, samples=200_000))
    assert root.children[Part.OWN, "b"].certain


def test_a_function_that_one_build_inlines_is_its_callers_in_both() -> None:
    """In the first build `a` calls `b` calls `c`; the second has inlined `b`."""
    before = side(a__b__c=40, a__b=20, a=40)
    after = side(80e-6, a__c=50, a=50)
    result = align(before, after)
    assert result.before.stacks == {stack("a", "c"): 40, stack("a"): 60}
    assert result.after.stacks == after.stacks
    assert result.folded == {"a": {"b": pytest.approx(20e-6)}}


def test_a_call_inlined_nearly_everywhere_counts_as_inlined() -> None:
    before = side(a__b=500, a=500)
    result = align(before, side(a__b=10, a=990))
    assert result.before.stacks == {stack("a"): 1000}
    assert result.after.stacks == {stack("a", "b"): 10, stack("a"): 990}, "what is still there stays"


def test_inlined_into_one_caller_only() -> None:
    result = align(side(a__b=50, c__b=50), side(a=50, c__b=50))
    assert result.before.stacks == {stack("a"): 50, stack("c", "b"): 50}


def test_aligned_stacks_lose_nothing() -> None:
    before, after = side(a__b__c=5, d__e=7, f=9), side(a__c=4, x__y=3)
    result = align(before, after)
    assert sum(result.before.stacks.values()) == 21
    assert sum(result.after.stacks.values()) == 7


def test_libraries_and_the_kernel_are_not_folded_nor_given_our_time() -> None:
    before = Side({stack("a", "libc:qsort", "compare"): 10, stack("a", "libc:send", "kernel:sys"): 10}, SERVER, 1e-6)
    after = Side({stack("a"): 20}, SERVER, 1e-6)
    assert align(before, after).before.stacks == before.stacks


def test_stacks_as_lines() -> None:
    assert stacks.lines({stack("a", "b;c"): 3, stack("a"): 2}) == "a 2\na;b:c 3\n"


def boxes(svg: str) -> dict[str, ET.Element]:
    return {
        title.text or "": group
        for group in ET.fromstring(svg).iter(f"{SVG}g")  # noqa: S314 - our own
        if (title := group.find(f"{SVG}title")) is not None
    }


def test_the_graph_is_xml_and_its_boxes_lie_within_their_callers() -> None:
    root = tree(Side({stack("main", "a<T>&", "libc:memcpy"): 30, stack("main", "b"): 70}, SERVER, 100e-6))
    svg = flame.graph(root, "a <title> & more", "the load")
    result = boxes(svg)
    assert set(result) == {
        "all: 100 µs, 100.0 %",
        "main: 100 µs, 100.0 %",
        "a<T>&: 30 µs, 30.0 %",
        "memcpy: 30 µs, 30.0 %",
        "b: 70 µs, 70.0 %",
    }
    rects = {name.partition(":")[0]: group.find(f"{SVG}rect") for name, group in result.items()}
    spans = {
        name: (float(rect.get("x", "")), float(rect.get("width", "")), float(rect.get("y", "")))
        for name, rect in rects.items()
        if rect is not None
    }
    assert spans["a<T>&"][1] == pytest.approx(0.3 * spans["main"][1], abs=0.2)
    assert spans["b"][0] == pytest.approx(spans["a<T>&"][0] + spans["a<T>&"][1], abs=0.2)
    assert spans["memcpy"][2] < spans["a<T>&"][2] < spans["main"][2] < spans["all"][2], "the callers are below"
    assert "a &lt;title&gt; &amp; more" in svg


def test_boxes_too_narrow_to_see_are_left_out() -> None:
    svg = flame.graph(tree(side(a=1_000_000, b=1)), "t", "l")
    assert not any(name.startswith("b:") for name in boxes(svg))


def test_the_difference_is_blue_red_and_grey() -> None:
    root = tree(side(saved=1000, same=1000, added=100), side(saved=400, same=1000, added=700))
    result = boxes(flame.difference(root, "t", "l"))
    colours = {}
    for name, group in result.items():
        rect = group.find(f"{SVG}rect")
        assert rect is not None
        colours[name.partition(":")[0]] = rect.get("fill", "")

    def parts(colour: str) -> tuple[int, int]:
        return int(colour[1:3], 16), int(colour[5:7], 16)

    red, blue = parts(colours["saved"])
    assert blue > red
    red, blue = parts(colours["added"])
    assert red > blue
    assert colours["same"] == "#e2e2e2"
    assert any("before" in name and "after" in name for name in result)


def test_an_empty_graph_is_still_a_picture() -> None:
    ET.fromstring(flame.graph(tree(Side({}, SERVER, 1e-6)), "t", "l"))  # noqa: S314 - our own
