"""What the site shows otherwise than the sources: a hook of mkdocs (`hooks` in mkdocs.yml).

Titles that tell the tests why a block is not run say nothing to a reader, and files outside docs/ are not on the site.
"""

import re

UNRUN = re.compile(r'^(```\w+) title="not run by the tests: .*?"$', re.MULTILINE)
OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)\s]*\)")


def on_page_markdown(markdown: str, **_: object) -> str:
    """The page without such titles, and with names in place of links that would lead nowhere."""
    return OUTSIDE.sub(r"\1", UNRUN.sub(r"\1", markdown))
