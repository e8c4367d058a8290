"""Moto's memory as bytes, and back, with what the project keeps beside moto's objects.

A pickle is code: whoever can write one runs what they want in the daemon. So one is read only from a file of the
sandbox's own home that belongs to its user, and that nobody else can write (`sandbox.worlds`).
"""

import copyreg
import importlib
import io
import marshal
import pickle
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from types import CellType, FunctionType
from typing import Any, Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from moto.core.base_backend import BackendDict
from moto.iam.models import IAMBackend

from sandbox.errors import SandboxError

_LOCKS: Final[dict[type, Callable[[], Any]]] = {
    type(threading.Lock()): threading.Lock,
    type(threading.RLock()): threading.RLock,
}
_KEYS: Final = (rsa.RSAPrivateKey, ec.EllipticCurvePrivateKey, ed25519.Ed25519PrivateKey)
_OF_CLASS: Final = frozenset(("backend", "service_name", "_use_boto3_regions", "_additional_regions", "_id"))
"""What the lists of accounts of two processes have in common, or for themselves."""


def dumped(more: Any = None) -> bytes:
    """All accounts, and something else that may refer to their objects. Nothing may change them meanwhile.

    Raises:
        SandboxError: A service keeps what can't be written, such as a thread.
    """
    file = io.BytesIO()
    memory = {
        _name(one): (_beside(one), {name: _used(regions) for name, regions in one.items()}) for one in _services()
    }
    try:
        _Pickler(file, pickle.HIGHEST_PROTOCOL).dump((memory, more))
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
        msg = f"the sandbox's AWS has something that can't be saved: {error}"
        raise SandboxError(msg) from error
    return file.getvalue()


def load(data: bytes) -> Any:
    """Put the accounts into this process, in the place of those of the same names; returns what else was saved."""
    memory, more = pickle.loads(data)  # noqa: S301 - see the module's docstring
    for name, (beside, accounts) in memory.items():
        service = _service(*name)
        vars(service).update(beside)
        for account, regions in accounts.items():
            service.pop(account, None)
            dict.update(service[account], regions)
    return more


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if type(value) in _LOCKS:
            return _LOCKS[type(value)], ()
        if isinstance(value, _KEYS):
            form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            pem = value.private_bytes(serialization.Encoding.PEM, *form)
            return _key, (pem,)
        if isinstance(value, FunctionType) and "<" in value.__qualname__:
            # The default of a dictionary: pickle finds functions by name, and these have none.
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            return _function, (marshal.dumps(value.__code__), value.__module__, value.__defaults__, cells)
        if isinstance(value, defaultdict) and type(value) is not defaultdict:
            # It would be made anew with its default alone, whatever its class takes.
            state = vars(value), {"default_factory": value.default_factory}
            return copyreg.__newobj__, (type(value),), state, None, iter(dict.items(value))  # type: ignore[attr-defined]
        return (_service, _name(value)) if isinstance(value, BackendDict) else NotImplemented


def _key(pem: bytes) -> Any:
    return serialization.load_pem_private_key(pem, None)


def _function(code: bytes, module: str, defaults: tuple[Any, ...] | None, cells: list[Any]) -> FunctionType:
    names = vars(importlib.import_module(module))
    return FunctionType(marshal.loads(code), names, "", defaults, tuple(map(CellType, cells)))  # noqa: S302


def _services() -> Iterator[Any]:
    """Moto's services that were used in this process, each with its accounts."""
    services: Any = BackendDict
    return iter(services._instances)


def _used(regions: Mapping[str, Any]) -> dict[str, Any]:
    """Without the IAM of partitions in which nobody has a role, a user or a session, whose key says the account: a
    look-up of a key makes one in each, with AWS's 1,582 policies (moto 5.2.5), 4 MB."""
    of_iam = {name: one for name, one in regions.items() if isinstance(one, IAMBackend)}
    empty = {name for name, one in of_iam.items() if not (one.roles or one.users or one.access_keys)}
    return {name: one for name, one in regions.items() if name not in empty}


def _name(service: Any) -> tuple[str, str]:
    return service.backend.__module__, service.backend.__name__


def _service(module: str, backend: str) -> Any:
    found = vars(importlib.import_module(module)).values()
    return next(one for one in found if isinstance(one, BackendDict) and one.backend.__name__ == backend)


def _beside(service: Any) -> dict[str, Any]:
    """What a service knows of all accounts, such as S3 the names of buckets."""
    return {name: value for name, value in vars(service).items() if name not in _OF_CLASS}
