"""The plan as files, and on paper."""

import json

import pytest
from playwright.sync_api import expect


@pytest.fixture
def planned(desk):
    desk.example("day")
    desk.plan()
    desk.says("Proved: none is better")
    return desk


def saved(desk, form: str) -> bytes:
    desk.page.click("#export")
    with desk.page.expect_download() as download:
        desk.page.click(f"[data-export={form}]")
    return download.value.path().read_bytes()


def test_a_plan_is_saved_in_every_format_with_every_stop(planned):
    stops = planned.stops()
    rows = saved(planned, "csv").decode().splitlines()
    assert [row.split(",")[1] for row in rows if row.startswith("stop,")] == stops
    expect(planned.page.locator("#rows .row.break .name")).to_have_text("Lunch")
    steps = json.loads(saved(planned, "json"))["steps"]
    assert [step["name"] for step in steps if step["kind"] == "stop"] == stops
    assert json.loads(saved(planned, "geojson"))["type"] == "FeatureCollection"
    assert saved(planned, "ics").count(b"BEGIN:VEVENT") >= len(stops)
    assert saved(planned, "png").startswith(b"\x89PNG")
    assert len(json.loads(saved(planned, "stops"))["names"]) == len(stops) + 1


def test_a_plan_that_breaks_a_rule_is_not_exported_and_the_sentence_says_why(planned):
    first = planned.stops()[0]
    planned.drag(first, planned.stops()[-1])
    planned.says("Breaks")
    planned.page.click("#export")
    planned.page.click("[data-export=csv]")
    expect(planned.page.locator("#export-problem")).to_contain_text("not feasible")


def test_paper_shows_the_schedule_and_no_controls(planned):
    planned.page.emulate_media(media="print")
    planned.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    names = planned.page.locator("#sheet tbody tr.stop td:nth-child(2)").all_text_contents()
    assert names == planned.stops()
    expect(planned.page.locator("#sheet")).to_be_visible()
    expect(planned.page.locator("#plan")).to_be_hidden()
