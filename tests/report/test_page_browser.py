"""The page in a real browser without a window: no errors, nothing loaded, readable by everybody, on every screen."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_page import rendered

pytestmark = pytest.mark.real

NAMES = ("mariadb-tune-apart", "mariadb-ladder", "mariadb-pgo", "mariadb-sun-2008")
PATIENCE_MS = 120_000
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium; install the group browser")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=program, args=["--no-sandbox"], timeout=PATIENCE_MS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    files = {name: folder / f"{name}.html" for name in NAMES}
    for name, file in files.items():
        file.write_text(rendered(name))
    files["two"] = folder / "two.html"
    files["two"].write_text(rendered("mariadb-tune-cold", "mariadb-tune-apart"))
    return files


def opened(browser: Any, file: Path, **how: Any) -> tuple[Any, list[str]]:
    """The file in a new window, and everything that went wrong or was loaded."""
    context = browser.new_context(**{"viewport": DESKTOP, **how})
    context.set_default_timeout(PATIENCE_MS)  # also of what goes on a page: it has 20,000 cells
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: wrong.append(request.url) if request.url != file.as_uri() else None)
    page.goto(file.as_uri())
    return page, wrong


@pytest.mark.parametrize("name", [*NAMES, "two"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_opens_without_errors_and_for_everybody(
    browser: Any, pages: dict[str, Path], name: str, scheme: str, tmp_path: Path
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page, wrong = opened(browser, pages[name], color_scheme=scheme)
    assert wrong == []
    folder = Path(os.environ.get("BURNISH_TEST_SCREENSHOTS", tmp_path))
    page.screenshot(path=folder / f"{name}-{scheme}.png")
    if name != "mariadb-sun-2008":  # whose 20,000 cells take the checker minutes
        # The page's own policy forbids every script but its own; the checker's is put in past it.
        found = _checked(page, axe)
        serious = [
            (rule["id"], [node["html"] for node in rule["nodes"][:3]])
            for rule in found["violations"]
            if rule["impact"] in ("serious", "critical")
        ]
        assert serious == []
    page.context.close()


def _checked(page: Any, axe: Any) -> dict[str, Any]:
    source = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    page.evaluate(source)
    done: dict[str, Any] = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return done


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_wider_than_a_phone(browser: Any, pages: dict[str, Path], name: str, tmp_path: Path) -> None:
    page, wrong = opened(browser, pages[name], viewport=PHONE)
    assert wrong == []
    folder = Path(os.environ.get("BURNISH_TEST_SCREENSHOTS", tmp_path))
    page.screenshot(path=folder / f"{name}-phone.png")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], "wide parts scroll by themselves"
    page.context.close()


def test_the_answer_is_on_the_first_screen(browser: Any, pages: dict[str, Path]) -> None:
    page, _ = opened(browser, pages["mariadb-tune-apart"])
    box = page.locator("#answer dl").bounding_box()
    assert box["y"] + box["height"] <= DESKTOP["height"]
    page.context.close()


def test_without_scripts_it_is_complete(browser: Any, pages: dict[str, Path]) -> None:
    count = "document.querySelectorAll('tbody tr').length + 1e6 * document.querySelectorAll('svg').length"
    page, _ = opened(browser, pages["mariadb-tune-apart"])
    silent, _ = opened(browser, pages["mariadb-tune-apart"], java_script_enabled=False)
    text = "document.querySelector('main').innerText"
    with_scripts = page.evaluate(text).replace("\n", " ").split()
    assert len(silent.inner_text("main").split()) == len(with_scripts)
    assert silent.locator("svg").count() == page.evaluate(count) // 1_000_000
    page.context.close()
    silent.context.close()


def test_a_click_on_a_head_sorts(browser: Any, pages: dict[str, Path]) -> None:
    page, wrong = opened(browser, pages["mariadb-ladder"])
    table = page.locator("#loads table")
    before = table.locator("tbody th").all_inner_texts()
    head = table.locator("thead button").nth(1)

    def figures() -> list[float]:
        texts = table.locator("tbody tr td:nth-child(2)").all_inner_texts()
        return [float(text.split()[0]) for text in texts if text != "-"]

    head.click()
    assert figures() == sorted(figures(), reverse=True)
    head.click()
    assert figures() == sorted(figures())
    assert sorted(table.locator("tbody th").all_inner_texts()) == sorted(before)
    assert table.locator("thead th").nth(1).get_attribute("aria-sort") == "ascending"
    assert wrong == []
    page.context.close()


def test_it_prints(browser: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    page, _ = opened(browser, pages["mariadb-tune-apart"], color_scheme="dark")
    folder = Path(os.environ.get("BURNISH_TEST_SCREENSHOTS", tmp_path))
    page.pdf(path=folder / "print.pdf", format="A4")
    assert (folder / "print.pdf").read_bytes()[:5] == b"%PDF-"
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", "paper is white"
    assert not page.locator("nav").is_visible()
    page.context.close()
