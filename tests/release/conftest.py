import pyarrow as pa
import pytest

from dpress.data.specification.spec import from_dict

AGE = {"name": "age", "kind": "integer", "bounds": [0, 9]}
SEX = {"name": "sex", "kind": "categorical", "values": ["F", "M"]}
SIZE = {"name": "size", "kind": "numeric", "bounds": [0.0, 8.0], "bins": 4}
ATTRIBUTES = [AGE, SEX, SIZE]


@pytest.fixture
def make_spec():
    def make(kind="marginals", attributes=None, privacy=None, **release):
        wanted = {"kind": kind, **({"attributes": attributes} if attributes else {}), **release}
        return from_dict({"attribute": ATTRIBUTES, "privacy": privacy or {"epsilon": 1.0}, "release": wanted})

    return make


@pytest.fixture
def rows():
    i = list(range(500))
    return pa.table(
        {
            "age": [k * k % 10 for k in i],
            "sex": ["FM"[k % 3 == 0] for k in i],
            "size": [k % 80 / 10 for k in i],
            "uid": [k // 4 for k in i],
        }
    )
