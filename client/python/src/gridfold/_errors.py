"""Errors: one class for each code that a server, or the way to it, can fail with."""

from __future__ import annotations

from typing import Optional


class Error(Exception):
    """A call that failed.

    Attributes
    ----------
    code : str
        Name of the gRPC code, such as ``"INVALID_ARGUMENT"``.
    reason : str or None
        In UPPER_SNAKE_CASE, tells errors of one code apart.
    field : str or None
        Path of the request's field that is at fault, such as ``"bins[0].even.lower_bound"``.
    retry_delay : float or None
        Seconds that the server asks to wait before a retry.
    """

    code = "UNKNOWN"

    def __init__(self, message: str, reason: Optional[str] = None, field: Optional[str] = None,
                 retry_delay: Optional[float] = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.field = field
        self.retry_delay = retry_delay

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.reason, self.field, self.retry_delay)


class CancelledError(Error):
    """The call was given up."""

    code = "CANCELLED"


class InvalidArgumentError(Error, ValueError):
    """The request makes no sense; `field` says where."""

    code = "INVALID_ARGUMENT"


class DeadlineExceededError(Error, TimeoutError):
    """The call took longer than its timeout, or could not be in time."""

    code = "DEADLINE_EXCEEDED"


class NotFoundError(Error, LookupError):
    """There is no array of that name on the server."""

    code = "NOT_FOUND"


class AlreadyExistsError(Error):
    """There is an array of that name on the server."""

    code = "ALREADY_EXISTS"


class PermissionDeniedError(Error, PermissionError):
    """The caller may not do this."""

    code = "PERMISSION_DENIED"


class ResourceExhaustedError(Error):
    """There is no room: a queue, a quota or a limit is full; `retry_delay` says when to retry."""

    code = "RESOURCE_EXHAUSTED"


class FailedPreconditionError(Error):
    """The server, or the connection, is not in a state for this."""

    code = "FAILED_PRECONDITION"


class AbortedError(Error):
    """The call was aborted."""

    code = "ABORTED"


class OutOfRangeError(Error, OverflowError):
    """An integer result lies outside its type."""

    code = "OUT_OF_RANGE"


class UnimplementedError(Error, NotImplementedError):
    """The server does not have this operation."""

    code = "UNIMPLEMENTED"


class InternalError(Error):
    """A fault of the server, or an answer that makes no sense."""

    code = "INTERNAL"


class UnavailableError(Error, ConnectionError):
    """The server cannot be reached, or serves no more."""

    code = "UNAVAILABLE"


class DataLossError(Error):
    """Data are damaged."""

    code = "DATA_LOSS"


class UnauthenticatedError(Error):
    """The server does not know the caller: no token, or a wrong one."""

    code = "UNAUTHENTICATED"


_CLASSES: dict[int, type[Error]] = {
    1: CancelledError, 3: InvalidArgumentError, 4: DeadlineExceededError, 5: NotFoundError,
    6: AlreadyExistsError, 7: PermissionDeniedError, 8: ResourceExhaustedError,
    9: FailedPreconditionError, 10: AbortedError, 11: OutOfRangeError, 12: UnimplementedError,
    13: InternalError, 14: UnavailableError, 15: DataLossError, 16: UnauthenticatedError}


def from_status(code: int, message: str, reason: Optional[str], field: Optional[str],
                retry_delay: Optional[float]) -> Error:
    """The error of a gRPC code, by number. What the native modules raise."""
    return _CLASSES.get(code, Error)(message, reason, field, retry_delay)
