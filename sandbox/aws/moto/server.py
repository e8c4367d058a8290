"""The sandbox's AWS: moto's HTTP server on loopback, in a thread of this process. It keeps everything in memory."""

from __future__ import annotations

import functools
import http.client
import io
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from werkzeug.test import EnvironBuilder, run_wsgi_app

from sandbox import worlds
from sandbox.aws.client import Clients, Send
from sandbox.aws.moto import live, service_models
from sandbox.errors import SandboxError
from sandbox.identity import Peers
from sandbox.ports import Clusters, ManagedAddons, NodeObserver
from sandbox.state import FAULTS

# What stands between the socket of the sandbox's AWS and moto: it answers our user's AWS clients alone.
#
# A browser on the same machine sends requests for any page, to any port, and moto allows every origin to read its
# answers (flask-cors, moto 5.2.5). A page may also reach 127.0.0.1 under a name of its own, by DNS rebinding; its
# requests then carry that name as Host. AWS clients send neither Origin nor Sec-Fetch-Site.

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
_LOCAL = re.compile(r"((\d{12}\.)?127\.0\.0\.1|(?:[a-z0-9.-]+\.)?localhost)(:\d+)?", re.IGNORECASE)
"""Names that no name server can point elsewhere: `localhost` and all below it (RFC 6761), as buckets have them. Clients
of S3 Control put the account before an address; that isn't a name, and they reach it by this server as their proxy."""
_SAME_SITE = ("same-origin", "none")
_CROSS_ORIGIN = "access-control-"


def guarded(application: Application, peers: Peers) -> Application:
    """The application, refusing requests of pages and of other users, and without headers for other origins."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        problem = refusal(environ, peers)
        if problem is not None:
            text = f"{problem}\n".encode()
            headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(text)))]
            start_response(f"{HTTPStatus.FORBIDDEN.value} {HTTPStatus.FORBIDDEN.phrase}", headers)
            return [text]

        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            kept = [(name, value) for name, value in headers if not name.lower().startswith(_CROSS_ORIGIN)]
            return start_response(status, kept, *rest)

        return application(environ, start)

    return answer


def refusal(environ: dict[str, Any], peers: Peers) -> str | None:
    """Why a request is refused; None if it is answered."""
    host = environ.get("HTTP_HOST", "")
    if not _LOCAL.fullmatch(host):
        return f"the sandbox's AWS is 127.0.0.1 or localhost, not {host!r}"
    origin = environ.get("HTTP_ORIGIN")
    if origin is not None and origin != f"http://{host}":
        return "the sandbox's AWS answers no page of another origin"
    if environ.get("HTTP_SEC_FETCH_SITE", "none") not in _SAME_SITE:
        return "the sandbox's AWS answers no request that another page makes"
    referrer = environ.get("HTTP_REFERER")
    if referrer is not None and not referrer.startswith(f"http://{host}/"):
        return "the sandbox's AWS answers no request of another page"
    if not peers.ours(int(environ["REMOTE_PORT"]), int(environ["SERVER_PORT"])):
        return "the sandbox's AWS answers processes of the user who started it"
    return None


# IDs of a VPC, its subnets and security groups that the caller chooses, by the tag that moto has for this.
#
# Moto 5.2.5 honours the tag for some services (moto/utilities/id_generator.py, TAG_KEY_CUSTOM_ID), not for EC2. A stack
# file or a program names an existing VPC by its ID on AWS, so a rehearsal needs one with that ID.

TAG: Final = "_custom_id_"
_WANTED: Final[ContextVar[str]] = ContextVar("wanted", default="")


def install() -> None:
    """Let moto take these IDs from the tag. A second call does nothing."""
    from moto.ec2.models import security_groups, subnets, vpcs  # noqa: PLC0415

    _install(security_groups, security_groups.SecurityGroupBackend, "create_security_group", "random_security_group_id")
    _install(vpcs, vpcs.VPCBackend, "create_vpc", "random_vpc_id")
    _install(subnets, subnets.SubnetBackend, "create_subnet", "random_subnet_id")


def _install(module: Any, backend: Any, create: str, random: str) -> None:
    original = getattr(backend, create)
    if not hasattr(original, "__wrapped__"):
        setattr(backend, create, _chosen(original))
        setattr(module, random, _id(getattr(module, random)))


def _chosen(create: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(create)
    def call(backend: Any, *args: Any, tags: Any = None, **more: Any) -> Any:
        id, kept = _taken_out(tags)
        token = _WANTED.set(id)
        try:
            return create(backend, *args, tags=kept, **more)
        finally:
            _WANTED.reset(token)

    return call


def _taken_out(tags: Any) -> tuple[str, Any]:
    """The ID, and the other tags: moto has those of a VPC as a list of pairs, those of a subnet as a map by type, those
    of a security group as a map."""
    if isinstance(tags, dict):
        found = [_taken_out(of_type) for of_type in tags.values() if isinstance(of_type, dict)]
        if found:
            return next((id for id, _ in found if id), ""), dict(zip(tags, (kept for _, kept in found), strict=True))
        return tags.get(TAG, ""), {key: value for key, value in tags.items() if key != TAG}
    ids = [one["Value"] for one in tags or () if one["Key"] == TAG]
    return (ids[0] if ids else ""), [one for one in tags or () if one["Key"] != TAG]


def _id(make: Callable[[], str]) -> Callable[[], str]:
    return lambda: _WANTED.get() or make()


# Answering requests of our own clients with the moto of this process, without a socket.
#
# A call over loopback, with its own connection and server thread, takes 4 ms of CPU; without a socket it takes 1.3 ms
# (describe_vpcs, list_roles and others, 2 cores, 2026-11). A preview of stack prod makes 290 calls, its first `up` 560.


def send_to(application: Any) -> Send:
    """A handler that lets a WSGI application answer a client's requests."""

    def send(request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        url = urlsplit(request.url)
        builder = EnvironBuilder(
            path=f"{url.path or '/'}?{url.query}",
            base_url=f"{url.scheme}://{url.netloc}",
            method=request.method,
            headers=[(name, _text(value)) for name, value in request.headers.items()],
            input_stream=io.BytesIO(_content(request.body)),
        )
        try:
            body, status, headers = run_wsgi_app(application, builder.get_environ(), buffered=True)
        finally:
            builder.close()
        return AWSResponse(request.url, int(status.split()[0]), dict(headers), _Raw(b"".join(body)))

    return send


class _Raw(io.BytesIO):
    """A response body with the interface that botocore expects of urllib3."""

    def stream(self) -> list[bytes]:
        return [self.read()]


def _content(body: Any) -> bytes:
    """The body of a request as bytes; botocore passes a string, bytes, a file or None."""
    content = body.read() if hasattr(body, "read") else body or b""
    return content.encode() if isinstance(content, str) else bytes(content)


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


HOST = "127.0.0.1"
READY_TIMEOUT_SECONDS = 30

_ENVIRONMENT = {
    # Without it, attaching an AWS managed policy (arn:aws:iam::aws:policy/...) fails. Read when moto is imported.
    "MOTO_IAM_LOAD_MANAGED_POLICIES": "true",
    # Otherwise every page that a browser shows may read the answers.
    "MOTO_DISABLE_GLOBAL_CORS": "true",
}
# It would override the header that names the account (moto 5.2.5, core/responses.py).
_UNWANTED = "MOTO_ACCOUNT_ID"


@dataclass(frozen=True)
class MotoServer:
    """A running server, and the WSGI application that answers for it."""

    port: int
    application: Any
    _server: Any
    _before: live.Behind | None = None
    """What was behind the EKS of this process before."""

    def attach(
        self,
        clusters: Clusters | None = None,
        nodes: NodeObserver | None = None,
        addons: ManagedAddons | None = None,
        cluster_of: Callable[[str], str | None] = lambda _: None,
        save: Callable[[str], object] = lambda _: None,
        disturb: Callable[[str, float, str], None] = lambda *_: None,
    ) -> None:
        """Let them start what is behind the objects of EKS; `cluster_of` names the cluster of an API server's slot,
        `save` saves the sandbox under a name, and `disturb` lets a part of it fail."""
        live.attach(live.Behind(self.clients, clusters, nodes, addons, cluster_of, save, disturb))

    @property
    def endpoint(self) -> str:
        """The endpoint URL for AWS clients."""
        return f"http://{HOST}:{self.port}"

    @functools.cached_property
    def clients(self) -> Clients:
        """Clients that it answers without a socket."""
        return Clients(self.endpoint, send_to(self.application))

    def stop(self) -> None:
        """Stop serving."""
        live.detach(self.clients, self._before)
        self._server.stop()


def start(port: int = 0) -> MotoServer:
    """Serve on a loopback port, 0 for a free one; returns once it answers."""
    os.environ.update(_ENVIRONMENT)
    os.environ.pop(_UNWANTED, None)
    # Before moto is imported: it creates botocore sessions at import.
    service_models.install()
    # Imported here: moto reads the environment at import, which takes about a second.
    from moto.server import ThreadedMotoServer  # noqa: PLC0415

    from sandbox.aws.moto import cbor, clusters, faults, fixes, judged, kept, tokens  # noqa: PLC0415

    clusters.install()
    judged.install()
    kept.install()
    fixes.install()
    faults.install()
    install()
    _cache_look_ups()
    # Otherwise werkzeug writes a line per request to stderr.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address=HOST, port=port, verbose=False)
    server.start()
    # Waits until it listens.
    _, listening = server.get_host_and_port()
    # Moto has no public access to its WSGI application (moto 5.2.5, moto_server/threaded_moto_server.py).
    serving: Any = server._server
    application = _one_at_a_time(serving.app)
    running = MotoServer(listening, application, server, live.attach(None))
    running.attach()
    answering = tokens.answering(cbor.translated(judged.from_outside(application)))
    serving.app = guarded(_commanded(answering, {worlds.ADDRESS: _save, FAULTS: faults.answered}), Peers())
    # http.client, because urllib would use a proxy named in the environment.
    connection = http.client.HTTPConnection(HOST, running.port, timeout=READY_TIMEOUT_SECONDS)
    try:
        # Not data.json, which lists all objects: 8 s in a process that has served other stacks before (2026-11).
        connection.request("GET", "/moto-api/config")
        connection.getresponse().read()
    finally:
        connection.close()
    return running


def _commanded(application: Application, tells: Mapping[str, Callable[[str, bytes], str]]) -> Application:
    """The application, which also does what commands tell the sandbox: by the beginning of the path, something that
    gets its rest and the body."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = str(environ.get("PATH_INFO", ""))
        command = next((one for one in tells if path.startswith(one)), None)
        if command is None or environ.get("REQUEST_METHOD") != "POST":
            return application(environ, start_response)
        content = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        status = HTTPStatus.OK
        try:
            text = tells[command](path.removeprefix(command), content)
        except SandboxError as error:
            status, text = HTTPStatus.CONFLICT, str(error)
        body = text.encode()
        start_response(f"{status.value} {status.phrase}", [("Content-Length", str(len(body)))])
        return [body]

    return answer


def _save(name: str, _content: bytes) -> str:
    live.behind().save(name)
    return ""


def _one_at_a_time(application: Application) -> Application:
    """The application, answering one request at a time, and about what is just being made once that is done."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        live.settled(environ)
        with live.turn():
            return application(environ, start_response)

    return answer


def _cache_look_ups() -> None:
    """Cache two look-ups that moto 5.2.5 repeats at each request with the same result, a fifth of a call's CPU.

    They are its list of services, read from its directory, and the methods of the answering class (2026-11).
    """
    from moto import backends  # noqa: PLC0415
    from moto.core import responses  # noqa: PLC0415

    listing: Any = backends
    answering: Any = responses
    services, methods = listing.list_of_moto_modules, answering.method_names_from_class
    if not hasattr(methods, "cache_info"):
        listing.list_of_moto_modules = functools.cache(lambda: frozenset(services()))
        answering.method_names_from_class = functools.cache(methods)
