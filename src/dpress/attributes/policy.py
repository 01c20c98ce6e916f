"""What becomes of a value without a cell of its own, where the specification names no cell for it."""

from typing import Literal

Outside = Literal["clamp", "drop", "reject"]

REJECT = "reject"
DROP = "drop"
