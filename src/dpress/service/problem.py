"""Refusals as problem documents (RFC 9457): what was wrong, and what would be right, in one line."""

from typing import Any

import msgspec

MEDIA_TYPE = "application/problem+json"
TITLES = {
    400: "malformed",
    401: "not allowed",
    404: "not found",
    405: "method not allowed",
    408: "too slow",
    409: "closed",
    413: "too large",
    415: "unknown media type",
    429: "too much at once",
    431: "head too large",
    503: "not available",
}


class Problem(Exception):  # the standard's own word
    """A refusal.

    Args:
        status: of HTTP.
        detail: one line.
        retry_after: seconds after which the same upload may be sent again; None where it never may.
        more: further members of the document.
    """

    def __init__(self, status: int, detail: str, *, retry_after: int | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.retry_after = retry_after
        self.more = more

    @property
    def title(self) -> str:
        """What such a refusal is called."""
        return TITLES.get(self.status, "refused")

    @property
    def document(self) -> bytes:
        """The problem document."""
        return msgspec.json.encode({"title": self.title, "status": self.status, "detail": self.detail, **self.more})

    @property
    def headers(self) -> dict[str, str]:
        """The header fields that go with it."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
