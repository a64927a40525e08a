"""`where`: the elements of an array that count, chosen before it is sent, or by the server."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._elements import BOOL, Array, as_array, wire_form
from ._engine import Engine, Source
from ._layout import Axis, lay_out
from ._reduce import Policy, Question, ask, finish_one, warn_of_few
from ._resident import ResidentArray, wire_shape
from ._statistics import NUMBERS


def is_for_server(x: Any, axis: Axis, identity: Any) -> bool:
    """Whether the server is to choose: elements are there already, or nothing could stand here in
    the place of those that do not count."""
    return hasattr(x, "_lay_out") or (axis is not None and identity is None)


async def reduce_where(engine: Engine, x: Any, name: str, axis: Axis, keepdims: bool, where: Any,
                       policy: Policy, initial: Any = None) -> Any:
    """The statistic of the elements that count, as NumPy has it, chosen by the server."""
    if name in ("min", "max") and initial is None:
        raise ValueError(f"reduction operation '{name}imum' does not have an identity, so to use "
                         "a where mask one has to specify 'initial'")
    array = x if hasattr(x, "_lay_out") else np.ascontiguousarray(as_array(x))
    question = ask(array, axis, keepdims)
    number = NUMBERS[name]
    if question.layout is None:
        return finish_one(question, number, None, policy)
    asked = [number] if initial is not None else [number, NUMBERS["count"]]
    values, _ = await engine.reduce(question.layout.source, asked, question.layout.axis,
                                    policy.ignore_nan, policy.wrap, policy.ddof,
                                    _source(where, question), initial)
    if initial is None:
        warn_of_few(number, values[1], policy)
    return finish_one(question, number, values[0], policy)


def _source(where: Any, question: Question) -> Source:
    """The mask, laid out as the array is; where it lies, if both are on the server."""
    array = question.array
    if (isinstance(where, ResidentArray) and isinstance(array, ResidentArray)
            and where.dtype.kind == "b" and where.shape == array.shape):
        layout = where._lay_out(None)
        assert layout is not None
        return layout.source
    mask = np.ascontiguousarray(np.broadcast_to(_truths(where), array.shape))
    if hasattr(array, "_lay_out"):
        shape = wire_shape(array.shape)
        return wire_form(mask.reshape(-1))[0], BOOL, shape if len(shape) != 1 else None
    flat, _, extents = lay_out(mask, question.axes).source
    return flat, BOOL, extents


def _truths(where: Any) -> Array:
    mask = np.asarray(where)
    if mask.dtype.kind != "b":
        raise TypeError("where: must be of bools")
    return mask


def _mask(x: Any, where: Any) -> tuple[Any, Any]:
    return as_array(x), _truths(where)


def select(x: Any, where: Any, keepdims: bool) -> Any:
    """The elements of the whole array that count, in one dimension."""
    array, mask = _mask(x, where)
    chosen = array[np.broadcast_to(mask, array.shape)]
    return chosen.reshape((-1,) + (1,) * (array.ndim - 1)) if keepdims else chosen


def fill(x: Any, where: Any, identity: Any) -> Any:
    """The array with what changes no result in the place of the elements that do not count."""
    array, mask = _mask(x, where)
    return np.where(mask, array, np.asarray(identity, array.dtype))
