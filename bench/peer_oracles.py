"""The peers of `oracle_speed.py`: multi-freq-ldpy and pure-ldp. Runs in an environment of its own, without dpress.

python -m venv peer && peer/bin/pip install multi-freq-ldpy pure-ldp 'xxhash<4' scikit-learn statsmodels
python bench/oracle_speed.py --peers peer/bin/python

Reads one JSON case a line from standard input; answers with what one run on each side took. The device's side makes
reports one by one, as these libraries do; the collector's goes from the reports to the estimate of every count.
"""

import importlib.metadata
import json
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, SS, UE
from pure_ldp.frequency_oracles import direct_encoding, hadamard_response, local_hashing, unary_encoding

REPORTS = {"krr": 100_000, "hadamard": 20_000, "olh": 20_000, "oue": 2_000, "sue": 2_000, "subset_selection": 2_000}
FEWER = {"olh": 50}  # times fewer reports for a collector that hashes every value for every report
PACKAGES = ("multi-freq-ldpy", "pure-ldp", "numba", "xxhash", "numpy")
Sides = tuple[Callable[[int], Any], Callable[[list[Any]], Any]]  # one report of a value; the estimate from reports


def multi_freq_ldpy(oracle: str, k: int, epsilon: float) -> Sides | None:
    """Return both sides of an oracle of multi-freq-ldpy."""
    return {
        "krr": (lambda v: GRR.GRR_Client(v, k, epsilon), lambda r: GRR.GRR_Aggregator_MI(r, k, epsilon)),
        "oue": (lambda v: UE.UE_Client(v, k, epsilon, True), lambda r: UE.UE_Aggregator_MI(r, epsilon, True)),
        "sue": (lambda v: UE.UE_Client(v, k, epsilon, False), lambda r: UE.UE_Aggregator_MI(r, epsilon, False)),
        "olh": (lambda v: LH.LH_Client(v, k, epsilon, True), lambda r: LH.LH_Aggregator_MI(r, k, epsilon, True)),
        "subset_selection": (lambda v: SS.SS_Client(v, k, epsilon), lambda r: SS.SS_Aggregator_MI(r, k, epsilon)),
    }.get(oracle)


def pure_ldp(oracle: str, k: int, epsilon: float) -> Sides | None:
    """Return both sides of an oracle of pure-ldp."""
    same = {"index_mapper": int}  # its own default counts from one
    lh, ue, hr = local_hashing, unary_encoding, hadamard_response
    makers: dict[str, Callable[[], tuple[Any, Any]]] = {
        "krr": lambda: (
            direct_encoding.DEClient(epsilon, k, **same),
            direct_encoding.DEServer(epsilon, k, **same),
        ),
        "olh": lambda: (
            lh.LHClient(epsilon, k, use_olh=True, **same),
            lh.LHServer(epsilon, k, use_olh=True, **same),
        ),
        "hadamard": lambda: hadamard(hr, k, epsilon, same),
        "oue": lambda: (ue.UEClient(epsilon, k, use_oue=True, **same), ue.UEServer(epsilon, k, use_oue=True, **same)),
        "sue": lambda: (ue.UEClient(epsilon, k, **same), ue.UEServer(epsilon, k, **same)),
    }
    if oracle not in makers:
        return None
    client, server = makers[oracle]()

    def estimate(reports: list[Any]) -> None:
        server.reset()
        server.aggregate_all(reports)
        server.check_and_update_estimates()

    return client.privatise, estimate


def hadamard(module: Any, k: int, epsilon: float, same: dict[str, Any]) -> tuple[Any, Any]:
    """Return both sides of Hadamard response; the client needs the server's hash functions."""
    server = module.HadamardResponseServer(epsilon, k, **same)
    return module.HadamardResponseClient(epsilon, k, server.get_hash_funcs(), **same), server


LIBRARIES = {"multi-freq-ldpy": multi_freq_ldpy, "pure-ldp": pure_ldp}


def timed(run: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return what a call returned, with its wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = run()
    return result, {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def run(library: str, oracle: str, size: int, epsilon: float) -> dict[str, Any] | None:
    """Run one oracle once on each side; None where the library does not have it."""
    sides = LIBRARIES[library](oracle, size, epsilon)
    if sides is None:
        return None
    device, collector = sides
    device(0)  # compiles
    values = [v * 7919 % size for v in range(REPORTS[oracle])]
    reports, made = timed(lambda: [device(v) for v in values])
    reports = reports[:: FEWER.get(oracle, 1)]
    _, counted = timed(lambda: collector(reports))
    return {
        "device": made | {"reports": len(values)},
        "collector": counted | {"reports": len(reports)},
        "bytes_held": np.asarray(reports[0]).nbytes,
    }


def main() -> None:
    """Answer every line; the first answer names the versions."""
    warnings.simplefilter("ignore")
    print(json.dumps({name: importlib.metadata.version(name) for name in PACKAGES}), flush=True)
    for line in sys.stdin:
        print(json.dumps(run(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
