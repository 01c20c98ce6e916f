"""The card of this kind."""

from dpress.core.kind import Kind

KIND = Kind(name="joint", names=("joint",))
