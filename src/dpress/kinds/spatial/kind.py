"""Which releases are maps."""

from dpress.core.kind import Kind

KIND = Kind(name="spatial", names=("spatial",), queries_on="a map")
