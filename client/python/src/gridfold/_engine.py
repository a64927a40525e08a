"""What computes: a connection to a server, or anything with the same methods."""

from __future__ import annotations

from typing import Any, Optional, Protocol, Sequence, Union

import numpy as np

# What is meant of an array on the server: its name, with the first and the count of its rows, or
# elements (a count of -1: all of it); or with the indices of a view's first element and the view's
# dimensions, each an axis of the array, a count and a step.
Place = Union[tuple[str, int, int],
              tuple[str, tuple[int, ...], tuple[tuple[int, int, int], ...]]]

# An array as engines take it: a C-contiguous array of NumPy's, or the place of one on the server; the
# number of its element type; and None, for one dimension, or up to DIMENSIONS_MAX extents.
Source = tuple[Union["np.ndarray[Any, Any]", Place], int, Optional[tuple[int, ...]]]
DIMENSIONS_MAX = 8

# The axes of a source that groups run along; WHOLE: one group of everything.
Along = tuple[int, ...]
WHOLE: Along = (-1,)


class Execution(Protocol):
    """How a job ran; times in seconds.

    `transport` is how the array came to the server: "inline", "stream", "streams", "region" or
    "resident"; "in place": it was there, or is in memory of this machine that the server sees.
    """

    @property
    def engine(self) -> str: ...
    @property
    def strategy(self) -> str: ...
    @property
    def bytes_read(self) -> int: ...
    @property
    def queue_time_s(self) -> float: ...
    @property
    def kernel_time_s(self) -> float: ...
    @property
    def total_time_s(self) -> float: ...
    @property
    def transport(self) -> str: ...


class Engine(Protocol):
    """The operations on sources, which operations (_operation.py) await. Scans run along one axis,
    or the whole."""

    async def reduce(self, source: Source, statistics: Sequence[int], axis: Along, ignore_nan: bool,
                     wrap: bool, ddof: float, where: Optional[Source] = None, initial: Any = None,
                     empty: Any = "error", output_type: Optional[int] = None
                     ) -> tuple[tuple[Any, ...], Execution]:
        """One number for each statistic of a whole array, otherwise one array.

        `where` is a mask of the source's shape. `empty` is what groups have that are too small for
        a statistic: "error", "nan", or a value; "error" is "nan" where there is a mask.
        Floating-point values are of float64; where `output_type` is the number of a narrower type,
        they may be rounded to it.
        """

    async def reduce_whole(self, array: "np.ndarray[Any, Any]", element_type: int, statistic: int,
                           wrap: bool) -> Any:
        """One statistic of all elements of a plain array as a number of Python's, at little cost.
        None: ask `reduce`."""

    async def scan(self, source: Source, operation: int, axis: Along, exclusive: bool,
                   reverse: bool, output_type: Optional[int], ignore_nan: bool, wrap: bool,
                   exact: bool, window: int = 0, min_count: int = 0
             ) -> tuple["np.ndarray[Any, Any]", int, Execution]:
        """The results' bytes and the number of their element type. Of sums and means of the last
        `window` elements those are NaN of which fewer than `min_count` count; 0: of all so far."""

    async def reduce_by_key(self, keys: Source, values: Source, groups: tuple[Any, ...],
                            further_keys: Sequence[Source], statistics: Sequence[int],
                            ignore_nan: bool, wrap: bool, ddof: int,
                            quantiles: Sequence[float] = (), method: int = 1) -> tuple[Any, ...]:
        """Keys where they are found or None, counts, a tuple of each statistic's values and then of
        each quantile's, edges of bins, (underflow, overflow, NaN) and the execution. `groups` is
        ("found", most keys), ("range", first, count) or ("bins", bins, clamp), with the coordinates
        of the bins' further dimensions."""

    async def histogram(self, source: Source, bins: Sequence[tuple[Any, ...]],
                        y_source: Optional[Source], weights: Optional[Source], clamp: bool,
                        quantiles: Sequence[float]
                  ) -> tuple[list[tuple[Any, ...]], list["np.ndarray[Any, Any]"], Execution]:
        """(counts or sums, underflow, overflow, NaN, quantiles) of each channel, and edges.

        Servers' engines also take ("rule", name, lower, upper) for bins.
        """

    async def quantiles(self, source: Source, quantiles: Sequence[float], method: int, axis: Along,
                        ignore_nan: bool, weights: Optional[Source] = None
                  ) -> tuple[list["np.ndarray[Any, Any]"], Execution]:
        """An array for each quantile, with a value for each group; of elements with `weights`."""

    async def relate(self, source: Source, y_source: Optional[Source], weights: Optional[Source],
                     statistics: Sequence[int], ddof: int, is_reliability: bool, ignore_nan: bool,
                     wrap: bool) -> tuple[list["np.ndarray[Any, Any]"], Execution]:
        """The values of each statistic of two columns, or of those of a source of two dimensions:
        one, or for each column, or for each two of them."""

    async def top(self, source: Source, count: int, smallest: bool, axis: Along, ignore_nan: bool
            ) -> tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]", Execution]:
        """`count` elements of each group, one group after the other, and their indices."""
