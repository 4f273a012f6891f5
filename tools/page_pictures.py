"""Takes the pictures of the service's page that the docs show, with the system's Chromium.

python -m tools.page_pictures
"""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from benchmarks.service.running import Running

FOLDER = Path(__file__).parents[1] / "docs" / "images"
DESKTOP, PHONE = {"width": 1280, "height": 760}, {"width": 390, "height": 844}
COLOURS = 256


def planned(page: Page, example: str, words: str) -> None:
    """Open an example and plan it."""
    page.click(f"[data-example={example}]")
    page.click("#plan")
    expect(page.locator("#stop")).to_be_hidden()
    expect(page.locator(".chip", has_text=words).locator("visible=true")).to_be_visible()
    expect(page.locator("[aria-busy]")).to_have_count(0)


def plan(page: Page) -> None:
    """A day with its lunch, one stop looked at."""
    planned(page, "day", "Proved: none is better")
    page.locator("#rows .row.stop").nth(6).hover()


def edit(page: Page) -> None:
    """A stop that was dragged to where it is late."""
    planned(page, "couriers", "Proved: none is better")
    taken = page.locator("#rows .row.stop .name").nth(4).bounding_box()
    other = page.locator("#rows .row.stop").nth(8).bounding_box()
    assert taken is not None
    assert other is not None
    page.mouse.move(taken["x"] + 9, taken["y"] + 9)
    page.mouse.down()
    page.mouse.move(taken["x"] + 9, other["y"] + other["height"] - 4, steps=6)
    page.mouse.up()
    expect(page.locator("#chip")).to_contain_text("Breaks")
    page.mouse.move(9, 9)


def why(page: Page) -> None:
    """Two windows that collide, and the change that would help."""
    planned(page, "collision", "No tour keeps every rule")
    expect(page.locator("#why .apply")).to_be_visible()


def phone(page: Page) -> None:
    """The same day on a phone."""
    planned(page, "day", "Proved: none is better")
    page.evaluate("scrollTo(0, 0)")


def main() -> None:
    """Take all of them."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        with Running(Path(folder) / "jobs.sqlite", "--workers", "1") as service:
            for name, act, viewport in (
                ("plan", plan, DESKTOP),
                ("edit", edit, DESKTOP),
                ("why", why, DESKTOP),
                ("phone", phone, PHONE),
            ):
                scale = 1.5 if viewport is DESKTOP else 2
                context = chromium.new_context(viewport=viewport, device_scale_factor=scale)
                page = context.new_page()
                page.goto(f"http://127.0.0.1:{service.port}/")
                act(page)
                page.wait_for_timeout(400)  # until what moves has come to rest
                picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                picture.quantize(COLOURS).save(FOLDER / f"page-{name}.png", optimize=True)
                context.close()
        chromium.close()


if __name__ == "__main__":
    main()
