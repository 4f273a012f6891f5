"""Text from files and users, made safe for a terminal."""

import re

UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""What a terminal acts on instead of showing it: controls, escapes, breaks, and changes of direction."""


def cleaned(text: str) -> str:
    """The text on one line, without what would command a terminal; all that people read passes through here."""
    return UNSAFE.sub("?", text)
