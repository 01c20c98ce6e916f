"""Which releases are of names that nobody may list."""

from dpress.core.basics.kind import Kind, Participants

KIND = Kind(
    name="names",
    names=("names",),
    discovers=True,
    findings={"names": None},
    parameters={("names", "central"): Participants},
)
