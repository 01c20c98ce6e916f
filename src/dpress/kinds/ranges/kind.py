"""Which releases are counts over ranges."""

from dpress.core.kind import Kind

KIND = Kind(name="ranges", names=("ranges",))
