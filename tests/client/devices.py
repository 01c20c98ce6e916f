"""Devices of the built browser client, in Node: what they send for given values."""

import functools
import json
import math
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STORED = ROOT / "tests" / "formats" / "stored"
BUILT = ROOT / "src" / "dpress" / "service" / "client" / "client.mjs"
SCRIPT = Path(__file__).with_suffix(".mjs")


@functools.cache
def program(name):
    """Return the path of a program, or skip the test."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not here: the browser client is not run")
    return found


def document(ask, round_number=0):
    """Return what a server says of a collection."""
    rounds = 1 if ask["rounds"] is None else len(ask["rounds"]["types"])
    said = {"ask": ask, "round": round_number, "rounds": rounds}
    return said | {"open": True, "until": None, "largest_batch": 1, "next": None}


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What a device did: the bytes it sent, or why it sent none, its charges "num/den", and its secret."""

    packed: bytes | None
    refused: str | None
    charges: list[str]
    secret: bytes


def written(value):
    """Return a value as JSON has it; integers and what JSON has no number for go as texts that the script reads."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"number": True, "text": "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"}
    if isinstance(value, int) and not isinstance(value, bool):
        return {"number": True, "text": str(value)}
    return value


def run(folder, *, identity, said, devices, preview=False):
    """Return what every device did.

    Args:
        folder: for the files of the job.
        identity: of what is asked; it also keys the devices' coins and secrets.
        said: the server's document.
        devices: the values of each, by attribute.
        preview: instead of sending.
    """
    job, out = folder / "job.json", folder / "out.json"
    plain = [{name: written(value) for name, value in one.items()} for one in devices]
    job.write_text(json.dumps({"id": identity, "document": said, "devices": plain, "preview": preview}))
    subprocess.run([program("node"), str(SCRIPT), str(BUILT), str(job), str(out)], check=True)
    found = json.loads(out.read_text())
    return [
        Sent(
            packed=bytes.fromhex(one["packed"]) or None,
            refused=one["refused"],
            charges=one["charges"],
            secret=bytes.fromhex(one["secret"]),
        )
        for one in found
    ]
