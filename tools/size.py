"""Keeps the tree small: no module over 400 lines, no function over 60."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

MODULE, FUNCTION = 400, 60


def oversized(path: Path) -> Iterator[str]:
    """What in a source file is larger than its budget."""
    text = path.read_text()
    if (length := len(text.splitlines())) > MODULE:
        yield f"{path}: {length} lines, at most {MODULE}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
            length = node.end_lineno - node.lineno + 1
            if length > FUNCTION:
                yield f"{path}:{node.lineno}: {node.name} has {length} lines, at most {FUNCTION}"


if __name__ == "__main__":
    sources = sorted(Path(__file__).parents[1].glob("src/**/*.py"))
    sys.exit("\n".join(line for path in sources for line in oversized(path)) or 0)
