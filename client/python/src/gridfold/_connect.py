"""Opening a connection, with what the environment says where arguments do not."""

from __future__ import annotations

import os
import pathlib
from typing import Any, Optional, Union

from . import _native
from ._connection import Connection, to_priority
from ._progress import AnyProgress

_Path = Union[str, "os.PathLike[str]"]
_TLS_VARIABLES = ("GRIDFOLD_CLIENT_TLS_CA", "GRIDFOLD_CLIENT_TLS_CERTIFICATE",
                  "GRIDFOLD_CLIENT_TLS_KEY", "GRIDFOLD_CLIENT_TLS_SERVER_NAME")


def connect(target: Optional[str] = None, *, tls: Optional[bool] = None,
            tls_ca: Optional[_Path] = None, tls_certificate: Optional[_Path] = None,
            tls_key: Optional[_Path] = None, tls_server_name: Optional[str] = None,
            token: Optional[str] = None, token_file: Optional[_Path] = None,
            tenant: Optional[str] = None, priority: str = "normal",
            timeout: Optional[float] = None, connect_timeout: float = 5.0, channels: int = 1,
            balance: Optional[str] = None, attempts: int = 4,
            progress: AnyProgress = None) -> Connection:
    """Opens a connection to a server.

    What is not given comes from the variables of the command line: GRIDFOLD_SERVER,
    GRIDFOLD_CLIENT_TLS, GRIDFOLD_CLIENT_TLS_CA, GRIDFOLD_CLIENT_TLS_CERTIFICATE,
    GRIDFOLD_CLIENT_TLS_KEY, GRIDFOLD_CLIENT_TLS_SERVER_NAME, GRIDFOLD_CLIENT_TOKEN_FILE and
    GRIDFOLD_CLIENT_BALANCE.

    Parameters
    ----------
    target : str, optional
        Where the server is: "host:port", "unix:path", "dns:///name:port", or several as
        "ipv4:10.0.0.1:50051,10.0.0.2:50051". By default localhost, and port 50051.
    tls : bool, optional
        Whether to encrypt, and trust whom the system trusts; so do the other `tls_` arguments.
        False uses no encryption whatever the environment says.
    tls_ca, tls_certificate, tls_key : path, optional
        PEM files: authorities to trust, and this client's certificate and its key.
    tls_server_name : str, optional
        The name that the server's certificate must have, where not that of `target`.
    token, token_file : str or path, optional
        What the server knows the caller by. Only over TLS, or to this machine.
    tenant : str, optional
        Whose arrays and calls these are, where the server takes callers' word for it.
    priority : {"low", "normal", "high"}
        Of calls among the waiting ones of the tenant.
    timeout : float, optional
        Seconds that a call may take; no bound by default.
    connect_timeout : float
        Seconds to wait for the connection; 0 does not wait, and the first call connects.
    channels : int
        Connections, used in turn.
    balance : {"first", "round-robin"}, optional
        Which of several servers calls go to.
    attempts : int
        How often a call is tried where no server is available; 1 never retries.
    progress : callable or bool, optional
        As for `Connection.options`.

    Raises
    ------
    UnavailableError
        There is no server, or it does not answer.
    ValueError
        An argument makes no sense. Most are an `InvalidArgumentError`, which is one.

    Examples
    --------
    >>> gpu = gridfold.connect("gpu-host:50051", tls_ca="ca.crt")
    """
    target = target or os.environ.get("GRIDFOLD_SERVER") or "localhost:50051"
    native = _native.connect(
        target=target,
        round_robin=_is_round_robin(balance),
        tenant=tenant or "",
        priority=to_priority(priority),
        channels=channels,
        connect_timeout_s=connect_timeout,
        timeout_s=timeout,
        attempts=attempts,
        tls=_tls(tls, (tls_ca, tls_certificate, tls_key, tls_server_name)),
        token=_token(token, token_file))
    # A region belongs to one server.
    connection = Connection(native, target, shares_memory=not _is_round_robin(balance))
    return connection if progress is None else connection.options(progress=progress)


def _tls(tls: Optional[bool], given: tuple[Any, ...]) -> Optional[tuple[str, ...]]:
    if tls is False:
        return None
    values = tuple(os.fspath(value) if value is not None else os.environ.get(variable, "")
                   for value, variable in zip(given, _TLS_VARIABLES))
    is_asked = tls or any(values) or _is_true(os.environ.get("GRIDFOLD_CLIENT_TLS", ""))
    return values if is_asked else None


def _is_true(text: str) -> bool:
    return text.lower() in ("1", "true", "on", "yes", "y", "t", "+", "enable")


def _token(token: Optional[str], token_file: Optional[_Path]) -> str:
    if token is not None:
        return token
    path = token_file or os.environ.get("GRIDFOLD_CLIENT_TOKEN_FILE")
    if not path:
        return ""
    text = pathlib.Path(path).read_text(encoding="ascii").rstrip()
    if not text:
        raise ValueError(f"{path}: there is no token in it")
    return text


def _is_round_robin(balance: Optional[str]) -> bool:
    chosen = balance or os.environ.get("GRIDFOLD_CLIENT_BALANCE") or "first"
    if chosen not in ("first", "round-robin"):
        raise ValueError(f"balance: must be \"first\" or \"round-robin\", not {chosen!r}")
    return chosen == "round-robin"
