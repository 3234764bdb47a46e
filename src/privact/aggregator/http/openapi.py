"""The description of the API: what FastAPI derives from the routes, and the two kinds of tokens."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

__all__ = ["describe_api"]

_TOKENS: Final = {
    "user": {
        "type": "http",
        "scheme": "bearer",
        "description": "A user's token: 32 hexadecimal digits, a dot and 43 characters. The operator hands it out, once.",
    },
    "operator": {
        "type": "http",
        "scheme": "bearer",
        "description": "The operator's token: `operator.` and 43 characters, shown at the first start.",
    },
}
_ABOUT: Final = (
    "Devices send one noisy report per round; when a round closes, a cluster tree is learned from the reports and released. "
    'Every refusal is `{"error": "one line"}`. Times are UTC seconds since 1970.'
)


def describe_api(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document of an application."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, routes=app.routes, description=_ABOUT)
        document.setdefault("components", {})["securitySchemes"] = _TOKENS
        for path in document["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)  # refused with 400 and one line instead
        for unused in ("HTTPValidationError", "ValidationError"):
            document["components"].get("schemas", {}).pop(unused, None)
        app.openapi_schema = document
    return app.openapi_schema
