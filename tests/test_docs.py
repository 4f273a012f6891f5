"""Every code block of the README and of the docs is run, page by page, or says in its title why it is not.

A page's blocks share a folder and a namespace. What a block of data is titled is a file that those after it read. Code
titled with a path of the source is not run: it must stand there, word for word.
"""

import contextlib
import io
import re
import shlex
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest
import torch

import fairway
from fairway import cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINKED = [
    *PAGES,
    *(ROOT / name for name in ("CHANGELOG.md", "SECURITY.md", "docs/notebooks/README.md")),
]
FENCE = re.compile(r'^```(\w+)?(?: title="(.*?)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
NOT_RUN = "not run by the tests: "
RUN = ("python", "console")
COMMAND = re.compile(
    r"^(\$ |fairway |python |pip |make |torchrun |docker |ray |RUN )", re.MULTILINE
)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Block(NamedTuple):
    kind: str
    title: str
    text: str

    @property
    def is_run(self):
        return self.kind in RUN and not self.title.startswith((NOT_RUN, "src/", "tests/"))


def blocks(page):
    return [Block(*found) for found in FENCE.findall(page.read_text("utf-8"))]


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize(
    "page", [each for each in PAGES if any(b.is_run for b in blocks(each))], ids=name
)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = {"__name__": "page"}
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    for block in blocks(page):
        if block.kind not in RUN and block.title:
            Path(block.title).write_text(block.text)
        elif block.is_run and block.kind == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block.text, f"{page.name}: {block.text[:40]!r}", "exec"), known)
        elif block.is_run:
            check_console(block.text)


def check_console(text):
    """Run each command, which must end as is shown; lines below it that have no figures must be in its answer."""
    for command, _, shown in re.findall(
        r"^\$ (.*?)(  +#.*)?\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE
    ):
        first, *arguments = shlex.split(command)
        assert first == "fairway", f"{command}: say in the title why it is not run"
        answer = io.StringIO()
        with (
            contextlib.redirect_stdout(answer),
            contextlib.redirect_stderr(answer),
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setattr("sys.argv", ["fairway", *arguments])
            with pytest.raises(SystemExit) as ended:
                cli.main()
        said = " ".join(answer.getvalue().split())
        assert (ended.value.code or 0) == ("infeasible" in shown), said
        for line in shown.splitlines():
            if line.strip() and not re.search(r"\d", line):
                assert " ".join(line.split()) in said


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_is_shown_of_the_source_stands_there(page):
    for block in blocks(page):
        if block.kind == "python" and block.title.startswith(("src/", "tests/")):
            assert " ".join(block.text.split()) in " ".join(
                (ROOT / block.title).read_text().split()
            )


@pytest.mark.parametrize("page", LINKED, ids=name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
        file, _, heading = target.partition("#")
        if "://" in target:
            continue
        place = (page.parent / unquote(file)).resolve() if file else page
        assert place.exists(), target
        if heading and place.suffix == ".md":
            heads = re.findall(r"^#+ (.*)$", place.read_text("utf-8"), re.MULTILINE)
            assert heading in {
                re.sub(r"[^\w -]", "", head.lower()).strip().replace(" ", "-") for head in heads
            }


def test_every_public_name_is_in_the_reference():
    told = re.findall(
        r"^::: .*\.(\w+)$", (ROOT / "docs" / "reference.md").read_text(), re.MULTILINE
    )
    assert set(fairway.__all__) <= set(told)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_block_hides_from_the_tests(page):
    """By being indented, as in a list or a tab."""
    text = FENCE.sub("", page.read_text("utf-8"))
    assert not re.search(r"^ +```", text, re.MULTILINE)
    assert not re.search(r"^    (\$|python |fairway )", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_stand_where_they_are_run_or_say_why_they_are_not(page):
    """Those with curl are run against a service by `serve/test_docs.py`."""
    for block in blocks(page):
        marked = block.title.startswith(NOT_RUN) or "curl" in block.text
        if block.kind not in RUN and not marked:
            assert block.kind not in {"bash", "dockerfile", "yaml"}, block.text
            assert not COMMAND.search(block.text), block.text


def test_the_front_page_is_short():
    assert (ROOT / "README.md").read_text("utf-8").count("\n") <= 150
