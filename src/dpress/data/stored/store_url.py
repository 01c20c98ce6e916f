"""Which store of reports a URL names."""

from pathlib import Path

from dpress.core.basics.database_url import SCHEMES as POSTGRES
from dpress.core.basics.database_url import connectable, is_postgres
from dpress.data.stored.report_store import ReportStore

SCHEMES = ("sqlite:", *(f"{name}:" for name in POSTGRES))


def open_store(url: str, *, create: bool = False) -> ReportStore:
    """Return the store that a URL names.

    Args:
        url: `sqlite:///FILE` or `postgresql://...`.
        create: also where there is none yet.

    Raises:
        ValueError: it is no such URL, or holds a password.
        NotSupported: the driver is not installed.
        OSError: the store cannot be used; or `create` is False and there is none.
    """
    scheme, _, rest = url.partition(":")
    if scheme == "sqlite":
        if not rest.startswith("///") or not rest[3:]:
            raise ValueError("the store must be sqlite:///FILE or postgresql://..., got sqlite: without ///FILE")
        from dpress.data.stored.sqlite_store import SqliteStore  # noqa: PLC0415  # only the store that is used

        return SqliteStore(Path(rest[3:]), create=create)
    if is_postgres(url):
        connectable(url, "the store")
        from dpress.data.stored.postgres_store import PostgresStore  # noqa: PLC0415  # the driver is an extra

        return PostgresStore(url, create=create)
    raise ValueError(f"the store must be sqlite:///FILE or postgresql://..., got {scheme[:20]!r}")
