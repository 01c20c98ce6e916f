"""From the same coins and secrets the browser client and Python's device make the very same reports, byte for byte."""

import json

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from tests.client.devices import STORED, document, run
from tests.client.test_reports import LOCAL, people

from dpress import device, load_design
from dpress.core.basics.errors import NotSupported
from dpress.core.basics.rng import Generator

DEVICES = 25


class Keystream(Generator):
    """Draws the keystream of AES-256 in counter mode, as the client's devices do in these tests."""

    __slots__ = ("cipher",)

    def __init__(self, key):
        self.cipher = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()

    @property
    def private(self):
        return False

    def fill(self, out):
        out[...] = np.frombuffer(self.cipher.update(bytes(8 * out.size)), dtype="<u8").reshape(out.shape)


def answers(design, codes, secrets, key):
    """Return what Python's device sends for every column of codes; None where it reports in another round."""
    sender, coins, found = device(design, allow_unproven=True), Keystream(key), []
    for own, secret in zip(codes.T.tolist(), secrets, strict=True):
        try:
            found.append(sender.answer(own, rng=coins, secret=secret))
        except NotSupported:
            found.append(None)
    return found


@pytest.mark.parametrize("name", LOCAL)
def test_the_bytes_are_the_same(name, tmp_path):
    place = STORED / name / "design.json"
    design, ask = load_design(place), json.loads(place.read_text())["ask"]
    values, codes = people(design, DEVICES)
    found = run(tmp_path, identity=design.id, said=document(ask, design.round), devices=values, preview=True)
    secrets, key = [one.secret for one in found], bytes.fromhex(design.id)
    assert len(set(secrets)) == DEVICES
    packed = [one.packed for one in found]
    assert packed == answers(design, codes, secrets, key)
    assert packed != answers(design, codes, secrets, key[::-1])
    assert (packed != answers(design, codes, secrets[::-1], key)) == secrets_matter(design)


def secrets_matter(design):
    """Say whether reports depend on secrets: there are several report types, rounds, or a permanent response."""
    methods = {part.oracle["method"] for own in design.ask.report_types for part in own.parts}
    several = len(design.ask.report_types) > 1 or design.ask.rounds is not None
    return several or bool(methods & {"rappor", "rr_ldp", "loloha"})
