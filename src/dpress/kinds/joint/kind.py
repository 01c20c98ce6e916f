"""Which releases are joint distributions."""

from dpress.core.kind import Kind, Reporters

KIND = Kind(name="joint", names=("joint",), draws_records=True, parameters={("joint", "local"): Reporters})
