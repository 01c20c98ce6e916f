"""How far the count of one node of a level can be from the truth: Theorem 5 of the GT-R document, as it stands."""

import math


def bernstein(users: int, epsilon: float, *, beta: float, held: int = 0) -> float:
    """Return t with P(|estimate - truth| >= t) <= beta for a node that so many of a level's users are in.

    Each report adds z_i with mean w_i in {0, 1}, |z_i - w_i| <= c = 2 (e^epsilon + 1) / (e^epsilon - 1) and variance
    4 e^epsilon / (e^epsilon - 1)^2 where w_i = 0, ((e^epsilon + 1) / (e^epsilon - 1))^2 where w_i = 1, so that by
    Bernstein's inequality P(|sum z_i - w_i| >= t) <= 2 exp(-t^2 / 2 / (v + c t / 3)), v the sum of the variances.
    """
    odds, log = math.exp(epsilon), math.log(2 / beta)
    variance = users * 4 * odds / (odds - 1) ** 2 + held
    first = 2 * (odds + 1) / (odds - 1) * log / 3
    return first + math.sqrt(first**2 + 2 * variance * log)
