"""Counts the modules that name a problem where nothing should ask which one it is.

A name is an identifier such as TSPTW or a string such as "tsptw" or "general-tspdl". Docstrings, comments and sentences
for people, which have spaces, do not count. `--list` prints every place.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "fairway"
EXEMPT = ("problems/*", "problems/files/*", "judge/*", "recipes/*", "evaluate/published*.py")
"""Where problems are told apart on purpose."""
AT_MOST = 10
"""Modules; to be lowered, never raised."""

IDENTIFIER = re.compile(r"([\w.]+\.)?(tsptw|tspdl)(set|batch)?", re.IGNORECASE)
STRING = re.compile(r"\S*(tsptw|tspdl)\S*", re.IGNORECASE)


def places(source: str) -> Iterator[tuple[int, str]]:
    """Lines that name a problem, and the names."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                found = IDENTIFIER.fullmatch(name)
            case ast.Constant(value=str(name)):
                found = STRING.fullmatch(name)
            case _:
                continue
        if found:
            yield node.lineno, name


def named() -> dict[Path, list[tuple[int, str]]]:
    """The modules that name a problem, with the places."""
    sources = {path: path.relative_to(SOURCE) for path in sorted(SOURCE.glob("**/*.py"))}
    asked = {
        short: sorted(places(path.read_text()))
        for path, short in sources.items()
        if not any(short.match(pattern) for pattern in EXEMPT)
    }
    return {short: found for short, found in asked.items() if found}


if __name__ == "__main__":
    modules = named()
    for module, found in modules.items() if "--list" in sys.argv else ():
        print(f"{module}: {', '.join(f'{line} {name}' for line, name in found)}")
    said = f"{len(modules)} modules name a problem, at most {AT_MOST}"
    print(said) if len(modules) <= AT_MOST else sys.exit(f"{said}: {', '.join(map(str, modules))}")
