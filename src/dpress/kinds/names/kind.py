"""Which releases are of names that nobody may list."""

from dpress.core.basics.kind import Kind, Participants, Wished

KIND = Kind(
    name="names",
    names=("names",),
    smaller="limit the rows by `where`",
    discovers=True,
    in_sql=("unlisted",),
    findings={"names": None},
    wished=(
        Wished(
            kind="names",
            place=7,
            title="Unknown names",
            words="Those that occur often, of values nobody can list.",
            marks=((2, 8), (2, 20)),
            mark="line",
            users=True,
        ),
    ),
    parameters={("names", "central"): Participants},
)
