"""The notebooks of the docs run from top to bottom."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))
SECONDS = 300
"""For one cell, on a machine that has everything still to compile."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of Jupyter
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path):
    (tmp_path / "examples").symlink_to(path.parents[1] / "examples")
    (tmp_path / "here").mkdir()
    notebook = nbformat.read(path, 4)
    resources = {"metadata": {"path": tmp_path / "here"}}
    NotebookClient(notebook, timeout=SECONDS, resources=resources).execute()
    last = [cell for cell in notebook.cells if cell.cell_type == "code"][-1]
    assert last.outputs


def test_there_are_four_and_none_keeps_its_output():
    assert len(NOTEBOOKS) == 4
    for path in NOTEBOOKS:
        cells = nbformat.read(path, 4).cells
        assert not any(cell.get("outputs") for cell in cells), path.name
