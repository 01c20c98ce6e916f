"""How far a count from OUE reports can be from the truth: the bound of the GT-R document's Theorem 5 (Bernstein)."""

import math

from dpress.core import check


def bernstein(users: int, epsilon: float, *, beta: float, held: int = 0, everybody: int | None = None) -> float:
    """Return t with P(|estimate - truth| >= t) <= beta for the count of one node of a level.

    Each report adds z_i with mean w_i in {0, 1}, |z_i - w_i| <= M = 2 (e^epsilon + 1) / (e^epsilon - 1) and variance
    4 e^epsilon / (e^epsilon - 1)^2 where w_i = 0, ((e^epsilon + 1) / (e^epsilon - 1))^2 where w_i = 1, so that by
    Bernstein's inequality P(|sum z_i - w_i| >= t) <= 2 exp(-t^2 / 2 / (S + M t / 3)), S the sum of the variances.

    Error: t = a + sqrt(a^2 + 2 S L), a = M L / 3, L = ln(2 / beta); times n / n_l for the whole population, where the
    sampling error of the level's users is not included.
    Paper: Zhang, Fu, Meng, Theorem 5.

    Args:
        users: n_l, who reported the level.
        epsilon: of one report.
        beta: between 0 and 1.
        held: how many of them are in the node.
        everybody: n; left out, those of the level.

    >>> round(bernstein(10_000, 1.0, beta=0.05), 1)
    526.6
    """
    check.count("users", users)
    if not 0 <= held <= users:
        raise ValueError(f"held must lie between 0 and users, got held={held}")
    if not (epsilon > 0 and 0 < beta < 1):
        raise ValueError(f"epsilon must be > 0 and beta between 0 and 1, got epsilon={epsilon}, beta={beta}")
    odds = math.exp(epsilon)
    largest, log = 2 * (odds + 1) / (odds - 1), math.log(2 / beta)
    spread = ((users - held) * 4 * odds + held * (odds + 1) ** 2) / (odds - 1) ** 2
    first = largest * log / 3
    return (first + math.sqrt(first**2 + 2 * spread * log)) * (users if everybody is None else everybody) / users
