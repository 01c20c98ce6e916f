"""What a plan of this kind says to people."""

from dpress.release.plan_text import plain, promise
from dpress.release.plan_text import tables as text

__all__ = ["plain", "promise", "text"]
