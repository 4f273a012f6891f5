"""JSON that people can read too: a line for each step, feature or stop, and none for each number."""

import json


def laid_out(value: object, indent: str = "") -> str:
    """A document in lines: lists of records, and what holds such lists, are broken, all else stays on its line."""
    inner = indent + " "
    if isinstance(value, dict) and (not indent or _holds_records(value)):
        pairs = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {laid_out(each, inner)}"
            for key, each in value.items()
        ]
        return "{\n" + ",\n".join(pairs) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(each, dict) for each in value):
        return "[\n" + ",\n".join(inner + laid_out(each, inner) for each in value) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def _holds_records(value: object) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_records, value.values()))
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)
