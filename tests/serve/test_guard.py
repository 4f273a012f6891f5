"""Who is let in: tokens, hosts, origins, and how a service may be started."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.service.running import Running
from fairway.errors import InvalidRequest
from fairway.serve.settings import Settings, token_in

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
    "content", ["", "short", "two words of some length", "naïve-token-of-sorts", "x" * 5000]
)
def test_a_weak_token_is_refused(tmp_path, content):
    (tmp_path / "token").write_text(content)
    with pytest.raises(InvalidRequest, match="one word of 16 to 4096"):
        token_in(tmp_path / "token")


def test_a_device_is_no_token():
    with pytest.raises(InvalidRequest, match="one word"):
        token_in(Path("/dev/zero"))
