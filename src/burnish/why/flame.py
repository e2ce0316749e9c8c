"""Flame graphs as SVG, of one build or of the difference of two; pure.

A box is a function; its width is the CPU time per transaction in it and its callees, which are drawn on top of it.
Boxes are in alphabetical order, not in order of time. In a difference, the width is the larger of before and after, so
that removed functions are visible too; blue is time saved, red is time added, and grey is not significant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from xml.sax.saxutils import escape
from zlib import crc32

from burnish.why.attribution import Part
from burnish.why.ceiling import cpu_words
from burnish.why.stacks import Node

WIDTH = 1200.0
ROW = 17
MARGIN = 10.0
TOP = 62
LEAST = 0.4
"""Narrowest box that is drawn, in pixels."""

_LETTER = 6.1
_STYLE = (
    "text{font:11px Verdana,DejaVu Sans,sans-serif;fill:#111}"
    ".t{font-size:16px}.s{fill:#555}g:hover rect{stroke:#000;stroke-width:1}"
)
_COLOURS = {
    Part.OWN: ("#f4a261", "#f6b27c", "#ef9550"),
    Part.LIBC: ("#8ecf9d", "#9fd8ac", "#7fc590"),
    Part.LIBRARY: ("#b5d99c", "#c2e0ad", "#a8d18c"),
    Part.KERNEL: ("#a9b8d4", "#b8c4db", "#9babcb"),
}
_LEGEND = {Part.OWN: "the server's own code", Part.LIBC: "libc", Part.LIBRARY: "libraries", Part.KERNEL: "kernel"}
_GREY = "#e2e2e2"
_FULL = 0.3
"""Relative change at which a box has the full colour."""


def graph(root: Node, title: str, about: str) -> str:
    """The flame graph of one build, as a whole SVG document.

    Args:
        root: from `burnish.why.stacks.tree`.
        title: its first line.
        about: its second line: the load, how call stacks were unwound.
    """
    legend = [(_COLOURS[part][0], words) for part, words in _LEGEND.items()]
    return _document(root, title, about, legend, _by_part, lambda node: _time(node, root))


def difference(root: Node, title: str, about: str) -> str:
    """The flame graph of the difference of two builds, as a whole SVG document."""
    legend = [(_shade(-1.0), "time saved"), (_shade(1.0), "time added"), (_GREY, "not more than chance")]
    return _document(root, title, about, legend, _by_change, _times)


def _document(
    root: Node,
    title: str,
    about: str,
    legend: list[tuple[str, str]],
    colour: Callable[[Node], str],
    tooltip: Callable[[Node], str],
) -> str:
    scale = (WIDTH - 2 * MARGIN) / root.width if root.width > 0 else 0.0
    boxes = list(_boxes(root, MARGIN, 0, scale))
    depth = max(level for _, _, level in boxes) + 1
    height = TOP + depth * ROW + 36
    size = f'width="{WIDTH:g}" height="{height}" viewBox="0 0 {WIDTH:g} {height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>',
        f"<style>{_STYLE}</style>",
        f'<rect width="{WIDTH:g}" height="{height}" fill="#fff"/>',
        f'<text class="t" x="{MARGIN:g}" y="26">{escape(title)}</text>',
        f'<text class="s" x="{MARGIN:g}" y="46">{escape(about)}</text>',
    ]
    for node, x, level in boxes:
        y, width = TOP + (depth - 1 - level) * ROW, node.width * scale
        lines.append(
            f"<g><title>{escape(tooltip(node))}</title>"
            f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 1}" rx="1" fill="{colour(node)}"/>'
            f"{_label(node.name, x, y, width)}</g>"
        )
    x = MARGIN
    for fill, words in legend:
        lines.append(f'<rect x="{x:g}" y="{height - 22}" width="12" height="12" fill="{fill}"/>')
        lines.append(f'<text class="s" x="{x + 17:g}" y="{height - 12}">{escape(words)}</text>')
        x += 40 + _LETTER * len(words)
    return "\n".join([*lines, "</svg>", ""])


def _boxes(node: Node, x: float, level: int, scale: float) -> Iterator[tuple[Node, float, int]]:
    """(function, left edge in pixels, level from the bottom) of every box that is wide enough."""
    yield node, x, level
    for _, child in sorted(node.children.items(), key=lambda item: (item[1].name, item[0][0])):
        if child.width * scale >= LEAST:
            yield from _boxes(child, x, level + 1, scale)
        x += child.width * scale


def _label(name: str, x: float, y: int, width: float) -> str:
    """As much of the name as fits."""
    room = int((width - 6) / _LETTER)
    if room < 3:
        return ""
    shown = name if len(name) <= room else f"{name[: room - 2]}.."
    return f'<text x="{x + 3:.1f}" y="{y + 12}">{escape(shown)}</text>'


def _time(node: Node, root: Node) -> str:
    share = node.before / root.before if root.before > 0 else 0.0
    return f"{node.name}: {cpu_words(node.before)}, {100 * share:.1f} %"


def _times(node: Node) -> str:
    chance = "" if node.certain else " (not more than chance)"
    return (
        f"{node.name}: {cpu_words(node.before)} before, {cpu_words(node.after)} after, "
        f"{'+' if node.difference >= 0 else ''}{cpu_words(node.difference)}{chance}"
    )


def _by_part(node: Node) -> str:
    shades = _COLOURS[node.part]
    return shades[crc32(node.name.encode()) % len(shades)]


def _by_change(node: Node) -> str:
    if not node.certain or node.width <= 0:
        return _GREY
    return _shade(node.difference / node.width)


def _shade(change: float) -> str:
    """Blue below 0, red above, white at 0, full from `_FULL` on."""
    strength = min(1.0, abs(change) / _FULL) * 0.85 + 0.15
    towards = (213, 74, 58) if change > 0 else (58, 110, 200)
    return "#" + "".join(f"{round(255 + (end - 255) * strength):02x}" for end in towards)
