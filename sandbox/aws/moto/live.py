"""What runs behind the objects of EKS: API servers and nodes follow from what is in moto, whoever put it there.

An operation that starts or stops something answers at once, with a status such as `CREATING`, as EKS does. The work
goes on in a thread, and sets the status when it is done.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sandbox.errors import SandboxError
from sandbox.ports import Clusters, ManagedAddons, NodeObserver
from sandbox.rpc.errors import ProviderError

if TYPE_CHECKING:
    from sandbox.aws.client import Clients

LOG = logging.getLogger(__name__)

# One request at a time.
#
# Moto isn't made for threads: a list fails with "dictionary changed size during iteration" while another thread creates
# an object (moto 5.2.5, 2026-11). The engine makes 16 calls at once; all of them wait for one interpreter anyway. The
# thread that holds the lock may ask again: some services of moto call others.

_LOCK: Final = threading.RLock()
_HOLDER = threading.local()


@contextmanager
def turn() -> Iterator[None]:
    """Moto's memory belongs to this thread alone meanwhile."""
    with _LOCK:
        depth = getattr(_HOLDER, "depth", 0)
        _HOLDER.depth = depth + 1
        try:
            yield
        finally:
            _HOLDER.depth = depth


@dataclass(frozen=True)
class Behind:
    """Where the work is done; without the ports, clusters and node groups are objects of moto alone."""

    clients: Clients
    clusters: Clusters | None = None
    nodes: NodeObserver | None = None
    addons: ManagedAddons | None = None
    cluster_of: Callable[[str], str | None] = lambda _: None
    """The name of the cluster of an API server's slot; None if it has none."""
    save: Callable[[str], object] = lambda _: None
    """Saves the sandbox under a name. Raises SandboxError."""
    disturb: Callable[[str, float, str], None] = lambda *_: None
    """Disturbs a part of the sandbox for some seconds, as `faults` names it. Raises SandboxError if it isn't there."""


_behind: Behind | None = None


def attach(behind: Behind | None) -> Behind | None:
    """Say who starts what is behind the objects of EKS from now on; returns who did before. Moto has one memory in a
    process, so it is one."""
    global _behind
    before, _behind = _behind, behind
    return before


def detach(clients: Clients, before: Behind | None) -> None:
    """Put back who did before, unless a server with other clients has been attached since."""
    if _behind is not None and _behind.clients is clients:
        attach(before)


def behind() -> Behind:
    """Who starts it. Raises RuntimeError before `attach`."""
    if _behind is None:
        msg = "nothing is attached to EKS: moto was not started by sandbox.aws.moto.server"
        raise RuntimeError(msg)
    return _behind


# Work, and who waits for it.

CREATING: Final = "CREATING"
UPDATING: Final = "UPDATING"
DELETING: Final = "DELETING"
ACTIVE: Final = "ACTIVE"
FAILED: Final = "FAILED"
ANSWER_SECONDS: Final = 20.0
"""How long an answer about an object waits for work on it. AWS's waiters look every 30 s (botocore, eks/2017-11-01/
waiters-2.json), which here would be most of the time that a cluster takes; clients give up after 60 s (`read_timeout`).
"""
_PARALLEL_STARTS: Final = 4
_DESCRIBED: Final = re.compile(
    r"/clusters/(?P<cluster>[^/]+)(/node-groups/(?P<group>[^/]+)|/(?P<addon>addons/[^/]+)|/updates/[^/]+)?"
)

Key = tuple[str, str]
"""A cluster's name, and that of a node group in it, or `addons/NAME`; empty for the cluster itself."""

_servers: Final = ThreadPoolExecutor(_PARALLEL_STARTS, thread_name_prefix="eks-clusters")
_groups: Final = ThreadPoolExecutor(1, thread_name_prefix="eks-nodes")
"""One thread: what happens to a group happens in its order."""
_addons: Final = ThreadPoolExecutor(8, thread_name_prefix="eks-addons")
_pending: Final[dict[Key, Future[None]]] = {}
DOOMED: Final[ContextVar[str]] = ContextVar("doomed", default="")
"""Why the work that a request begins is to fail; empty if it isn't."""


def begin(
    cluster: str,
    member: str,
    work: Callable[[], Any],
    done: Callable[[Any], None],
    failed: Callable[[str], None],
    *,
    ends: bool = False,
) -> None:
    """Work on a cluster, or on a member of it. Then one of the functions is called with moto's lock held: with what the
    work returned, or why it failed.

    Work on a cluster begins once what was begun before in it has ended, which a restart of its API server would break;
    with `ends` only earlier work on the cluster itself is awaited. A member waits for its cluster, an add-on for
    earlier work on itself too.

    Args:
        cluster: Name of the cluster.
        member: Name of a node group, or `addons/NAME`; empty for the cluster itself.
        work: What is done in a thread.
        done: Gets what it returned.
        failed: Gets why it failed.
        ends: Whether it deletes the cluster.
    """
    key = cluster, member
    if member.startswith("addons/"):
        pool, before = _addons, _pending_in(cluster, "", member)
    elif member:
        pool, before = _groups, _pending_in(cluster, "")
    else:
        pool, before = _servers, _pending_in(cluster, "") if ends else _pending_in(cluster)

    doom = DOOMED.get()

    def run() -> None:
        wait(before)
        try:
            if doom:
                raise SandboxError(doom)
            result = work()
        except Exception as error:
            if not isinstance(error, (SandboxError, ProviderError)):
                LOG.exception("work on %s failed", "/".join(filter(None, key)))
            reason = str(error) or type(error).__name__
            with turn():
                failed(reason)
        else:
            with turn():
                done(result)

    future = pool.submit(run)
    _pending[key] = future

    def forget(ended: Future[None]) -> None:
        if _pending.get(key) is ended:
            _pending.pop(key, None)

    future.add_done_callback(forget)


def _pending_in(cluster: str, *members: str) -> list[Future[None]]:
    """Work that was begun on members of a cluster, on all of them if none is named. Each waits for earlier work alone,
    and a pool begins the earliest first, so that none waits for ever."""
    return [found for key, found in list(_pending.items()) if key[0] == cluster and (not members or key[1] in members)]


def busy() -> bool:
    """Whether there is work on a cluster."""
    return bool(_pending)


def require_idle() -> None:
    """Raises SandboxError while there is work on a cluster."""
    if names := sorted({"/".join(filter(None, key)) for key in list(_pending)}):
        msg = f"EKS is still working on {', '.join(names)}: save the sandbox when that is done"
        raise SandboxError(msg)


def settled(environ: Mapping[str, Any]) -> None:
    """Wait until work on what a request describes is done, or for `ANSWER_SECONDS`; at once for other requests."""
    if environ.get("REQUEST_METHOD") != "GET" or getattr(_HOLDER, "depth", 0):
        return
    match = _DESCRIBED.fullmatch(str(environ.get("PATH_INFO", "")))
    if match is None:
        return
    name, group = match["cluster"], match["group"] or match["addon"] or ""
    keys = (
        [(name, group)] if group or "/updates/" not in match[0] else [key for key in list(_pending) if key[0] == name]
    )
    wait([found for key in keys if (found := _pending.get(key)) is not None], ANSWER_SECONDS)
