"""Sends packed reports to a collection service: as many in one upload as it takes, each upload until it is answered.

reports -> the collection's largest upload -> batches -> what the service says of all of them together.
"""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dpress.core.basics.errors import ReportRejected
from dpress.core.reports.wire import MEDIA_TYPE

PATIENCE = 60.0  # seconds for an answer
TIMES = 8  # that an upload is sent before its sender gives up
LATER = (429, 500, 502, 503, 504)  # answers after which the same bytes are right to be sent again
SLOWEST = 60  # seconds between two times


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What a service answered to reports.

    Args:
        accepted: how many it kept.
        duplicates: how many had the id of another one in their upload, and were not kept again.
        refused: the id of every other one, hexadecimal, and the reason; they are not to be sent again.
    """

    accepted: int
    duplicates: int
    refused: tuple[tuple[str, str], ...]


def send_reports(url: str, reports: Iterable[bytes]) -> Sent:
    """Send reports to a collection, in as many uploads as it needs, and return once all are on the service's disk.

    The service says how many an upload may have (`largest_batch`). One that is not answered, or is put off, is sent
    again after the pause that the service asks for: the very same bytes, which count once.

    Args:
        url: of the collection, as `dpress serve` prints it: `https://HOST/v1/collections/ID`.
        reports: as `Device.answer` packs them; a generator is read an upload at a time.

    Raises:
        ValueError: it is no address of a collection, which `dpress serve` prints beside that of its page.
        ReportRejected: the service refused an upload whole, as of a round that is closed; those before it are kept.
        OSError: the service does not answer; the uploads before are kept, this one may be: send its bytes again.

    >>> send_reports("survey.toml", [])
    Traceback (most recent call last):
    ValueError: expected the address of a collection, https://HOST/v1/collections/ID, not that of its page
    """
    if not url.startswith(("http://", "https://")) or "/v1/collections/" not in url:
        raise ValueError("expected the address of a collection, https://HOST/v1/collections/ID, not that of its page")
    url, rest = url.rstrip("/"), iter(reports)
    most, answers = int(_answer(url)["largest_batch"]), list[dict[str, Any]]()
    while batch := list(islice(rest, most)):
        answers.append(_answer(f"{url}/reports", b"".join(batch)))
    return Sent(
        accepted=sum(answer["accepted"] for answer in answers),
        duplicates=sum(answer["duplicates"] for answer in answers),
        refused=tuple((each["id"], each["reason"]) for answer in answers for each in answer["refused"]),
    )


def _answer(url: str, body: bytes | None = None) -> dict[str, Any]:
    """Return what the service answers, at the latest after `TIMES` times."""
    headers = {} if body is None else {"Content-Type": MEDIA_TYPE}
    request = urllib.request.Request(url, data=body, headers=headers)  # noqa: S310  # http alone, as checked
    for left in reversed(range(TIMES)):
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
                content: dict[str, Any] = json.loads(answer.read())
                return content
        except urllib.error.HTTPError as refusal:
            reason = _reason(refusal)
            if refusal.code not in LATER:
                raise ReportRejected(f"the service refused with {refusal.code}: {reason}") from None
            fault, pause = f"it answered {refusal.code}: {reason}", refusal.headers.get("Retry-After", "1")
        except (OSError, ValueError) as error:
            fault, pause = str(getattr(error, "reason", error)), "1"
        if left:
            time.sleep(min(SLOWEST, int(pause)) if pause.isdecimal() else 1)
    raise OSError(f"the service cannot be used after {TIMES} times; {fault}")


def _reason(refusal: urllib.error.HTTPError) -> str:
    """Return why a service refused, in one line."""
    with refusal:
        try:
            return str(json.loads(refusal.read())["detail"])
        except (OSError, ValueError, KeyError, TypeError):
            return str(refusal.reason)
