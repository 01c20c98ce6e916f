"""The peer of `unseen_records.py`: AIM and MST as their authors have them. Runs in an environment of its own.

git clone https://github.com/ryan112358/private-pgm pgm
python -m venv peer && peer/bin/pip install ./pgm matplotlib 'jax==0.4.35' 'jaxlib==0.4.35' 'pandas==2.1.4' 'numpy<2'
python bench/unseen_records.py --peers peer/bin/python --pgm pgm

Arguments: the folder `mechanisms` of the checkout, the method, epsilon, delta, a file of codes, shape (attributes,
records), the number of values of every attribute, and the file for the records.
"""

import contextlib
import itertools
import sys

import numpy as np
import pandas as pd

AIM_BYTES = 80  # megabytes of AIM's model, its default


def main() -> None:
    """Make records once."""
    folder, method, epsilon, delta, given, sizes, out = sys.argv[1:]
    sys.path.insert(0, folder)
    from mbi import Dataset, Domain  # of the peer's environment

    codes = np.load(given)
    names = [f"a{place}" for place in range(len(codes))]
    domain = Domain(names, [int(size) for size in sizes.split(",")])
    data = Dataset(pd.DataFrame(codes.T, columns=names), domain)
    with contextlib.redirect_stdout(sys.stderr):
        if method == "mst":
            from mst import MST

            made = MST(data, float(epsilon), float(delta))
        else:
            from aim import AIM

            pairs = [(pair, 1.0) for pair in itertools.combinations(names, 2)]
            _, made = AIM(float(epsilon), float(delta), max_model_size=AIM_BYTES).run(data, pairs)
    np.save(out, made.df[names].to_numpy().T.astype(np.int32))


if __name__ == "__main__":
    main()
