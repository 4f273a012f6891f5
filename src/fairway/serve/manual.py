"""The endpoints as a page of plain HTML, made from the OpenAPI document; it needs no script and no other site."""

import json
from collections.abc import Sequence
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin: 2.5rem 0 .5rem; } h3 { margin: 2rem 0 .5rem; } p { margin: .5rem 0; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
td, th { padding: .3rem .9rem .3rem 0; border-bottom: 1px solid #8884; text-align: left; vertical-align: top; }
.verb { margin-right: .6rem; }
"""
Schema = dict[str, Any]


def page(document: dict[str, Any]) -> str:
    """The whole page."""
    info = document["info"]
    parts = [
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>",
        f"<p>{escape(info['description'])} Machines read <a href='/openapi.json'>openapi.json</a>; "
        "people open <a href='/'>the page</a>.</p>",
        "<h2>Endpoints</h2>",
    ]
    for path, verbs in document["paths"].items():
        for verb, told in verbs.items():
            parts += _endpoint(path, verb, told)
    parts.append("<h2>Shapes</h2><p>Keys in bold are always there.</p>")
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts += _shape(name, schema)
    body = "\n".join(parts)
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<link rel='icon' href='/page/icon.svg' type='image/svg+xml'>"
        f"<title>{escape(info['title'])}: endpoints</title><style>{STYLE}</style></head>"
        f"<body>{body}</body></html>"
    )


def _endpoint(path: str, verb: str, told: dict[str, Any]) -> list[str]:
    """What it does, what it takes, and each of its answers."""
    heading = f"<span class='verb'>{verb.upper()}</span><code>{escape(path)}</code>"
    rows = [
        (f"<code>{escape(given['name'])}</code> in the {given['in']}", _kind(given["schema"]))
        for given in told.get("parameters", [])
    ]
    for kind, each in told.get("requestBody", {}).get("content", {}).items():
        rows.append(("body", f"{_kind(each['schema'])}, {escape(kind)}"))
    for status, answer in told["responses"].items():
        shapes = [
            f"{_kind(each['schema'])}, {escape(kind)}" if each.get("schema") else escape(kind)
            for kind, each in answer.get("content", {}).items()
        ]
        said = " or ".join(shapes) if status.startswith("2") else escape(answer["description"])
        rows.append((status, said))
    return [f"<h3>{heading}</h3>", f"<p>{escape(told.get('description', ''))}</p>", _table(rows)]


def _shape(name: str, schema: Schema) -> list[str]:
    """The keys of an object, what each may be and what it means."""
    required, rows = schema.get("required", []), []
    for key, each in schema.get("properties", {}).items():
        shown = f"<code>{escape(key)}</code>"
        default = each.get("default")
        more = [escape(each.get("description", ""))]
        more += [] if default is None else [f"by default <code>{_json(default)}</code>"]
        more += [f"like <code>{_json(example)}</code>" for example in each.get("examples", [])]
        first = f"<b>{shown}</b>" if key in required else shown
        rows.append((first, _kind(each), "; ".join(filter(None, more))))
    said = escape(schema.get("description", ""))
    return [f"<h3 id='{escape(name)}'>{escape(name)}</h3>", f"<p>{said}</p>", _table(rows)]


def _kind(schema: Schema) -> str:
    """What a value may be, in words, with links to the shapes of objects."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f"<a href='#{name}'>{name}</a>"
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"] if each.get("type") != "null")
    if "enum" in schema:
        return " or ".join(f"<code>{_json(each)}</code>" for each in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {})) or 'values'}"
    return escape(str(schema.get("type", "")))


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def _json(value: object) -> str:
    return escape(json.dumps(value))
