"""What devices are asked, for reports.json, by a program that shares no code with dpress: documents, hash, answers."""

import hashlib
import hmac
import json
from fractions import Fraction

from make_devices import Draws, answered
from make_documents import INSTANCES, krr, rr_ldp, subset_selection, text
from make_payloads import pack, stream, width

# --- documents that no device may act on


def wrong():
    """Yield for every oracle documents whose reports cost 5 % more than they say, and that are no documents."""
    for own in INSTANCES:
        method = own["method"]
        for name in sorted(own):
            yield {"name": f"{method}: no {name}", "oracle": {one: own[one] for one in own if one != name}}
        yield {"name": f"{method}: another field", "oracle": own | {"extra": 1}}
        yield {"name": f"{method}: another method", "oracle": own | {"method": "nothing"}}
        for name in ("loss", "levels"):  # 5 % less than what the probabilities cost
            if name in own and not isinstance(own[name], int):
                cheaper = json.loads(json.dumps(own[name]), object_hook=less)
                yield {"name": f"{method}: less {name}", "oracle": own | {name: cheaper}}
        if "epsilons" in own:
            less_of = [text(Fraction(one) / Fraction("1.05")) for one in own["epsilons"]]
            yield {"name": f"{method}: less for each", "oracle": own | {"epsilons": less_of}}
        for name in ("p", "q", "truth", "f"):
            if name in own:
                yield {"name": f"{method}: {name} is a number", "oracle": own | {name: float(Fraction(own[name]))}}
                yield {"name": f"{method}: {name} is not in lowest terms", "oracle": own | {name: doubled(own[name])}}


def less(found):
    return {"epsilon": text(Fraction(found["epsilon"]) / Fraction("1.05"))}


def doubled(fraction):
    top, bottom = fraction.split("/")
    return f"{2 * int(top)}/{2 * int(bottom)}"


# --- what devices are asked, and whole answers

ATTRIBUTES = {
    "age": {"bins": None, "bounds": [0, 4], "kind": "integer", "name": "age", "null": "reject", "outside": "clamp"},
    "sex": {
        "hierarchy": None, "kind": "categorical", "name": "sex", "null": None, "other": "other", "values": ["é", "M"],
    },
    "size": {
        "bins": 3, "bounds": ["0.0", "8.5"], "edges": None, "kind": "numeric", "name": "size", "null": "null",
        "outside": "clamp",
    },
}  # fmt: skip
CELLS = {"age": 5, "sex": 3, "size": 4}  # one beside the values, where there is one for other or missing values
SPECIFIED = [
    {"name": "age", "kind": "integer", "bounds": [0, 4]},
    {"name": "sex", "kind": "categorical", "values": ["é", "M"], "other": "elsewhere"},
    {"name": "size", "kind": "numeric", "bounds": [0.0, 8.5], "bins": 3, "null": "missing"},
]


def asks():
    """Yield for some specifications what devices are asked, and answers of some devices."""
    makers = {
        "krr": krr,
        "subset_selection": subset_selection,
        "rr_ldp": lambda size, epsilon: rr_ldp([size], f="0.5", p="0.5", q="0.75"),  # noqa: ARG005
    }
    for method, split, parameters in (
        ("krr", "users", {}), ("subset_selection", "budget", {}), ("rr_ldp", "users", {"f": 0.5}),
        ("rr_ldp", "budget", {"f": 0.5}),
    ):  # fmt: skip
        epsilon = Fraction(12 if method == "rr_ldp" else 2) / (3 if split == "budget" else 1)
        parts = [
            {"axes": [axis], "encoder": {"encoder": "code"}, "oracle": makers[method](CELLS[name], epsilon)}
            for axis, name in enumerate(ATTRIBUTES)
        ]
        together = [parts] if split == "budget" else [[part] for part in parts]
        types = [{"parts": own, "weight": 1, "width": sum(width(one["oracle"]) for one in own)} for own in together]
        ask = {"model": "local", "attributes": [*ATTRIBUTES.values()], "report_types": types, "rounds": None}
        canonical = json.dumps(ask, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        identity = hashlib.sha256(canonical.encode()).hexdigest()
        release = {"kind": "marginals", "method": method, "parameters": {"split": split, **parameters}}
        budget = {"model": "local", "epsilon": 12 if method == "rr_ldp" else 2}
        spec = {"attribute": SPECIFIED, "privacy": budget, "release": release}
        answers = [*answers_to(ask, bytes.fromhex(identity)[:16])]
        yield {"specification": spec, "canonical": canonical, "id": identity, "answers": answers}


def answers_to(ask, key):
    """Yield whole answers of devices that keep a secret: it fixes the type, the words make id and payload."""
    types = ask["report_types"]
    for number in range(4):
        secret = stream(f"secret {key.hex()} {number}", 16 + number)
        digest = hmac.digest(secret, b"dpress group    " + key, "sha256")
        chosen = int.from_bytes(digest[:8], "little") % sum(one["weight"] for one in types)
        codes = [int.from_bytes(stream(f"{number} {name}", 4), "big") % CELLS[name] for name in CELLS]
        draws = Draws(f"answer {key.hex()} {number}")
        identity = b"".join(word.to_bytes(8, "little") for word in draws.words(2))
        slot = sum(len(part["axes"]) for one in types[:chosen] for part in one["parts"])
        payload = b""
        for part in types[chosen]["parts"]:
            own = [codes[axis] for axis in part["axes"]]
            payload += answered(part["oracle"], own, draws, secret, key, slot)
            slot += len(own)
        packed = pack([2, key, identity, 0, chosen, payload])
        words = [f"{word:016x}" for word in draws.used]
        yield {"secret": secret.hex(), "codes": codes, "words": words, "report_type": chosen, "packed": packed.hex()}
