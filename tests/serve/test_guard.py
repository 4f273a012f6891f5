"""Who is let in: tokens, hosts, origins, and how a service may be started."""

import gzip
import math
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.service.running import Running
from fairway.errors import InvalidRequest
from fairway.serve.server import listening
from fairway.serve.settings import Limits, Settings, token_in

TOKEN = "correct-horse-battery"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guarded")
    (folder / "token").write_text(TOKEN + "\n")
    options = ("--host", "0.0.0.0", "--token-file", str(folder / "token"))
    cors = ("--cors", "https://plans.example")
    with Running(folder / "jobs.sqlite", "--workers", "1", *options, *cors) as running:
        yield running


@pytest.mark.parametrize(
    "given",
    [None, "", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN, "Bearer \xe9"],
)  # fmt: skip
def test_without_the_very_token_nobody_gets_in(guarded, given):
    headers = {} if given is None else {"Authorization": given.encode("latin-1").decode("latin-1")}
    for method, path in (("GET", "/jobs"), ("GET", "/metrics"), ("POST", "/solve")):
        answer = guarded.ask(method, path, {} if method == "POST" else None, headers)
        assert answer.status == 401
        assert "token" in answer.json()["error"]


def test_with_the_token_everything_is_served_under_any_name(guarded):
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "plans.internal"}
    assert guarded.ask("GET", "/jobs", None, headers).status == 200


def test_what_holds_no_data_needs_no_token(guarded):
    for path in ("/", "/health", "/docs", "/openapi.json"):
        assert guarded.ask("GET", path).status == 200, path
    for path in ("/health/../jobs", "//jobs", "/page/../jobs", "/page/%2e%2e/jobs"):
        assert guarded.ask("GET", path).status in (401, 404), path


def test_pages_of_a_named_origin_may_call_and_others_may_not(guarded):
    wanted = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
    }
    named = guarded.ask("OPTIONS", "/solve", None, {"Origin": "https://plans.example", **wanted})
    assert named.headers["access-control-allow-origin"] == "https://plans.example"
    other = guarded.ask("OPTIONS", "/solve", None, {"Origin": "https://evil.example", **wanted})
    assert "access-control-allow-origin" not in other.headers


def test_a_page_of_a_named_origin_can_read_why_it_is_refused(guarded):
    refused = guarded.ask("GET", "/jobs", None, {"Origin": "https://plans.example"})
    assert refused.status == 401
    assert refused.headers["access-control-allow-origin"] == "https://plans.example"
    assert "x-request-id" in refused.headers["access-control-expose-headers"].lower()
    other = guarded.ask("GET", "/jobs", None, {"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in other.headers


def test_a_monitor_may_ask_for_the_head_alone(guarded):
    for path in ("/", "/health", "/docs", "/openapi.json"):
        told = guarded.ask("HEAD", path)
        assert (told.status, told.body) == (200, b""), path
    assert guarded.ask("HEAD", "/jobs").status == 401


def test_a_compressed_body_is_refused_by_name(guarded):
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Encoding": "gzip"}
    told = guarded.ask("POST", "/solve", gzip.compress(b"{}"), headers)
    assert told.status == 415
    assert "compressed" in told.json()["error"]


def test_an_address_that_others_reach_demands_a_token(tmp_path):
    command = [sys.executable, "-m", "fairway", "serve", "--host", "0.0.0.0"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert told.returncode == 2
    assert "give --token-file" in told.stderr
    assert "Traceback" not in told.stderr
    assert Settings(tmp_path, host="::1").loopback
    with pytest.raises(InvalidRequest):
        Settings(tmp_path, host="plans.internal")


@pytest.mark.parametrize(
    ("host", "said"),
    [("no.such.host.invalid", ""), ("192.0.2.1", "Cannot assign requested address")],
)
def test_what_cannot_be_listened_on_is_said_in_one_sentence(host, said):
    with pytest.raises(InvalidRequest, match=f"{host} .*cannot be listened on .{said}"):
        listening(host, 0)


def test_a_port_in_use_and_an_address_of_six_are_told_apart():
    with listening("::1", 0) as six:
        assert six.getsockname()[0] == "::1"
        with pytest.raises(InvalidRequest, match="in use"):
            listening("::1", six.getsockname()[1])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"limits": Limits(max_seconds=math.nan)}, "--max-seconds is nan"),
        ({"limits": Limits(max_seconds=-1.0)}, "--max-seconds"),
        ({"limits": Limits(max_stops=0)}, "--max-stops is 0; expected a whole number, 1 or more"),
        ({"limits": Limits(max_body=0)}, "--max-body"),
        ({"limits": Limits(max_memory=1 << 20)}, "--max-memory is 1; .* 256 or more"),
        ({"keep_hours": math.inf}, "--keep-hours"),
        ({"origins": ("plans.example",)}, "--cors plans.example is no origin"),
        ({"origins": ("*",)}, "--cors"),
        ({"origins": ("https://plans.example/page",)}, "without a path"),
        ({"port": 99_999}, "--port is 99999; expected 0 to 65535"),
        ({"port": -1}, "--port"),
        ({"queue": 0}, "--queue"),
        ({"workers": 0}, "--workers"),
    ],
)
def test_a_limit_that_limits_nothing_or_everything_is_refused(tmp_path, settings, said):
    with pytest.raises(InvalidRequest, match=said):
        Settings(tmp_path, **settings)


def test_a_token_is_not_read_from_what_has_no_end():
    with pytest.raises(InvalidRequest, match="cannot be read"):
        token_in(Path("/dev/zero"))


@pytest.mark.parametrize(
    "content", ["", "short", "two words of some length", "naïve-token-of-sorts"]
)
def test_a_weak_token_is_refused(tmp_path, content):
    (tmp_path / "token").write_text(content)
    with pytest.raises(InvalidRequest, match="one word of 16 to 4096"):
        token_in(tmp_path / "token")
