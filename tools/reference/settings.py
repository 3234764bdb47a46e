"""settings of the aggregator -> one page: names in a file and in the environment, types, defaults, limits."""

from __future__ import annotations

from typing import Any

from privact.aggregator.settings import Settings
from reference.markdown import cell, code, table

__all__ = ["settings_page"]

_ABOUT = """# Settings

Settings of `privact serve`, as the code knows them. How to give them, and which wins, is in
[Run an aggregator](../operate.md#settings); the environment variable of a setting is `PRIVACT_` and its name in capitals.
Variables of other parts:

| variable | meaning |
|---|---|
| `PRIVACT_CONFIG` | the TOML file of `privact serve` |
| `PRIVACT_URL` | the aggregator that `privact round`, `privact users` and `privact simulate` speak to |
| `PRIVACT_OPERATOR_TOKEN` | the operator's token, for the server and for these commands |
| `PRIVACT_HOME` | the folder in which a device keeps its ledger |
| `PRIVACT_DATA` | the folder of the paper's datasets |

"""


def settings_page() -> str:
    """The page of all settings."""
    parts = [_ABOUT]
    schema = Settings.model_json_schema()["properties"]
    for name, field in Settings.model_fields.items():
        default = field.get_default()
        rows = [
            ("in a file", code(f"{name} = {_toml(default)}")),
            ("in the environment", code(f"PRIVACT_{name.upper()}")),
            ("default", code(_toml(default)) if default not in (None, "") else "none"),
            ("values", cell(_values(schema[name]))),
        ]
        parts.append(f"## {name}\n\n{cell(field.description or '')}\n\n{table(('', ''), rows)}\n")
    return "".join(parts)


def _toml(value: Any) -> str:
    """A default as it is written in a file."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else f'"{value or ""}"'


def _values(field: dict[str, Any]) -> str:
    """What can be given: the type, the choices, the limits."""
    if "enum" in field:
        return ", ".join(field["enum"])
    kinds = [kind.get("type", "") for kind in field.get("anyOf", [field])]
    words = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false", "null": ""}
    limits = {"minimum": "at least {}", "maximum": "at most {}", "maxLength": "at most {} characters"}
    said = [words[kind] for kind in kinds if words[kind]]
    return ", ".join(said + [text.format(f"{field[key]:g}") for key, text in limits.items() if key in field])
