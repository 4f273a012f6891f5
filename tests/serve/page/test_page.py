"""What the page is: small, safe, at home on a phone, in light and dark, and behind a token."""

import pytest
from playwright.sync_api import expect

from benchmarks.service.running import Running

PHONE = {"width": 390, "height": 844}
HEAVIEST = 300_000
HOSTILE = """name,x,y,from,to,notes
<b>Depot</b>,0,0,08:00,17:00,<img src=x onerror=alert(1)>
<script>alert(2)</script>,3,4,08:00,10:00,"=HYPERLINK(""x"")"
"></svg><svg onload=alert(3)>",6,8,,,javascript:alert(4)
\x1b[31mred\x1b[0m,-5,3,,,
"""
CONTRASTS = """(dark) => {
  const style = getComputedStyle(document.documentElement);
  const light = (name) => {
    const both = style.getPropertyValue(name).match(/#[0-9a-f]{6}/gi);
    const [r, g, b] = both[dark ? 1 : 0].slice(1).match(/../g).map((part) => {
      const value = parseInt(part, 16) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const pairs = ["ink paper", "ink surface", "quiet paper", "quiet surface", "quiet sea", "accent-ink accent",
    "accent accent-soft", "accent surface", "good good-soft", "bad bad-soft", "bad surface", "open open-soft"];
  return pairs.map((pair) => {
    const [a, b] = pair.split(" ").map((name) => light(`--${name}`));
    return [pair, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
  });
}"""


def test_the_whole_load_is_small_and_asks_no_other_host(desk):
    loads = []
    desk.page.on("response", lambda response: loads.append((response.url, len(response.body()))))
    desk.visit()
    assert {url.split("/")[2] for url, _ in loads} == {desk.address.split("/")[2]}
    assert sum(size for _, size in loads) < HEAVIEST


def test_on_a_phone_nothing_is_wider_than_the_screen_and_the_next_step_is_in_reach(open_desk):
    desk = open_desk(PHONE, has_touch=True, is_mobile=True)
    wide = "document.documentElement.scrollWidth"
    desk.visit()
    assert desk.page.evaluate(wide) == PHONE["width"]
    desk.page.tap("[data-example=day]")
    box = desk.page.locator("#plan").bounding_box()
    assert box["y"] + box["height"] <= PHONE["height"]
    assert box["height"] >= 44
    desk.page.tap("#plan")
    expect(desk.page.locator(".chip.below")).to_contain_text("Proved: none is better")
    assert desk.page.evaluate(wide) == PHONE["width"]
    second = desk.stops()[1]
    desk.row(second).tap()
    desk.page.get_by_role("button", name=f"Move {second} earlier").tap()
    expect(desk.row(second)).to_have_attribute("data-place", "1")
    desk.page.tap("#tab-stops")
    expect(desk.page.locator(".cells")).to_be_visible()
    assert desk.page.evaluate(wide) == PHONE["width"]


def test_names_are_never_markup(desk, tmp_path):
    path = tmp_path / "hostile.csv"
    path.write_text(HOSTILE.replace("\x1b[31m", "").replace("\x1b[0m", ""))
    desk.upload(path)
    desk.plan()
    desk.says("Proved")
    names = {"<script>alert(2)</script>", "></svg><svg onload=alert(3)>"}
    assert names <= set(desk.stops())
    desk.row("<script>alert(2)</script>").hover()
    expect(desk.page.locator("#card")).to_contain_text("<script>alert(2)</script>")
    desk.page.click("#tab-stops")
    expect(desk.page.locator(".cells, .as-text")).to_be_visible()
    desk.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    foreign = "#main script, #main img, #main b > b, [onerror], [onload]"
    assert desk.page.locator(foreign).count() == 0


def test_a_name_with_escape_codes_is_refused_or_shown_but_never_obeyed(desk, tmp_path):
    path = tmp_path / "escapes.csv"
    path.write_text(HOSTILE)
    desk.upload(path)
    shown = desk.page.locator("#intake-problem:not(:empty), body[data-screen=work] .row.stop")
    expect(shown.first).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(open_desk, theme):
    desk = open_desk(color_scheme=theme)
    desk.visit()
    ratios = desk.page.evaluate(CONTRASTS, theme == "dark")
    assert [(pair, ratio) for pair, ratio in ratios if ratio < 4.5] == []


@pytest.mark.parametrize(("system", "chosen"), [("light", "dark"), ("dark", "light")])
def test_the_chosen_appearance_wins_over_that_of_the_system(open_desk, system, chosen):
    desk = open_desk(color_scheme=system)
    desk.visit()
    behind = "getComputedStyle(document.body).backgroundColor"
    before = desk.page.evaluate(behind)
    desk.page.click("#how")
    desk.page.select_option("[name=theme]", chosen)
    assert desk.page.evaluate(behind) != before
    desk.page.reload()
    assert desk.page.evaluate(behind) != before


def test_tiles_are_asked_for_only_from_the_server_that_was_named(desk):
    asked = []
    pixel = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'

    def answer(route) -> None:
        asked.append(route.request.url)
        route.fulfill(body=pixel, content_type="image/svg+xml")

    desk.page.route("https://tiles.example/**", answer)
    desk.example("day")
    expect(desk.page.locator(".marker")).to_have_count(10)
    assert asked == []
    desk.page.click("#how")
    desk.page.fill("[name=tiles]", "https://tiles.example/{z}/{x}/{y}.png")
    desk.page.keyboard.press("Escape")
    desk.page.keyboard.press("Tab")
    expect(desk.page.locator(".tile").first).to_be_attached()
    zoom, column, row = map(int, asked[0].removesuffix(".png").split("/")[-3:])
    # Berlin: 13.4 degrees east, 52.5 degrees north
    assert (column / 2**zoom, row / 2**zoom) == pytest.approx((0.5372, 0.3279), abs=2**-zoom * 4)


def test_a_token_is_asked_for_and_sent_with_everything(open_desk, tmp_path):
    secret = tmp_path / "token"
    secret.write_text("correct-horse-battery\n")
    with Running(
        tmp_path / "jobs.sqlite", "--workers", "1", "--token-file", str(secret)
    ) as guarded:
        desk = open_desk(port=guarded.port)
        desk.page.goto(desk.address)
        dialog = desk.page.locator("#token")
        for given in ("a-wrong-token-of-length", "correct-horse-battery"):
            expect(dialog).to_be_visible()
            desk.page.fill("#token input", given)
            desk.page.keyboard.press("Enter")
        desk.page.click("[data-example=couriers]")
        desk.plan()
        desk.says("Proved: none is better")
        expect(dialog).to_be_hidden()
