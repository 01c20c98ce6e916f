"""Which releases are tables of counts."""

from dpress.core.kind import Kind

KIND = Kind(name="tables", names=("histogram", "marginals"))
