"""OpenAPI document of the aggregator -> one page: every request, its token, parameters, body and responses."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from reference.markdown import cell, code, table

__all__ = ["document", "requests_page"]

_TITLES = {
    "reports": "Reports of devices",
    "rounds": "Rounds",
    "series": "Series of rounds",
    "users": "Users",
    "operators": "Operators",
    "trees": "Released trees",
    "explorer": "Requests of the explorer",
    "recommendations": "Recommendations",
    "people": "People",
    "service": "The service itself",
}
_ABOUT = """# HTTP

{about}

The same is at `GET /openapi.json`, for machines. What a device must do with the responses, and the bytes of
rounds, label tables and reports, are in [the protocol](../protocol.md).

| token | |
|---|---|
{tokens}

Besides what a request lists, every server may respond with 500 if it has a bug.
"""


def document() -> dict[str, Any]:
    """The OpenAPI document of an aggregator with default settings."""
    from privact.aggregator.http.app import create_app
    from privact.aggregator.settings import read_settings

    with tempfile.TemporaryDirectory() as folder:
        app = create_app(read_settings(data_folder=Path(folder), database=f"sqlite:///{folder}/privact.sqlite3"))
        described: dict[str, Any] = app.openapi()
        app.state.services.store.close()
    return described


def requests_page() -> str:
    """The page of all requests, by what they are about."""
    api = document()
    tokens = api["components"]["securitySchemes"]
    rows = "\n".join(f"| {name} | {cell(token['description'])} |" for name, token in tokens.items())
    parts = [_ABOUT.format(about=api["info"]["description"], tokens=rows)]
    sections: dict[str, list[str]] = {tag: [] for tag in _TITLES}
    for path, methods in api["paths"].items():
        for method, operation in methods.items():
            sections[operation["tags"][0]].append(_request(method.upper(), path, operation))
    parts += [f"\n## {_TITLES[tag]}\n{''.join(requests)}" for tag, requests in sections.items()]
    parts.append("\n## Responses in JSON\n\nFields of the objects in responses.\n")
    parts += [_object(name, schema) for name, schema in api["components"]["schemas"].items()]
    return "".join(parts)


def _request(method: str, path: str, operation: dict[str, Any]) -> str:
    parts = [f"\n### {method} {path}\n\n{operation['description']}\n\nToken: {_tokens(operation)}.\n"]
    rows = [
        (code(one["name"]), one["in"], cell(_kind(one["schema"])), cell(one.get("description", _known(one["name"]))))
        for one in operation.get("parameters", [])
    ]
    parts.append(table(("parameter", "in", "value", "meaning"), rows))
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"Body, `{kind}`:\n")
        parts.append(_fields(body["schema"]) or "")
        if "example" in body and kind != "application/octet-stream":
            parts.append(_example(body["example"]))
    responses = [
        (status, cell(_name_content(response)), cell(response["description"]))
        for status, response in operation["responses"].items()
    ]
    parts.append(table(("status", "response", "meaning"), responses))
    return "\n".join(part for part in parts if part)


def _object(name: str, schema: dict[str, Any]) -> str:
    return f"\n### {name}\n\n{schema.get('description', '')}\n\n{_fields(schema)}"


def _fields(schema: dict[str, Any]) -> str:
    """A table of the fields of an object."""
    needed = schema.get("required", [])
    rows = [
        (code(name), cell(_kind(field)), cell(field.get("description", "")) + (" Required." if name in needed else ""))
        for name, field in schema.get("properties", {}).items()
    ]
    return table(("field", "value", "meaning"), rows)


def _tokens(operation: dict[str, Any]) -> str:
    """Whose token is needed."""
    names = [name for choice in operation.get("security", []) for name in choice]
    return ("optional, " if {} in operation.get("security", []) else "") + ("the " + " or the ".join(names) if names else "none")


def _name_content(response: dict[str, Any]) -> str:
    """The content of a response: an object by name, or a media type."""
    kinds = []
    for kind, body in response.get("content", {}).items():
        reference = body.get("schema", {}).get("$ref", "")
        name = reference.rpartition("/")[2]
        kinds.append(f"[{name}](#{name.lower()})" if name else f"`{kind}`")
    return ", ".join(kinds)


def _kind(schema: dict[str, Any]) -> str:
    """The type of a value, its choices, limits and default, in words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_kind(choice) for choice in schema["anyOf"])
    words = " or ".join(map(str, schema["enum"])) if "enum" in schema else str(schema.get("type", "anything"))
    if words == "array":
        words = f"list of {_kind(schema.get('items', {}))}"
    if "minimum" in schema and "maximum" in schema:
        words += f", {schema['minimum']:g} to {schema['maximum']:.15g}"
    return words + (f"; default {schema['default']}" if schema.get("default") is not None else "")


def _known(name: str) -> str:
    """What a parameter means that the document leaves to its name."""
    return {"id": "Id of the round.", "user": "Id of a user.", "name": "Name of the operator."}.get(name, "")


def _example(example: Any) -> str:
    text = example if isinstance(example, str) else json.dumps(example, indent=2)
    return f"```{'text' if isinstance(example, str) else 'json'}\n{text.rstrip()}\n```\n"
