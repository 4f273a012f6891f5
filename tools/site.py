"""What the site shows otherwise than the sources: a hook of mkdocs (`hooks` in mkdocs.yml).

Titles that tell the tests why a block is not run say nothing to a reader, files outside docs/ are not on the site, and
a browser shows a notebook only as a page.
"""

import json
import re

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

UNRUN = re.compile(r'^(```\w+) title="not run by the tests: .*?"$', re.MULTILINE)
OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)\s]*\)")
NOTEBOOK = re.compile(r"\]\(([^)\s]+)\.ipynb\)")


def on_files(files: Files, config: MkDocsConfig) -> None:
    """A page for each notebook, from which the notebook itself can be had."""
    for file in list(files):
        page, _, kind = file.src_uri.rpartition(".")
        if kind == "ipynb":
            link = f'<a href="{file.name}.ipynb" download>Download this notebook</a>'
            text = f"{cells(file.content_string)}\n\n{link}\n"
            files.append(File.generated(config, f"{page}.md", content=text))


def on_page_markdown(markdown: str, **_: object) -> str:
    """The page without such titles, with names in place of links that would lead nowhere, and pages for notebooks."""
    return NOTEBOOK.sub(r"](\1.md)", OUTSIDE.sub(r"\1", UNRUN.sub(r"\1", markdown)))


def cells(notebook: str) -> str:
    """The cells of a notebook as Markdown."""
    found = ((cell["cell_type"], "".join(cell["source"])) for cell in json.loads(notebook)["cells"])
    return "\n\n".join(
        text if kind == "markdown" else f"```python\n{text}\n```" for kind, text in found
    )
