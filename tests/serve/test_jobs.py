"""Jobs over HTTP: accepted, followed, stopped, and still there after the service was killed."""

import http.client
import json
import os
import resource
import signal
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.service.running import Running


@pytest.fixture(scope="module")
def short(known) -> dict:
    return {"instance": known["couriers"], "seconds": 1}


def test_a_job_is_solved_and_its_result_is_the_plan_document(service, short):
    accepted = service.ask("POST", "/jobs", short)
    assert accepted.status == 202
    told = service.finished(accepted.json()["id"])
    assert accepted.headers["location"] == f"/jobs/{told['id']}"
    assert told["status"] == "done"
    assert told["result"]["status"] == "optimal"
    assert told["trace"] == told["result"]["trace"]
    assert told["created"] <= told["started"] <= told["ended"]
    assert told["error"] is None


def test_a_bad_body_is_refused_before_there_is_a_job(service):
    before = service.ask("GET", "/jobs").json()["jobs"]
    assert service.ask("POST", "/jobs", {"instance": {"problem": "tour"}}).status == 400
    assert service.ask("GET", "/jobs").json()["jobs"] == before


def test_a_key_makes_a_repeated_post_the_same_job(service, short):
    key = {"Idempotency-Key": "order 17"}
    first = service.ask("POST", "/jobs", short, key).json()["id"]
    assert service.ask("POST", "/jobs", short, key).json()["id"] == first
    service.finished(first)
    assert service.ask("POST", "/jobs", short, key).json() == {"id": first, "status": "done"}
    other = service.ask("POST", "/jobs", {**short, "seconds": 2}, key)
    assert other.status == 409


def test_events_tell_when_a_job_that_waits_is_begun(service, long_search):
    first = service.ask("POST", "/jobs", {**long_search, "seconds": 0.5}).json()["id"]
    job = service.ask("POST", "/jobs", {**long_search, "seconds": 0.0, "seed": 1}).json()["id"]
    told = [data for kind, data in _events(service, job) if kind == "status"]
    assert [data["status"] for data in told] == ["waiting", "running"]
    assert all(data["seconds"] >= 0 for data in told)
    service.finished(first)


def test_events_tell_every_better_plan_and_then_the_end(service, long_search):
    job = service.ask("POST", "/jobs", {**long_search, "seconds": 1.5}).json()["id"]
    told = _events(service, job)
    kinds = [kind for kind, _ in told]
    assert kinds[-1] == "end"
    assert kinds.count("end") == 1
    values = [data["value"] for kind, data in told if kind == "improvement"]
    assert values == sorted(values, reverse=True)
    assert len(values) > 1
    plans = [data["result"] for kind, data in told if kind == "improvement"]
    assert all(plan["steps"][0]["kind"] == "start" for plan in plans)
    assert all(plan["value"] == value for plan, value in zip(plans, values, strict=True))
    assert told[-1][1]["result"]["value"] <= values[-1]
    assert told[-1][1]["status"] == "done"
    assert _events(service, job) == [told[-1]]


def test_stopping_keeps_the_best_plan_so_far(service, long_search):
    job = service.ask("POST", "/jobs", long_search).json()["id"]
    until = time.monotonic() + 10
    while service.ask("GET", f"/jobs/{job}").json()["result"] is None:
        assert time.monotonic() < until
        time.sleep(0.05)
    best = service.ask("GET", f"/jobs/{job}").json()["result"]["value"]
    told = service.ask("DELETE", f"/jobs/{job}").json()
    assert told["status"] == "stopped"
    assert told["result"]["value"] <= best
    assert told["result"]["interrupted"]
    assert service.ask("DELETE", f"/jobs/{job}").json() == told
    assert service.ask("GET", f"/jobs/{job}").json() == told


def test_a_job_that_waits_can_be_stopped_too(service, long_search):
    running = service.ask("POST", "/jobs", long_search).json()["id"]
    waiting = service.ask("POST", "/jobs", {**long_search, "seed": 1}).json()["id"]
    told = service.ask("DELETE", f"/jobs/{waiting}").json()
    assert (told["status"], told["result"]) == ("stopped", None)
    assert service.ask("DELETE", f"/jobs/{running}").json()["status"] == "stopped"


def test_a_job_whose_worker_dies_while_it_is_stopped_is_not_begun_again(tmp_path, long_search):
    with Running(tmp_path / "jobs.sqlite", "--workers", "1") as service:
        job = service.ask("POST", "/jobs", long_search).json()["id"]
        until = time.monotonic() + 10
        while service.ask("GET", f"/jobs/{job}").json()["result"] is None:
            assert time.monotonic() < until
            time.sleep(0.05)
        workers = _children(service.pid)
        for each in workers:
            os.kill(each, signal.SIGSTOP)
        told = []
        asked = threading.Thread(
            target=lambda: told.append(service.ask("DELETE", f"/jobs/{job}").json())
        )
        asked.start()
        time.sleep(0.3)
        for each in workers:
            os.kill(each, signal.SIGKILL)
        asked.join()
        assert told[0]["status"] == "stopped"
        assert told[0]["result"]["tour"] is not None
        service.wait()
        assert service.ask("GET", "/health").json()["busy"] == 0


def test_pages_of_jobs_follow_one_another(service, short):
    for _ in range(3):
        service.finished(service.ask("POST", "/jobs", short).json()["id"])
    every = [job["id"] for job in service.ask("GET", "/jobs?limit=1000").json()["jobs"]]
    first = service.ask("GET", "/jobs?limit=2").json()
    second = service.ask("GET", f"/jobs?limit=2&after={first['next']}").json()
    assert [job["id"] for job in first["jobs"] + second["jobs"]] == every[:4]
    assert service.ask("GET", "/jobs?limit=0").status == 400


def test_what_is_no_job_is_not_found(service):
    for method, path in (("GET", "/jobs/x"), ("DELETE", "/jobs/x"), ("GET", "/jobs/x/events")):
        answer = service.ask(method, path)
        assert answer.status == 404
        assert "no such job" in answer.json()["error"]


def test_after_a_kill_finished_jobs_are_there_and_others_are_solved(tmp_path, short, long_search):
    with Running(tmp_path / "jobs.sqlite", "--workers", "1") as service:
        done = service.ask("POST", "/jobs", short).json()["id"]
        told = service.finished(done)
        body = {**long_search, "seconds": 1}
        others = [service.ask("POST", "/jobs", {**body, "seed": n}).json()["id"] for n in range(3)]
        stopped = service.ask("POST", "/jobs", body).json()["id"]
        service.ask("DELETE", f"/jobs/{stopped}")
        service.kill()
        service.start(ready=False)
        assert service.ask("GET", f"/jobs/{done}").json() == told
        assert service.ask("GET", f"/jobs/{stopped}").json()["status"] == "stopped"
        assert {service.finished(job)["status"] for job in others} == {"done"}


@pytest.mark.soak
def test_on_sigterm_requests_are_answered_and_jobs_wait_for_the_next_start(tmp_path, long_search):
    with Running(tmp_path / "jobs.sqlite", "--workers", "2") as service:
        job = service.ask("POST", "/jobs", {**long_search, "seconds": 2}).json()["id"]
        answers = []
        body = {**long_search, "seconds": 2}
        thread = threading.Thread(
            target=lambda: answers.append(service.ask("POST", "/solve", body))
        )
        thread.start()
        time.sleep(0.5)
        assert service.terminate() == 0
        thread.join()
        assert answers[0].json()["tour"] is not None
        service.start(ready=False)
        assert service.finished(job)["status"] == "done"


def _children(parent: int) -> list[int]:
    """The processes that a process started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(stat.parent.name))
    return found


def _events(service, job: str) -> list[tuple[str, dict]]:
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    connection.request("GET", f"/jobs/{job}/events")
    text = connection.getresponse().read().decode()
    connection.close()
    found = []
    for block in text.split("\n\n"):
        if block and not block.startswith(":"):
            kind, data = block.split("\n", 1)
            found.append((kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


def test_while_the_disk_is_full_jobs_are_refused_and_what_runs_is_kept_until_there_is_room(
    tmp_path, short, long_search
):
    with Running(tmp_path / "jobs.sqlite", "--workers", "1") as service:
        running = service.ask("POST", "/jobs", {**long_search, "seconds": 3}).json()["id"]
        waiting = service.ask("POST", "/jobs", short).json()["id"]
        while service.ask("GET", f"/jobs/{running}").json()["status"] == "waiting":
            time.sleep(0.02)
        old = resource.prlimit(service.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (4096, old[1]))
        refused = service.ask("POST", "/jobs", short)
        assert refused.status == 503
        assert int(refused.headers["retry-after"]) > 0
        assert "disk may be full" in refused.json()["error"]
        assert service.ask("DELETE", f"/jobs/{waiting}").status == 503
        assert service.ask("GET", f"/jobs/{waiting}").json()["status"] == "waiting"
        assert len(service.ask("GET", "/jobs").json()["jobs"]) == 2
        assert service.ask("POST", "/solve", short).json()["status"] == "optimal"
        assert service.ask("GET", f"/jobs/{running}").json()["status"] == "running"
        resource.prlimit(service.pid, resource.RLIMIT_FSIZE, old)
        assert service.finished(running)["status"] == "done"
        assert service.finished(waiting)["status"] == "done"
        assert service.ask("POST", "/jobs", short).status == 202
        assert not [line for line in service.lines if not line.startswith("{")]


def test_on_sigterm_a_body_that_is_still_coming_in_is_refused_and_nothing_is_said_of_it(tmp_path):
    with Running(tmp_path / "jobs.sqlite", "--workers", "1") as service:
        with socket.create_connection(("127.0.0.1", service.port), timeout=30) as line:
            head = "POST /solve HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            line.sendall(f"{head}Content-Length: 500\r\n\r\nabc".encode())
            time.sleep(0.5)
            assert service.terminate() == 0
            answer = line.recv(1 << 16)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"the service is ending" in answer
        assert not [line for line in service.lines if not line.startswith("{")]
