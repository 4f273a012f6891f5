"""Keeps the tree small: lines of a module, of a function and of all the source, parameters of a function."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

MODULE, FUNCTION, TOTAL = 400, 60, 50_508
"""Lines at most; the total is to be lowered, never raised."""
PARAMETERS, AIM = 8, 6
"""Of a function: at most, and as it should be."""
WIDE = (
    "src/fairway/cli/*.py",
    "src/fairway/kernels/*/gpu/*.py",
    "src/fairway/solver/solving.py",
    "src/fairway/problems/*.py",
)
"""Where functions may have more: an option or a field is a parameter, and Triton has no structures."""


def oversized(path: Path, tree: ast.Module) -> Iterator[str]:
    """Functions of a source file that are larger than their budget."""
    wide = any(path.match(pattern) for pattern in WIDE)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION:
                yield f"{path}:{node.lineno}: {node.name} has {length} lines, at most {FUNCTION}"
            if not wide and (count := parameters(node)) > PARAMETERS:
                yield f"{path}:{node.lineno}: {node.name} has {count} parameters, at most {PARAMETERS}"


def parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Those that a caller gives."""
    given = node.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return sum(one is not None and one.arg not in ("self", "cls") for one in named)


def main() -> None:
    """Report the figures, or fail with all that is too large."""
    over, total, functions = [], 0, []
    for path in sorted(Path(__file__).parents[1].glob("src/**/*.py")):
        text = path.read_text()
        tree, length = ast.parse(text), len(text.splitlines())
        total += length
        over += [f"{path}: {length} lines, at most {MODULE}"] if length > MODULE else []
        over += oversized(path, tree)
        functions += [
            parameters(node) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
        ]
    over += [f"{total} lines of source, at most {TOTAL}"] if total > TOTAL else []
    many = sum(count > AIM for count in functions)
    print(
        f"{total} lines of source; {many} of {len(functions)} functions have over {AIM} parameters"
    )
    sys.exit("\n".join(over) or 0)


if __name__ == "__main__":
    main()
