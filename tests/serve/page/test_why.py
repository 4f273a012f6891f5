"""Where there is no tour: what collides, in words, and the change that helps."""

import re

from playwright.sync_api import expect


def test_colliding_stops_are_named_and_the_smallest_repair_is_applied(desk):
    desk.example("collision")
    desk.plan()
    desk.says("No tour keeps every rule")
    why = desk.page.locator("#why")
    expect(why).to_contain_text("cannot be reached before")
    expect(why).to_contain_text(re.compile(r"bakery closes at 10:00 but cannot .* 10:06:19 if"))
    chips = why.locator(".stop-chip").all_text_contents()
    assert len(chips) >= 2
    marked = desk.page.locator(".marker.colliding")
    expect(marked).to_have_count(len(chips))
    expect(desk.page.locator("#left-out")).to_contain_text("must be served")
    apply = why.get_by_role("button", name="Let ")
    apply.click()
    desk.says("Proved: none is better")
    expect(why).to_be_hidden()
    assert set(chips) <= set(desk.stops())
    desk.page.click("#undo")
    desk.page.click("#undo")
    desk.says("No tour keeps every rule")


def test_the_plan_that_is_shown_meanwhile_can_be_late_instead(desk):
    desk.example("collision")
    desk.page.click("#how")
    desk.page.select_option("[name=relax]", "late")
    desk.page.keyboard.press("Escape")
    desk.plan()
    desk.says("No tour keeps every rule")
    expect(desk.page.locator("#rows .row.stop")).to_have_count(7)
    expect(desk.page.locator(".row .wrong").first).to_contain_text("after it closes at")


def test_of_many_conflicts_a_few_are_shown_and_the_others_unfold(desk, tmp_path):
    rows = [f"S{at},0,{at},08:00,08:0{at % 10}" for at in range(60, 100)]
    path = tmp_path / "hopeless.csv"
    path.write_text("\n".join(["name,x,y,from,to", "Depot,0,0,08:00,17:00", *rows, ""]))
    desk.upload(path)
    desk.plan()
    desk.says("No tour keeps every rule")
    reasons = desk.page.locator("#why .reasons")
    expect(reasons.locator(".collide >> visible=true")).to_have_count(4)
    reasons.locator("summary").click()
    expect(reasons.locator(".collide >> visible=true")).to_have_count(40)
    expect(reasons.locator("summary")).to_have_text("36 more conflicts")
    expect(desk.page.locator("#why")).to_contain_text("is left out and 36 more.")
