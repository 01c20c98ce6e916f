"""Which releases are records."""

from dpress.core.kind import Kind

KIND = Kind(name="microdata", names=("microdata",))
