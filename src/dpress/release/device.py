"""What one device and one collector do with one report: codes to bytes, and bytes to a report that counts.

Device: codes -> question drawn by lot -> payload -> packed report. Intake: packed report -> checked fields and payload.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dpress.core.errors import ReportRejected
from dpress.core.rng import Generator
from dpress.core.wire import Expected, Report, pack, unpack
from dpress.data.codec import encode
from dpress.data.spec import Spec
from dpress.mechanisms.collection import Collection
from dpress.release.collect import collection_of, expected
from dpress.release.plan import plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """The device side of a collection; `device(spec)` makes one.

    Args:
        spec: the specification.
        expected: what a report says of itself.
        collection: the questions and their oracles.
    """

    spec: Spec
    expected: Expected
    collection: Collection

    def codes(self, values: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the code of every attribute's value.

        Raises:
            SchemaMismatch: a value is missing, or one that the specification rejects (it is not shown).
        """
        found = encode(self.spec.schema, pa.RecordBatch.from_pylist([dict(values)]))
        return tuple(found[:, 0].tolist())

    def answer(
        self, codes: Sequence[int], *, rng: Generator, secret: bytes | None = None, round_number: int = 0
    ) -> bytes:
        """Return one packed report.

        Args:
            codes: of all attributes, in the specification's order; see `codes`.
            rng: a secure generator.
            secret: 16 to 64 bytes that never leave the device, for methods with a permanent response; without it the
                device answers as a new one.
            round_number: the round of the collection.

        Raises:
            ValueError: a code is not one of its attribute's (it is not shown), or the secret is too short or long.
        """
        if len(codes) != len(self.collection.shape):
            raise ValueError(f"expected {len(self.collection.shape)} codes, one for every attribute, got {len(codes)}")
        questions = self.collection.questions
        secrets = None if secret is None else np.frombuffer(secret, dtype=np.uint8)[None]
        number = 0
        if len(questions) > 1:
            number = int(self.collection.drawn(1, rng=rng, secrets=secrets, spec=self.expected.spec)[0])
        payload = questions[number].perturb(np.array(codes, dtype=np.int32)[:, None], rng=rng, secrets=secrets)
        report = Report(
            spec=self.expected.spec,
            method=self.expected.method,
            id=rng.words(2).tobytes(),
            round=round_number,
            question=number,
            payload=payload.tobytes(),
        )
        return pack(report)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """The collector's check of single reports; `intake(spec)` makes one.

    It does not know which ids came before: whoever keeps the reports counts an id once.

    Args:
        expected: what a report says of itself.
        collection: the questions and their oracles.
    """

    expected: Expected
    collection: Collection

    def accept(self, packed: bytes) -> Report:
        """Return the report if it can be one of this collection.

        Raises:
            ReportRejected: with the reason.
        """
        report = unpack(packed)
        self.expected.check(report)
        payload = np.frombuffer(report.payload, dtype=np.uint8)[None]
        for reason, mask in self.collection.questions[report.question].faults(payload).items():
            if mask[0]:
                raise ReportRejected(reason)
        return report


def device(spec: Spec, *, allow_unproven: bool = False) -> Device:
    """Return the device side of the collection that a spec describes.

    Raises:
        NotSupported: the spec is no local collection, or its method is unproven.
    """
    planned = plan(spec)
    collection = collection_of(planned, allow_unproven=allow_unproven)
    return Device(spec=spec, expected=expected(spec, planned.chosen.method, collection), collection=collection)


def intake(spec: Spec) -> Intake:
    """Return the check of single reports for the collection that a spec describes.

    Raises:
        NotSupported: the spec is no local collection.
    """
    planned = plan(spec)
    collection = collection_of(planned, allow_unproven=True)
    return Intake(expected=expected(spec, planned.chosen.method, collection), collection=collection)
