"""`em` as published: its formula, its rule, and what the rule does to large tables."""

import numpy as np
import pytest

from dpress.inference.joint.likelihood import Split, in_memory
from dpress.mechanisms.joint.documents.em import Em


def reports(sizes: tuple[int, ...], users: int) -> list[np.ndarray]:
    """Likelihoods of made-up reports that favour the first value of every attribute."""
    return [1 + 2.0 * (np.arange(users)[:, None] * 7 % (3 * size) == np.arange(size)) + (np.arange(size) == 0)
            for size in sizes]  # fmt: skip


def test_it_is_the_documents_loop() -> None:
    sizes, users, delta = (3, 2), 40, 0.001
    parts = reports(sizes, users)
    dense = (parts[0][:, :, None] * parts[1][:, None, :]).reshape(users, -1)
    table, steps = np.full(6, 1 / 6), 0
    while True:
        joint = dense * table
        new = (joint / joint.sum(axis=1, keepdims=True)).mean(axis=0)
        done, table, steps = np.abs(new - table).max() < delta, new, steps + 1
        if done:
            break
    fit = Em(delta=delta).estimate(in_memory(Split(sizes).halves(parts)), Split(sizes))
    assert steps > 2
    assert np.allclose(fit.table, table)
    assert fit.passes == steps + 1
    assert f"fired after {steps} steps" in fit.reason


def test_its_rule_fires_at_once_on_a_large_table() -> None:
    sizes = (40, 40)
    weak = [1 + 0.5 * (part > 1) for part in reports(sizes, 500)]
    fit = Em().estimate(in_memory(Split(sizes).halves(weak)), Split(sizes))
    assert "fired after 1 steps" in fit.reason
    assert np.abs(fit.table - 1 / 1600).max() < 0.001
    assert fit.gap > 0.1  # far from the maximum, and it says so


def test_a_start_may_leave_cells_out_and_steps_may_run_out() -> None:
    split = Split((3, 2))
    fold = in_memory(split.halves(reports((3, 2), 40)))
    fit = Em(steps=2, delta=1e-9).estimate(fold, split, np.array([1, 0, 1, 1, 0, 1.0]))
    assert (fit.table[[1, 4]] == 0).all()
    assert "had not fired after 2 steps" in fit.reason
    with pytest.raises(ValueError, match="delta > 0"):
        Em(delta=0)
    with pytest.raises(ValueError, match="steps >= 1"):
        Em(steps=0)
