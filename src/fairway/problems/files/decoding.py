"""From bytes to text: UTF-8, UTF-16 with its mark, and Windows-1252 where it can be nothing else."""

import codecs

from fairway.problems.files.text import Unreadable

MARKS = {
    b"\xd0\xcf\x11\xe0": "a spreadsheet of old (.xls)",
    b"%PDF": "a PDF document",
    b"\x1f\x8b": "a compressed file",
}
"""How files begin that people have and that are in no format of ours."""
WESTERN = tuple(
    frozenset(letters + letters.upper().replace("SS", "ß"))
    for letters in ("äöüßàâçéèêëîïôûùÿœæìò", "áéíóúüñàçèïò", "åäöæøéèêü", "ãõáâàçéêíóôúü")
)
"""The letters beyond ASCII of German, French and Italian (Switzerland has all three, and every town a café), of
Spanish, of the Nordic languages and of Portuguese."""
SIGNS = frozenset("°§·«»ªº€" + "\xa0\u00b4\u2013\u2014\u2018\u2019\u201c\u201d\u201e\u2026")
"""Degrees, quotes, dashes and the like."""


def decoded(content: bytes) -> str:
    """The text of a file, or the sentence that says why it is none."""
    for mark, what in MARKS.items():
        if content.startswith(mark):
            raise Unreadable(f"is {what}, which is not read; save it as .xlsx or as CSV UTF-8")
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = _or_none(content, "utf-16")
        if text is None or "\0" in text:
            raise Unreadable("begins like text in UTF-16 and is none; save it as CSV UTF-8")
        return _trimmed(text)
    if (at := content.find(b"\0")) >= 0:
        raise Unreadable("holds binary data; expected text", content.count(b"\n", 0, at) + 1)
    try:
        return _trimmed(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        if (text := _or_none(content, "cp1252")) is not None and _is_western(text):
            return _trimmed(text)
        line = content.count(b"\n", 0, error.start) + 1
        raise Unreadable(
            "holds bytes that are not UTF-8 text; save it as UTF-8 (in a spreadsheet: CSV UTF-8)",
            line,
        ) from error


def _or_none(content: bytes, coding: str) -> str | None:
    try:
        return content.decode(coding)
    except UnicodeDecodeError:
        return None


def _is_western(text: str) -> bool:
    """Whether its letters beyond ASCII, of which it has some, are those of one language of Western Europe.

    In any other coding, and in UTF-8 that is damaged, there would be others among them.
    """
    beyond = {letter for letter in set(text) if not letter.isascii()} - SIGNS
    return bool(beyond) and any(beyond <= letters for letters in WESTERN)


def _trimmed(text: str) -> str:
    """Without what some old editors end a file with, Ctrl-Z."""
    return text.rstrip("\x1a\r\n")
