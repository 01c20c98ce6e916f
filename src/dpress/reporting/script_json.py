"""JSON for the script of a page, as its `script` element may hold it."""

import json
from collections.abc import Mapping
from typing import Any


def as_data(data: Mapping[str, Any]) -> str:
    """Return JSON that can stand in a `script` element."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
