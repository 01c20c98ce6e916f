"""Which releases are joint distributions."""

from dpress.core.kind import Kind, Reporters

KIND = Kind(name="joint", names=("joint",), parameters={("joint", "local"): Reporters})
