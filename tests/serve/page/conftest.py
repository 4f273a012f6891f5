"""A service, a browser, and a dispatcher's hands on the page."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright import sync_api

from benchmarks.service.running import Running

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
WITHIN = 10_000
"""Milliseconds that anything on the page may take, on a busy machine."""
sync_api.expect.set_options(timeout=WITHIN)
DESKTOP = {"width": 1280, "height": 860}


class Desk:
    """The page as a dispatcher uses it."""

    def __init__(self, page, address: str) -> None:
        self.page, self.address = page, address
        self.errors: list[str] = []
        page.set_default_timeout(WITHIN)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: self.errors.append(f"a dialog: {dialog.message}"))
        page.on("console", self._heard)

    def _heard(self, message) -> None:
        if message.type == "error" and "Content Security Policy" in message.text:
            self.errors.append(message.text)

    def visit(self) -> None:
        """The page as it is found at first, with its examples."""
        self.page.goto(self.address)
        sync_api.expect(self.page.locator(".example").first).to_be_visible()

    def example(self, name: str) -> None:
        self.visit()
        self.page.click(f"[data-example={name}]")

    def upload(self, path: Path) -> None:
        self.visit()
        self.page.set_input_files("#file-input", path)

    def plan(self) -> None:
        self.page.click("#plan")
        self.settled()

    def settled(self) -> None:
        """Waits until no job runs."""
        sync_api.expect(self.page.locator("#stop")).to_be_hidden()
        self.drawn()

    def drawn(self) -> None:
        """Waits until list and map show what is known."""
        sync_api.expect(self.page.locator("[aria-busy]")).to_have_count(0)

    def says(self, words: str) -> None:
        """Waits for the verdict, and for the plan that it is about."""
        sync_api.expect(self.page.locator("#chip")).to_contain_text(words)
        self.drawn()

    def stops(self) -> list[str]:
        self.drawn()
        return self.page.locator("#rows .row.stop .name").all_text_contents()

    def row(self, name: str):
        named = self.page.locator(".name").get_by_text(name, exact=True)
        return self.page.locator("#rows .row.stop").filter(has=named)

    def drag(self, name: str, below: str, *, grip: str = ".name") -> None:
        """Takes a stop by a part of its row and lets it go below another."""
        taken, other = self.row(name).locator(grip).bounding_box(), self.row(below).bounding_box()
        x, y = taken["x"] + taken["width"] / 2, taken["y"] + taken["height"] / 2
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x, other["y"] + other["height"] - 4, steps=6)
        self.page.mouse.up()


@pytest.fixture(scope="session")
def service(tmp_path_factory) -> Iterator[Running]:
    store = tmp_path_factory.mktemp("page") / "jobs.sqlite"
    with Running(store, "--workers", "1") as running:
        yield running


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed; the page is tested where there is one")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM)
        yield chromium
        chromium.close()


@pytest.fixture
def open_desk(browser, service):
    """Opens desks, and sees to it that nothing on them went wrong."""
    desks, contexts = [], []

    def opened(viewport=DESKTOP, *, port: int | None = None, **options) -> Desk:
        contexts.append(browser.new_context(viewport=viewport, **options))
        desks.append(Desk(contexts[-1].new_page(), f"http://127.0.0.1:{port or service.port}/"))
        return desks[-1]

    yield opened
    for context in contexts:
        context.close()
    assert [error for desk in desks for error in desk.errors] == []


@pytest.fixture
def desk(open_desk) -> Desk:
    return open_desk()
