"""The endpoints of a running service."""

import json
import socket
import threading
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from apart import run_apart
from starlette.datastructures import Headers

import fairway
from fairway.serve.bodies import Bodies
from fairway.serve.guard import Guard
from fairway.serve.metrics import Metrics
from fairway.serve.service import Refused
from fairway.serve.settings import Settings
from fairway.serve.work import MEDIA

DEGREES = "name,lat,lon\na,50,8\nb,50.1,8.1\n"


def test_solving_over_http_gives_the_plan_that_solve_gives(service, known):
    told = service.ask("POST", "/solve", {"instance": known["couriers"], "seconds": 5}).json()
    assert told["status"] == "optimal"
    assert told["words"] == "optimal"
    assert told["value"] == pytest.approx(415.6312515, abs=1e-6)
    assert [step["kind"] for step in told["steps"]] == ["start"] + ["stop"] * 20 + ["end"]
    assert told["left_out"] == []


def test_a_key_that_is_given_twice_is_named(service):
    body = b'{"instance": {"problem": "tour"}, "tour": [1], "tour": [1]}'
    told = service.ask("POST", "/verify", body, {"Content-Type": "application/json"})
    assert told.status == 400
    assert told.json()["error"] == "the key 'tour' is given twice; expected it once"


def test_a_file_is_read_like_the_same_instance(service, known):
    text = "id,x,y,open,close\ndepot,0,0,0,100\na,3,4,0,50\nb,6,8,0,50\n"
    by_file = service.ask("POST", "/solve", {"file": {"name": "stops.csv", "text": text}}).json()
    converted = service.ask("POST", "/convert", {"file": {"name": "stops.csv", "text": text}})
    by_object = service.ask("POST", "/solve", {"instance": converted.json()["instance"]}).json()
    assert by_file["tour"] == by_object["tour"]
    assert by_file["value"] == by_object["value"] == 20.0


def test_where_there_is_no_tour_conflicts_and_a_relaxed_plan_are_given(service, known):
    told = service.ask("POST", "/solve", {"instance": known["collision"], "seconds": 3}).json()
    assert told["status"] == "infeasible"
    assert told["conflicts"][0]["names"] == ["bakery", "notary"]
    assert told["relaxed"]["given_up"] == ["stop 2 (notary) is left out"]
    assert told["relaxed"]["steps"][0]["kind"] == "start"


def test_a_repair_of_explain_makes_the_instance_feasible(service, known):
    told = service.ask("POST", "/explain", {"instance": known["collision"], "seconds": 5}).json()
    repair = told["repairs"][0]
    assert repair["from"] != repair["to"]
    again = service.ask("POST", "/solve", {"instance": repair["instance"], "seconds": 3}).json()
    assert again["tour"] is not None


def test_the_verdict_on_an_order_by_hand_has_times_and_every_violation(service, known):
    instance = known["couriers"]
    names = instance["names"][1:]
    told = service.ask("POST", "/verify", {"instance": instance, "tour": names}).json()
    by_node = service.ask("POST", "/verify", {"instance": instance, "tour": list(range(1, 21))})
    assert told == by_node.json()
    assert not told["feasible"]
    assert {each["kind"] for each in told["violations"]} == {"late", "late return"}
    late = {each["name"]: each["amount"] for each in told["violations"] if each["node"]}
    steps = {step["name"]: step["late"] for step in told["steps"] if step["late"]}
    assert late == pytest.approx({name: steps[name] for name in late})


def test_an_order_that_misses_a_stop_is_no_tour_and_says_so(service, known):
    asked = {"instance": known["couriers"], "tour": ["bakery", "bakery"]}
    told = service.ask("POST", "/verify", asked).json()
    assert told["steps"] is None
    assert {"missing", "repeated"} <= {each["kind"] for each in told["violations"]}


@pytest.mark.parametrize("to", ["csv", "json", "geojson", "ics", "vroom.json", "svg", "png"])
def test_a_plan_is_written_in_every_format(service, known, to):
    instance = known["day"]
    tour = service.ask("POST", "/solve", {"instance": instance, "seconds": 2}).json()["tour"]
    asked = {"instance": instance, "tour": tour, "to": to, "date": "2026-11-18"}
    answer = service.ask("POST", "/convert", asked)
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"] == MEDIA[to]
    assert answer.headers["content-disposition"] == f'attachment; filename="plan.{to}"'
    assert len(answer.body) > 100


@pytest.mark.parametrize("to", ["csv", "npz", "matrix", "tsplib", "solomon"])
def test_an_instance_is_written_in_every_format_that_holds_it(service, known, to, tmp_path):
    answer = service.ask("POST", "/convert", {"instance": known["couriers"], "to": to})
    assert answer.status == 200, answer.body
    (tmp_path / "back").write_bytes(answer.body)
    back = fairway.read(tmp_path / "back")
    assert back.nodes == 21


@pytest.mark.parametrize(
    ("path", "body", "status", "said"),
    [
        ("/solve", b"{", 400, "the body is not JSON"),
        ("/solve", b"[]", 400, "expected a JSON object"),
        ("/solve", b"\xff", 400, "not UTF-8"),
        ("/solve", b"[" * 50_000, 400, "nested too deeply"),
        ("/solve", {}, 400, "exactly one of the keys 'instance' and 'file'"),
        ("/solve", {"instanse": {}}, 400, "looks like 'instance'"),
        ("/solve", {"instance": {}, "secnds": 1}, 400, "looks like 'seconds'"),
        ("/solve", {"instance": {"problem": "tour", "travl": []}}, 400, "the key 'travl'"),
        ("/solve", {"instance": {"problem": "tour"}}, 400, "both missing"),
        ("/solve", {"file": {"name": "a.csv", "txt": ""}}, 400, "looks like 'text'"),
        ("/solve", {"file": {"name": "a.csv"}}, 400, "either 'text' or 'base64'"),
        ("/solve", {"file": {"name": "a", "base64": "?"}}, 400, "not base64"),
        ("/solve", {"file": {"name": "a", "text": "hello"}}, 400, "format is not known"),
        ("/solve", {"file": {"name": "a\n", "text": "hello"}}, 400, "cannot be printed"),
        ("/solve", {"file": {"name": "a", "text": "x"}, "seed": 0.5}, 400, "a whole number"),
        ("/solve", {"file": {"name": "a", "text": "x"}, "seconds": 99}, 413, "at most 10"),
        ("/solve", {"file": {"name": "a", "text": "x"}, "seconds": "9"}, 400, "'seconds'"),
        ("/solve", {"file": {"name": "a", "text": "x"}, "objective": "best"}, 400, "makespan"),
        ("/solve", b'{"seconds": NaN}', 400, "NaN"),
        ("/solve", {"instance": [1]}, 400, "'instance' is a list; expected an object"),
        ("/solve", {"file": {"name": "a", "text": DEGREES}}, 400, "in km/h, or a matrix"),
        ("/solve?seconds=3", {}, 400, "'seconds' is unknown; this address takes none"),
        ("/verify", {"file": {"name": "a", "text": "id,x,y\na,0,0\nb,1,1"}}, 400, "'tour'"),
        ("/convert", {"file": {"name": "a", "text": "x"}, "to": "pickle"}, 400, "json"),
    ],
)
def test_bad_input_gets_one_sentence(service, path, body, status, said):
    answer = service.ask("POST", path, body)
    assert answer.status == status
    assert said in answer.json()["error"]
    assert "\n" not in answer.json()["error"]


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/vroom?sekonds=3", {}, "looks like 'seconds'; expected seconds, speed"),
        ("/vroom?seconds=1&seconds=2", {}, "'seconds' is given twice"),
        ("/vroom?seconds=nan", {}, "'seconds'"),
        ("/vroom", b'{"vehicles": NaN, "jobs": []}', "the body holds NaN"),
        ("/vroom", b'{"vehicles": [', "the body is not JSON"),
        ("/vroom", {"vehicle": []}, "the body is no problem of VROOM"),
        ("/vroom", {"vehicles": [{"id": 1}], "jobs": [1]}, "'jobs[0]' is the number 1"),
        (
            "/vroom",
            {"vehicles": [{"id": 1}], "jobs": [{"id": 1, "location": [2, 48]}]},
            "the body has no 'matrices'",
        ),
    ],
)
def test_clients_of_vroom_get_a_sentence_with_its_code(service, path, body, said):
    answer = service.ask("POST", path, body)
    assert answer.status == 400
    assert answer.json()["code"] == 2
    assert said in answer.json()["error"]


def test_parameters_of_a_list_are_known_and_given_once_while_monitors_may_add_their_own(service):
    for query in ("limit=5&limit=6", "lmit=5", "limit=0", "after=x"):
        answer = service.ask("GET", f"/jobs?{query}")
        assert answer.status == 400
        assert "'limit'" in answer.json()["error"] or "'after'" in answer.json()["error"]
    assert service.ask("GET", "/health?from=monitor").status == 200
    assert service.ask("GET", "/?campaign=1").status == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"hello\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /solve HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_what_is_not_http_gets_a_sentence_too(service, sent):
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as line:
        line.sendall(sent)
        head, _, body = _all_of(line).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert "HTTP" in json.loads(body)["error"]


def test_nonsense_after_an_answer_ends_the_connection_without_a_word_in_the_log(service):
    head = b"POST /solve HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as line:
        line.sendall(head)
        answer = b""
        while not answer.endswith(b"}"):  # its head and body may come apart
            more = line.recv(1 << 16)
            assert more, "the answer was cut short"
            answer += more
        assert b" 415 " in answer
        line.sendall(b"zz\r\nfoo")
        assert _all_of(line) == b""
    assert not [line for line in service.lines if not line.startswith("{")]


def test_a_failure_of_our_own_is_logged_by_its_place_and_without_what_it_was_about(capsys):
    async def failing(*_: object) -> None:
        raise ValueError("Zanzibar-Street-5")

    sent: list[dict] = []

    async def send(message: dict) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/jobs", "headers": [(b"host", b"localhost")]}
    run_apart(Guard(failing, Settings(Path("unused")), Metrics())(scope, None, send))
    assert [message.get("status") for message in sent] == [500, None]
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert first["failed"] == "ValueError"
    assert "failing" in first["where"][0]
    assert "Zanzibar" not in json.dumps([first, second])


def test_more_stops_than_the_service_takes_on_are_refused(service):
    points = [[n, n % 7] for n in range(62)]
    answer = service.ask("POST", "/solve", {"instance": {"problem": "tour", "coordinates": points}})
    assert answer.status == 413
    assert "61 stops; this service takes at most 60" in answer.json()["error"]


def test_a_stop_by_a_name_that_is_unknown_is_named(service, known):
    asked = {"instance": known["couriers"], "fixed": ["bakery", "castle"]}
    answer = service.ask("POST", "/solve", asked)
    assert answer.status == 400
    assert "'castle'" in answer.json()["error"]


def test_a_fixed_beginning_and_an_initial_order_are_kept(service, known):
    instance = known["optional"]
    first = service.ask("POST", "/solve", {"instance": instance, "fixed": ["Larch"]}).json()
    assert first["tour"][0] == instance["names"].index("Larch")
    again = {"instance": instance, "initial": first["tour"], "seconds": 0}
    assert service.ask("POST", "/solve", again).json()["value"] <= first["value"]


def test_a_body_that_is_too_large_or_no_json_is_refused(service):
    assert service.ask("POST", "/solve", b" " * (1 << 20) + b"{}").status == 413
    plain = service.ask("POST", "/solve", b"{}", {"Content-Type": "text/plain"})
    assert plain.status == 415


def test_a_body_of_unknown_length_is_cut_where_it_gets_too_large(service):
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    parts = (b" " * 65536 for _ in range(64))
    try:
        connection.request("POST", "/solve", parts, {"Content-Type": "application/json"})
        assert connection.getresponse().status == 413
    except (BrokenPipeError, ConnectionResetError):
        pass  # it was refused before it was all sent
    finally:
        connection.close()


def test_what_waits_counts_among_the_bodies_that_are_held():
    bodies, told = Bodies(1000), []

    async def work():
        async with bodies.held(_Sent(b"x" * 900)), AsyncExitStack() as others:
            for _ in range(16):  # with the first, as much as may be held
                await others.enter_async_context(bodies.held(_Sent(b"x" * 900)))
            with pytest.raises(Refused) as refused:
                async with bodies.held(_Sent(b"x" * 900)):
                    pass
            told.append(refused.value.status)
        async with bodies.held(_Sent(b"x" * 900)) as body:
            told.append(len(body))

    run_apart(work())
    assert told == [429, 900]


class _Sent:
    """A request with a body."""

    def __init__(self, body):
        self._body, self.headers = body, Headers({"content-type": "application/json"})

    async def stream(self):
        yield self._body


def test_a_bomb_of_an_archive_is_refused(service):
    import base64
    import io
    import zipfile

    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("travel.npy", b"\x93NUMPY" + bytes(100 << 20))
    packed = base64.b64encode(content.getvalue()).decode()
    answer = service.ask("POST", "/solve", {"file": {"name": "bomb.npz", "base64": packed}})
    assert answer.status == 400
    assert service.ask("GET", "/health").status == 200


def test_many_ways_out_of_the_folder_of_the_page_lead_nowhere(service):
    for path in ("/page/../app.py", "/page/%2e%2e/app.py", "/page/..%2fapp.py", "/page//etc/passwd",
                 "/page/%00", "/../../etc/passwd"):  # fmt: skip
        answer = service.ask("GET", path)
        assert answer.status in (400, 404), path
        assert b"import" not in answer.body


def test_a_client_that_goes_away_frees_its_worker(service, long_search):
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    body = json.dumps(long_search).encode()
    connection.request("POST", "/solve", body, {"Content-Type": "application/json"})
    _until(lambda: service.ask("GET", "/health").json()["busy"] == 1)
    connection.close()
    _until(lambda: service.ask("GET", "/health").json()["busy"] == 0, seconds=5)


def test_a_full_queue_is_refused_with_a_time_to_come_back(service, long_search):
    body = {**long_search, "seconds": 1.5}
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(service.ask("POST", "/solve", body)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    _until(lambda: len(answers) == 3)
    assert {answer.status for answer in answers} == {429}
    assert all(int(answer.headers["retry-after"]) >= 1 for answer in answers)
    assert service.ask("GET", "/health").json()["waiting"] == 4
    for thread in threads:
        thread.join()
    assert sorted(answer.status for answer in answers) == [200] * 5 + [429] * 3


def test_every_endpoint_is_in_the_documents_for_machines_and_people(service):
    document = service.ask("GET", "/openapi.json").json()
    assert {"/solve", "/jobs", "/jobs/{id}", "/jobs/{id}/events", "/verify", "/explain",
            "/convert", "/vroom", "/health", "/metrics", "/examples"} == set(document["paths"])  # fmt: skip
    page = service.ask("GET", "/docs").body.decode()
    assert all(f"<code>{path}</code>" in page for path in document["paths"])
    assert "https://" not in page.replace("https://arxiv", "")
    assert "<script" not in page
    links = {part.split("'")[0] for part in page.split("<a href='#")[1:]}
    assert links
    assert all(f"id='{name}'" in page for name in links)
    refs = {part.split('"')[0] for part in json.dumps(document).split('"#/components/schemas/')[1:]}
    assert refs <= set(document["components"]["schemas"])


def test_metrics_count_what_was_answered(service):
    before = _metric(service, 'fairway_requests_total{method="GET",route="/examples",status="200"}')
    service.ask("GET", "/examples")
    after = _metric(service, 'fairway_requests_total{method="GET",route="/examples",status="200"}')
    assert after == before + 1
    assert _metric(service, 'fairway_workers_ready{pool="solve"}') == 1


def test_the_log_has_a_line_per_request_and_nothing_of_what_was_sent(service, known):
    secret = "Zanzibar-Street-5"
    text = f"id,x,y\ndepot,0,0\n{secret},1,1\n"
    file = {"name": "stops.csv", "text": text}
    service.ask("POST", "/solve", {"file": file}, {"X-Request-Id": "of-the-test"})
    service.ask("POST", "/solve", {"file": {**file, secret: 1}})
    service.ask("GET", f"/jobs/{secret}")
    _until(lambda: any("of-the-test" in line for line in service.lines))
    lines = [json.loads(line) for line in service.lines if line.startswith("{")]
    told = next(line for line in lines if line.get("request") == "of-the-test")
    assert told["route"] == "/solve"
    assert told["status"] == 200
    assert not any(secret in line for line in service.lines)


def test_headers_keep_pages_of_others_out(service):
    headers = service.ask("GET", "/docs").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "access-control-allow-origin" not in headers
    strange = service.ask("GET", "/jobs", None, {"Host": "evil.example"})
    assert strange.status == 421


def _all_of(line: socket.socket) -> bytes:
    return b"".join(iter(lambda: line.recv(1 << 16), b""))


def _metric(service, name: str) -> float:
    for line in service.ask("GET", "/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return float(line.rpartition(" ")[2])
    return 0.0


def _until(true, seconds: float = 10.0) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it never came true"
        time.sleep(0.02)
