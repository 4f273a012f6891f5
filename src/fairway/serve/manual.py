"""The endpoints as a page of plain HTML, made from the OpenAPI document; it needs no script and no other site."""

import json
from html import escape
from typing import Any

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; } code, pre { font: 14px/1.4 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid #8886; border-radius: 6px; }
.verb { display: inline-block; min-width: 4.5rem; font-weight: 600; }
"""


def page(document: dict[str, Any]) -> str:
    """The whole page."""
    info = document["info"]
    parts = [
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>",
        f"<p>{escape(info['description'])} Machines read <a href='/openapi.json'>openapi.json</a>; "
        "people open <a href='/'>the page</a>.</p>",
    ]
    for path, verbs in document["paths"].items():
        for verb, told in verbs.items():
            parts += _endpoint(document, path, verb, told)
    body = "\n".join(parts)
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{escape(info['title'])}: endpoints</title><style>{STYLE}</style></head>"
        f"<body>{body}</body></html>"
    )


def _endpoint(document: dict[str, Any], path: str, verb: str, told: dict[str, Any]) -> list[str]:
    parts = [f"<h2><span class='verb'>{verb.upper()}</span><code>{escape(path)}</code></h2>"]
    parts.append(f"<p>{escape(told.get('description', ''))}</p>")
    for given in told.get("parameters", []):
        said = escape(json.dumps(given["schema"]))
        parts.append(
            f"<p><code>{escape(given['name'])}</code> ({given['in']}): <code>{said}</code></p>"
        )
    content = told.get("requestBody", {}).get("content", {})
    for kind, each in content.items():
        parts.append(_schema(document, f"Body, {kind}", each["schema"]))
    for status, answer in told["responses"].items():
        for kind, each in answer.get("content", {}).items():
            if status.startswith("2") and each.get("schema"):
                parts.append(_schema(document, f"{status}, {kind}", each["schema"]))
        if not status.startswith("2"):
            parts.append(f"<p><b>{status}</b> {escape(answer['description'])}</p>")
    return parts


def _schema(document: dict[str, Any], title: str, schema: dict[str, Any]) -> str:
    """A schema with the names of others in it."""
    name = schema.get("$ref", "").rpartition("/")[2]
    shown = document["components"]["schemas"].get(name, schema)
    text = escape(json.dumps(shown, indent=2))
    return f"<details><summary>{escape(title)} {escape(name)}</summary><pre>{text}</pre></details>"
