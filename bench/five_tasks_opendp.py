"""The same tasks in OpenDP 0.16 with its Polars context. Runs in an environment of its own, with `opendp[polars]`."""

# ruff: noqa: ANN001, ANN201, ARG001  # as one types them; the functions are of one form

import math

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib")
EDUCATION = pl.LazyFrame({"education": ["Primary", "Secondary", "Vocational", "Bachelor", "Master"]})


def histogram(path, folder):
    query = context(path, 1, 1).query().group_by("education").agg(dp.len()).with_keys(EDUCATION)
    return query.release().collect()


def mean(path, folder):
    query = context(path, 1, 1).query().select(pl.col("age").cast(int).fill_null(0).dp.mean((0, 100)))
    return query.release().collect()


def budget(path, folder):
    both = context(path, 1, 2)
    both.query().group_by("education").agg(dp.len()).with_keys(EDUCATION).release()
    both.query().select(pl.col("age").cast(int).fill_null(0).dp.mean((0, 100))).release()
    both.query().select(pl.col("age").cast(int).fill_null(0).dp.mean((0, 100))).release()  # refused


def choose(path, folder):
    low, high = 0.001, 10.0
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        query = context(path, middle, 1).query().group_by("education").agg(dp.len()).with_keys(EDUCATION)
        scale = query.summarize()["scale"][0]
        error = math.sqrt(2) * scale
        if error > 10:
            low = middle
        else:
            high = middle
    return high


def explain(path, folder):
    query = context(path, 1, 1).query().group_by("education").agg(dp.len()).with_keys(EDUCATION)
    half = query.summarize(alpha=0.05)["accuracy"][0]
    counts = query.release().collect()
    return counts.with_columns(low=pl.col("len") - half, high=pl.col("len") + half)


def context(path, epsilon, queries):
    return dp.Context.compositor(
        data=pl.scan_csv(path),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=float(epsilon)),
        split_evenly_over=queries,
        margins=[dp.polars.Margin(max_length=1_000_000)],
    )
