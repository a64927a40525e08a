"""`where`: the elements of an array that count, chosen before it is sent."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._elements import as_array


def _mask(x: Any, where: Any) -> tuple[Any, Any]:
    if hasattr(x, "_lay_out"):
        raise NotImplementedError("where: not for arrays on the server")
    array = as_array(x)
    mask = np.asarray(where)
    if mask.dtype.kind != "b":
        raise TypeError("where: must be of bools")
    return array, mask


def select(x: Any, where: Any, keepdims: bool) -> Any:
    """The elements of the whole array that count, in one dimension."""
    array, mask = _mask(x, where)
    chosen = array[np.broadcast_to(mask, array.shape)]
    return chosen.reshape((-1,) + (1,) * (array.ndim - 1)) if keepdims else chosen


def fill(x: Any, where: Any, name: str, identity: Any) -> Any:
    """The array with what changes no result in the place of the elements that do not count."""
    array, mask = _mask(x, where)
    if identity is None:
        raise NotImplementedError(f"where: not for {name} with an axis, unless initial is given")
    return np.where(mask, array, np.asarray(identity, array.dtype))
