"""From a file, a paste or a typed table to a plan, with live progress."""

import json
import os
import random
import signal
from itertools import pairwise

import pytest
from playwright.sync_api import expect

from benchmarks.service.running import Running

MORNING = """Customer,Address,Latitude,Longitude,From,To,Duration
Depot,Quay 1,59.910,10.750,07:30,17:00,
Mill,High St 12,59.930,10.700,08:30,10:00,0:15
Bakery,Low St 3,59.950,10.800,1:00 pm,3:30 pm,10 min
School,Park Rd 9,59.880,10.790,09:15,12:00,1h30
"""
DROP = """(text) => {
  const data = new DataTransfer();
  data.items.add(new File([text], "dropped.csv"));
  dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
}"""
PASTE = """(text) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}"""
SQUARE = "name\tx\ty\tfrom\tto\nDepot\t0\t0\t08:00\t17:00\nNorth\t0\t9\t\t\nEast\t9\t9\t\t\nSouth\t9\t0\t\t\n"


@pytest.fixture
def morning(tmp_path):
    path = tmp_path / "morning.csv"
    path.write_text(MORNING)
    return path


def test_degrees_without_a_speed_are_asked_for_it_and_then_planned(desk, morning):
    desk.upload(morning)
    problem = desk.page.locator("#intake-problem")
    expect(problem).to_contain_text("nothing says how fast one travels")
    expect(desk.page.locator("#speed")).to_be_focused()
    desk.page.keyboard.type("40")
    desk.page.keyboard.press("Tab")
    expect(desk.page.locator("#file-name")).to_have_text("morning")
    desk.plan()
    desk.says("Proved: none is better")
    assert desk.stops() == ["Mill", "School", "Bakery"]
    expect(desk.row("School").locator(".when")).to_contain_text("09:15\u201310:45")
    expect(desk.row("School")).to_contain_text("Park Rd 9")


def test_a_speed_once_typed_goes_with_the_files_that_ask_for_one_alone(desk, morning, tmp_path):
    (tmp_path / "square.csv").write_text(SQUARE)
    (tmp_path / "own.json").write_text('{"problem": "tour", "travel": [[0, 30], [40, 0]]}')
    desk.upload(morning)
    expect(desk.page.locator("#speed")).to_be_focused()
    desk.page.keyboard.type("40")
    desk.page.keyboard.press("Tab")
    title = desk.page.locator("#file-name")
    expect(title).to_have_text("morning")
    for name, cost in (("square.csv", "36 min"), ("own.json", "70")):
        desk.page.click("#open")
        desk.page.set_input_files("#file-input", tmp_path / name)
        expect(title).to_have_text(name.partition(".")[0])
        desk.plan()
        expect(desk.page.locator("#figures")).to_contain_text(cost)
    desk.page.click("#open")
    desk.page.set_input_files("#file-input", morning)
    expect(title).to_have_text("morning")


@pytest.mark.parametrize(("gesture", "title"), [(DROP, "dropped"), (PASTE, "pasted")])
def test_a_table_is_read_wherever_it_is_dropped_or_pasted(desk, gesture, title):
    desk.visit()
    desk.page.evaluate(gesture, SQUARE)
    expect(desk.page.locator("#file-name")).to_have_text(title)
    assert desk.stops() == ["North", "East", "South"]


def test_an_unreadable_file_gets_one_sentence_that_names_it(desk, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("name,x,y,sevice\nDepot,0,0,\nMill,1,1,5\n")
    desk.upload(path)
    expect(desk.page.locator("#intake-problem")).to_contain_text("looks like 'service'")


def test_a_typed_table_becomes_a_plan_and_a_wrong_cell_is_named_by_its_row(desk):
    desk.visit()
    desk.page.click("#blank")
    desk.page.get_by_text("Use x and y instead").click()
    for row, cells in enumerate(("Depot,0,0,08:00,17:00", "Mill,9,0,09:00,08:30", "Quay,0,9,,")):
        for column, cell in enumerate(cells.split(",")):
            desk.page.fill(f'[data-row="{row}"][data-column="{column}"]', cell)
    desk.page.click("#apply-table")
    expect(desk.page.locator("#pane-stops .problem")).to_contain_text("Row 1: ")
    expect(desk.page.locator("tr.wrong-line [data-column='0']")).to_have_value("Mill")
    desk.page.fill('[data-row="1"][data-column="4"]', "9:30")
    desk.page.click("#apply-table")
    desk.plan()
    desk.says("Proved: none is better")
    expect(desk.row("Mill").locator(".when")).to_contain_text("09:00")


def test_progress_is_live_and_stopping_keeps_the_best(desk, tmp_path):
    dice = random.Random(2)
    rows = [f"S{at},{dice.randint(0, 999)},{dice.randint(0, 999)}" for at in range(150)]
    path = tmp_path / "many.csv"
    path.write_text("\n".join(["name,x,y", *rows, ""]))
    desk.upload(path)
    desk.page.click("#how")
    desk.page.select_option("[name=seconds]", "30")
    desk.page.keyboard.press("Escape")
    desk.page.click("#plan")
    expect(desk.page.locator("#chart")).to_be_visible()
    desk.says("roved")  # "Not proved yet", or the gap
    expect(desk.page.locator("#figures")).to_contain_text("of 30 s")
    desk.page.click("#stop")
    desk.settled()
    assert len(set(desk.stops())) == 149
    assert desk.page.locator("#chip").get_attribute("data-tone") in ("good", "open")


def test_a_job_goes_on_when_the_service_was_killed_and_started_again(open_desk, tmp_path):
    with Running(tmp_path / "jobs.sqlite", "--workers", "1") as service:
        desk = open_desk(port=service.port)
        desk.example("couriers")
        desk.page.route("**/events", lambda route: (service.kill(), route.abort()), times=1)
        with desk.page.expect_event("requestfailed", lambda each: each.url.endswith("/events")):
            desk.page.click("#plan")
        expect(desk.page.locator("#stop")).to_be_visible()
        service.start(ready=False)
        expect(desk.page.locator("#stop")).to_be_hidden(timeout=30_000)
        desk.says("Proved: none is better")


def test_a_stream_that_falls_silent_is_asked_for_again(open_desk, tmp_path):
    with Running(tmp_path / "jobs.sqlite", "--workers", "1") as service:
        desk = open_desk(port=service.port)
        desk.page.clock.install()
        asked = []
        desk.page.on("request", lambda each: asked.append(each.url))
        desk.example("couriers")
        desk.page.route("**/events", lambda route: (pause(service), route.continue_()), times=1)
        with desk.page.expect_request("**/events"):
            desk.page.click("#plan")
        with desk.page.expect_request("**/events"):
            desk.page.clock.fast_forward(60_000)
        os.kill(service.pid, signal.SIGCONT)
        desk.says("Proved: none is better")
        assert sum(url.endswith("/events") for url in asked) == 2


def pause(service: Running) -> None:
    """Has a service fall silent without closing anything, as a cable that is pulled."""
    os.kill(service.pid, signal.SIGSTOP)


def test_a_problem_of_vroom_is_shown_by_the_time_of_day_with_what_stops_are_called(desk, tmp_path):
    job = {"location_index": 1, "service": 300, "time_windows": [[32400, 36000]]}
    problem = {
        "vehicles": [{"id": 1, "start_index": 0, "end_index": 0, "time_window": [28800, 61200]}],
        "jobs": [
            {**job, "id": 10, "description": "Customer A"},
            {**job, "id": 11, "location_index": 2},
        ],
        "matrices": {"car": {"durations": [[0, 600, 900], [600, 0, 700], [900, 700, 0]]}},
    }
    path = tmp_path / "vroom.json"
    path.write_text(json.dumps(problem))
    desk.upload(path)
    desk.plan()
    desk.says("Proved: none is better")
    expect(desk.row("job 10").locator("small").first).to_have_text("Customer A")
    expect(desk.page.locator("#rows .row.stop .when b").first).to_have_text("09:00")
    expect(desk.page.locator("#figures")).to_contain_text("37 min")


def test_every_label_of_the_axis_can_be_read(open_desk):
    for width in (390, 900, 1280):
        desk = open_desk({"width": width, "height": 860})
        desk.example("couriers")
        desk.drawn()
        boxes = [label.bounding_box() for label in desk.page.locator("#axis text").all()]
        pane = desk.page.locator(".list").bounding_box()
        assert len(boxes) > 2
        assert all(a["x"] + a["width"] < b["x"] for a, b in pairwise(boxes))
        assert pane["x"] <= boxes[0]["x"]
        assert boxes[-1]["x"] + boxes[-1]["width"] <= pane["x"] + pane["width"]


def test_a_gap_is_told_only_below_ten_percent_and_never_rounded_down(desk):
    desk.visit()
    told = desk.page.evaluate(
        """async () => {
          const { proven, percent, standing } = await import("/page/words.js");
          const plan = (value, bound) => standing({ status: "feasible", value, lower_bound: bound }).text;
          return [proven(112, 100), plan(112, 100), plan(109, 100), percent(0.012301), plan(5, null)];
        }"""
    )
    assert told == [
        None,
        "Not proved yet",
        "Proved: at most 9.00 % above the best",
        "1.24 %",
        "Not proved yet",
    ]


def test_an_edited_table_keeps_the_order_of_the_plan(desk):
    desk.example("collision")
    desk.page.click("#tab-stops")
    cells = desk.page.locator("#pane-stops .cells")
    expect(cells.locator("tbody tr")).to_have_count(8)
    desk.page.click("#tab-plan")
    desk.page.click("#check")
    desk.says("Breaks")
    before = desk.stops()
    desk.page.click("#tab-stops")
    notary = cells.locator("tr").filter(has=desk.page.locator('input[value="notary"]'))
    closes = cells.locator("thead th").all_inner_texts().index("close") - 1
    notary.locator(f'[data-column="{closes}"]').fill("16:00")
    desk.page.click("#apply-table")
    expect(desk.row("notary")).not_to_have_class("broken")
    assert desk.stops() == before
