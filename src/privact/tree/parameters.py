"""The public parameters a tree carries (epsilon, bins, ...), as one canonical JSON text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from privact.errors import InputError


def write_parameters(parameters: Mapping[str, Any] | None) -> str:
    """Parameters as a JSON object with sorted keys: the same parameters are the same bytes.

    parameters: names and plain values; NumPy numbers are taken as the numbers they are.
    """
    try:
        return json.dumps({} if parameters is None else dict(parameters), sort_keys=True, allow_nan=False, default=_plain_number)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"parameters must fit in JSON: {error}") from None


def _plain_number(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{value!r} is not text, number, list or mapping")
