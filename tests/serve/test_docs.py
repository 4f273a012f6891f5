"""The examples of docs/service.md, and that of the first page, run as they stand."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import playwright
import pytest

import fairway

DOCS = Path(__file__).parents[2] / "docs"
TEXT, FIRST = (DOCS / "service.md").read_text(), (DOCS / "index.md").read_text()
SHELL = [b for b in re.findall(r"```bash\n(.*?)```", FIRST + TEXT, re.S) if "curl" in b]
STOPS = re.search(r'```csv title="stops.csv"\n(.*?)```', FIRST, re.S)[1]
SCRIPT = re.findall(r"```javascript\n(.*?)```", TEXT, re.S)
NODE = shutil.which("node") or Path(playwright.__file__).parent / "driver" / "node"


@pytest.mark.parametrize("block", SHELL)
def test_what_is_written_for_the_shell_runs(service, block, tmp_path):
    (tmp_path / "stops.csv").write_text(STOPS)
    fairway.write(fairway.read(tmp_path / "stops.csv", speed=40), tmp_path / "stops.json")
    text = block.replace("localhost:8000", f"127.0.0.1:{service.port}")
    answers = subprocess.run(
        ["bash", "-euc", text],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=tmp_path,
    )
    told = json.JSONDecoder().raw_decode(answers.stdout)[0]
    assert "error" not in told
    assert {"words", "violations", "id"} & told.keys()


@pytest.mark.parametrize("block", SCRIPT)
def test_what_is_written_in_javascript_runs(service, block, tmp_path):
    (tmp_path / "example.mjs").write_text(
        block.replace("localhost:8000", f"127.0.0.1:{service.port}")
    )
    told = subprocess.run(
        [NODE, tmp_path / "example.mjs"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert "over: optimal" in told.stdout


def test_every_endpoint_is_told(service):
    for path in service.ask("GET", "/openapi.json").json()["paths"]:
        assert path in TEXT, path
