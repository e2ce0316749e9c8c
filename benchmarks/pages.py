"""Every committed record as a page in a browser: what goes wrong, what checkers say, what is cut, how soon it shows.

    python benchmarks/pages.py FOLDER [RECORD ...]

Writes the page of each record in docs/results (or of those named) into FOLDER, with screenshots of it in light, in
dark, on a phone, as paper, and as a reader without green cones sees it, and prints a Markdown table with what was
found in each. Needs chromium, playwright and axe-playwright-python (the groups `browser` of the test tools).

    errors     messages of the console, and everything that was loaded beside the file
    axe        serious and critical findings of axe in light, and of contrast in dark; each is printed on stderr
    wide       pixels that the page is wider than its window: a phone's, paper's
    text       labels in figures that overlap another one, or are cut by the figure's edge, in a window and on a phone
    paint      ms from opening to the first paint of the content
    same       whether without scripts every table has the same cells

The summary of the last walk is in docs/results/pages.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import axe_playwright_python.sync_playwright as axe
from playwright.sync_api import Browser, Page, sync_playwright

from burnish.record.carried import carried
from burnish.report.fold import fold
from burnish.report.page.contents import page as document
from burnish.report.page.details import details
from burnish.report.render import html

RESULTS = Path(__file__).parent.parent / "docs/results"
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
PAPER = {"width": 718, "height": 1046}
"""An A4 sheet in CSS pixels, less margins of 1 cm."""

MOST = 12_000
"""Pixels of a page that are in its screenshot: chromium has no larger pictures than some 16,000."""

SERIOUS = ("serious", "critical")
SLOW_MS = 900_000

LABELS = """() => {
  const found = [];
  for (const svg of document.querySelectorAll("figure svg")) {
    const edge = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim());
    const boxes = texts.map((text) => [text.getBoundingClientRect(), text.textContent, /rotate\\((?!-0\\b|0\\b)/.test(
      (text.getAttribute("transform") || "") + (text.getAttribute("style") || ""))]);
    boxes.forEach(([box, text, turned], number) => {
      if (box.left < edge.left - 1 || box.right > edge.right + 1
          || box.top < edge.top - 1 || box.bottom > edge.bottom + 1)
        found.push(`cut: ${text}`);
      for (const [other, words, leaning] of boxes.slice(number + 1)) {
        if (turned || leaning) continue;
        const across = Math.min(box.right, other.right) - Math.max(box.left, other.left);
        const down = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
        if (across > 1 && down > 3) found.push(`overlap: ${text} | ${words}`);
      }
    });
  }
  return found;
}"""
"""Labels of figures that are cut by the figure's edge or lie on one another; names that lean are left out."""

PAINT = "performance.getEntriesByName('first-contentful-paint')"
CELLS = "Array.from(document.querySelectorAll('th, td'), (cell) => cell.textContent.trim())"
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def write(name: str, file: Path) -> None:
    """The page of a committed record."""
    record = carried(RESULTS / f"{name}.jsonl.xz")
    shown = document([(fold(record.events), details(record.events))])
    file.write_text(html.page(shown, [(name, record.packed.result())]))


def opened(browser: Browser, file: Path, wrong: list[str], **how: Any) -> Page:
    """The file in a new window; adds to `wrong` whatever the console says and whatever is loaded."""
    page = browser.new_context(**{"viewport": DESKTOP, **how}).new_page()
    page.set_default_timeout(SLOW_MS)
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url) if request.url != file.as_uri() else None)
    page.goto(file.as_uri())
    return page


def checked(page: Page, *rules: str) -> list[str]:
    """What axe finds serious by these rules, or by all; on a large page this takes minutes."""
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8"))
    asked = {"resultTypes": ["violations"], **({"runOnly": [*rules]} if rules else {})}
    found = page.evaluate("(asked) => axe.run(document, asked)", asked)
    return [
        f"{rule['id']}: {node['html'][:200]}"
        for rule in found["violations"]
        if rule["impact"] in SERIOUS
        for node in rule["nodes"]
    ]


def walk(browser: Browser, name: str, folder: Path) -> Iterator[str]:
    """What was found on the page of a record, in the order of the table's columns."""
    file, wrong = folder / f"{name}.html", []
    write(name, file)
    yield f"{file.stat().st_size / 1e6:.1f}"

    page = opened(browser, file, wrong, color_scheme="light")
    while not page.evaluate(f"{PAINT}.length"):  # asked from here: the page's policy lets nothing poll within it
        page.wait_for_timeout(20)
    paint = page.evaluate(f"{PAINT}[0].startTime")
    whole = min(MOST, page.evaluate("document.documentElement.scrollHeight"))
    clip = {"x": 0, "y": 0, "width": DESKTOP["width"], "height": whole}
    page.screenshot(path=folder / f"{name}-light.png", full_page=True, clip=clip)
    labels, cells, serious = page.evaluate(LABELS), page.evaluate(CELLS), checked(page)
    cones = page.context.new_cdp_session(page)
    cones.send("Emulation.setEmulatedVisionDeficiency", {"type": "deuteranopia"})
    page.screenshot(path=folder / f"{name}-deuteranopia.png")
    page.context.close()

    page = opened(browser, file, wrong, color_scheme="dark")
    page.screenshot(path=folder / f"{name}-dark.png")
    serious += checked(page, "color-contrast")  # the only rule for which the scheme matters
    page.context.close()

    page = opened(browser, file, wrong, viewport=PHONE)
    wide = [page.evaluate(WIDE)]
    labels += page.evaluate(LABELS)
    page.screenshot(path=folder / f"{name}-phone.png")
    page.context.close()

    page = opened(browser, file, wrong, viewport=PAPER, color_scheme="dark")
    page.emulate_media(media="print")
    wide.append(page.evaluate(WIDE))
    labels += page.evaluate(LABELS)
    page.pdf(path=folder / f"{name}.pdf", format="A4")
    page.context.close()

    # What goes on without scripts can only be asked from outside of the page.
    page = opened(browser, file, [], java_script_enabled=False)
    silent = page.locator("th, td").evaluate_all("(cells) => cells.map((cell) => cell.textContent.trim())")
    page.context.close()
    for line in (*wrong, *serious, *dict.fromkeys(labels)):
        sys.stderr.write(f"{name}: {line}\n")
    yield str(len(wrong))
    yield str(len(serious))
    yield ", ".join(map(str, wide))
    yield str(len(dict.fromkeys(labels)))
    yield f"{paint:.0f}"
    yield f"{len(cells):,} cells" if silent == cells else f"NO: {len(silent)} of {len(cells)}"


def main(folder: Path, names: Sequence[str]) -> None:
    """Prints the table."""
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(RESULTS.glob("*.jsonl.xz"), key=lambda file: file.stat().st_size)
    every = names or [file.name.removesuffix(".jsonl.xz") for file in files]
    print("| record | MB | errors | axe | wide, px | text | paint, ms | without scripts |", flush=True)
    print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name in every:
            print(f"| {' | '.join([name, *walk(browser, name, folder)])} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
