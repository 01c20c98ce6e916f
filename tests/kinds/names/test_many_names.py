"""A release of 20,000 names is published, written, read, asked and drawn within 1 GiB."""

import subprocess
import sys

import pytest

NAMES, MOST = 20_000, 1 << 30
PROGRAM = f"""
import resource, sys
import numpy as np
import pyarrow as pa
import dpress
from dpress.core.basics.rng import seeded
from dpress.kinds.names import answers

if sys.argv[2] == "square":  # a number for every two names
    plain = answers.Answers.rest_variance
    square = lambda own: int(np.ones((len(own.values) + 1,) * 2, dtype=np.int32)[-1, -1]) * plain.fget(own)
    answers.Answers.rest_variance = property(square)
product = {{"name": "product", "kind": "categorical", "values": "discover"}}
spec = {{"attribute": [product], "privacy": {{"epsilon": 1, "delta": 1e-6}}, "release": {{"kind": "names"}}}}
rows = pa.table({{"product": np.repeat([f"name {{place:05d}}" for place in range({NAMES})], 40)}})
dpress.publish(spec, rows, rng=seeded(1), out=sys.argv[1])
release = dpress.load_release(sys.argv[1])
assert len(release.answers.values) > {NAMES} * 0.99
assert abs(release.query("product = 'name 00007'").value - 40) < 30
dpress.report(release, sys.argv[1] + "/report.html")
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))  # of this program alone
print(int(peak.split()[1]) * 1024)
"""


def peak(folder, how: str) -> int:
    words = [sys.executable, "-c", PROGRAM, str(folder), how]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.slow
def test_twenty_thousand_names_take_less_than_a_gibibyte(tmp_path):
    assert peak(tmp_path / "release", "as it is") < MOST


@pytest.mark.slow
def test_a_square_of_the_names_is_noticed(tmp_path):
    assert peak(tmp_path / "release", "square") > MOST
