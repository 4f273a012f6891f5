"""Edits by hand: judged at once, shown where they happen, undone and redone."""

import pytest
from playwright.sync_api import expect


@pytest.fixture
def planned(desk):
    """The example of parcels, planned."""
    desk.example("couriers")
    desk.plan()
    desk.says("Proved: none is better")
    return desk


def test_a_stop_dragged_too_late_says_so_in_its_row_until_it_is_undone(planned):
    before = planned.stops()
    planned.drag(before[1], before[11])
    planned.says("Breaks")
    assert planned.stops().index(before[1]) == 11
    wrong = planned.row(before[1]).locator(".wrong")
    expect(wrong).to_contain_text("after it closes at")
    node = planned.row(before[1]).get_attribute("data-node")
    expect(planned.page.locator(f'.marker.broken[data-node="{node}"]')).to_be_visible()
    planned.page.click("#where")
    expect(planned.page.locator(".row.broken.looked")).to_have_count(1)
    planned.page.click("#undo")
    planned.says("Proved: none is better")
    assert planned.stops() == before
    planned.page.keyboard.press("Control+Shift+Z")
    planned.says("Breaks")


def test_a_stop_dragged_along_the_timeline_goes_to_that_hour(planned):
    first, *_, last = planned.stops()
    lane = planned.row(first).locator(".lane").bounding_box()
    start = planned.row(first).locator(".lane .service").bounding_box()
    middle = start["y"] + start["height"] / 2
    planned.page.mouse.move(start["x"] + start["width"] / 2, middle)
    planned.page.mouse.down()
    planned.page.mouse.move(lane["x"] + lane["width"] - 2, middle + 3, steps=6)
    planned.page.mouse.up()
    planned.says("Breaks")
    assert planned.stops()[-2:] == [last, first]


def test_escape_puts_a_dragged_stop_back(planned):
    before = planned.stops()
    box = planned.row(before[2]).locator(".name").bounding_box()
    planned.page.mouse.move(box["x"] + 5, box["y"] + 5)
    planned.page.mouse.down()
    planned.page.mouse.move(box["x"] + 5, box["y"] + 200, steps=4)
    planned.page.keyboard.press("Escape")
    planned.page.mouse.up()
    assert planned.stops() == before
    expect(planned.page.locator("#redo")).to_be_disabled()


def test_a_locked_beginning_stays_when_the_plan_is_improved_from_here(planned):
    before = planned.stops()
    planned.row(before[4]).focus()
    planned.page.keyboard.press("Alt+ArrowUp")
    expect(planned.row(before[4])).to_have_attribute("data-place", "4")
    swapped = planned.stops()
    assert swapped[3] == before[4]
    planned.page.keyboard.press("l")
    expect(planned.page.locator(".row.locked")).to_have_count(4)
    planned.drag(swapped[1], swapped[6])
    assert planned.stops() == swapped
    planned.page.click("#improve")
    planned.settled()
    if planned.page.locator("#why").is_hidden():
        assert planned.stops()[:4] == swapped[:4]
    else:
        expect(planned.page.locator("#why")).to_contain_text("none that keeps the locked beginning")


def test_a_stop_left_out_is_a_violation_until_it_is_put_back(planned):
    before = planned.stops()
    planned.row(before[7]).hover()
    planned.page.get_by_role("button", name=f"Leave {before[7]} out").click()
    planned.says("Breaks 1 rule")
    out = planned.page.locator("#left-out li")
    expect(out).to_contain_text(before[7])
    expect(out).to_contain_text("must be served")
    out.get_by_role("button").click()
    expect(planned.page.locator("#left-out")).to_be_hidden()
    assert sorted(planned.stops()) == sorted(before)


def test_a_reload_keeps_the_order_and_what_is_locked(planned):
    before = planned.stops()
    planned.row(before[3]).focus()
    planned.page.keyboard.press("Alt+ArrowDown")
    expect(planned.row(before[3])).to_have_attribute("data-place", "5")
    planned.page.keyboard.press("l")
    expect(planned.page.locator(".row.locked")).to_have_count(5)
    edited = planned.stops()
    planned.page.reload()
    expect(planned.page.locator(".row.locked")).to_have_count(5)
    assert planned.stops() == edited


def test_list_timeline_and_map_show_the_same_stop(planned):
    name = planned.stops()[5]
    node = planned.row(name).get_attribute("data-node")
    marker = planned.page.locator(f'.marker[data-node="{node}"]')
    planned.row(name).hover()
    expect(marker).to_contain_class("looked")
    expect(planned.page.locator("#card")).to_contain_text(name)
    marker.hover()
    expect(planned.row(name)).to_contain_class("looked")
    planned.page.locator("#map").focus()
    planned.page.keyboard.press("ArrowRight")
    expect(planned.row(planned.stops()[6])).to_contain_class("looked")


def test_everything_can_be_done_from_the_keyboard(desk):
    desk.visit()
    press = desk.page.keyboard.press
    desk.page.locator("[data-example=couriers]").focus()
    press("Enter")
    expect(desk.page.locator("#plan")).to_be_focused()
    press("Enter")
    desk.says("Proved: none is better")
    before = desk.stops()
    for _ in range(12):
        press("Tab")
        if desk.page.evaluate("document.activeElement.matches('#rows .row')"):
            break
    for _ in range(3):
        press("ArrowDown")
    expect(desk.row(before[2])).to_be_focused()
    press("Alt+ArrowDown")
    expect(desk.row(before[2])).to_have_attribute("data-place", "4")
    expect(desk.row(before[2])).to_be_focused()
    assert desk.stops()[3] == before[2]
    press("Tab")
    expect(desk.page.get_by_role("button", name=f"Move {before[2]} earlier")).to_be_focused()
    press("Enter")
    expect(desk.row(before[2])).to_have_attribute("data-place", "3")
    press("Shift+Tab")
    press("Delete")
    expect(desk.page.locator("#left-out")).to_contain_text(before[2])
    press("Control+z")
    expect(desk.page.locator("#left-out")).to_be_hidden()
    expect(desk.page.locator("#announcer")).not_to_be_empty()
