"""Which releases are joint distributions."""

from dpress.core.kind import Kind

KIND = Kind(name="joint", names=("joint",))
