"""Merging accumulators by MPI.

>>> from mpi4py import MPI
>>> part = gridfold.Accumulator.of(my_rows, ["mean", "max"])
>>> whole = comm.reduce(part, gridfold.mpi.MERGE)

`MERGE` is an operation for Python objects (`reduce`, `allreduce`, `scan`). Accumulators of sums,
counts and histograms, not those of extremes, may also travel as words, which any MPI adds without
Python:

>>> part = gridfold.Accumulator.of(my_rows, ["mean"])
>>> whole = gridfold.mpi.allreduce(comm, part)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI

from ._accumulator import Accumulator

__all__ = ["MERGE", "allreduce"]


def _merge(one: Accumulator, other: Accumulator, datatype: Any = None) -> Accumulator:
    return one + other


# mpi4py's types know operations on memory only.
MERGE = MPI.Op.Create(_merge, commute=True)  # type: ignore[arg-type]


def allreduce(comm: Any, part: Accumulator) -> Accumulator:
    """The accumulator of all ranks' parts, on every rank: `MPI_SUM` of their words.

    InvalidArgumentError where a statistic has no words.
    """
    words = part.to_words()
    whole = np.empty_like(words)
    comm.Allreduce(words, whole, op=MPI.SUM)
    return Accumulator.from_words(whole)
