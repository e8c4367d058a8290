"""Arguments and environment of a Pulumi CLI run, as data. Nothing here starts a process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Final

from spec.errors import refuse
from spec.naming import NETWORK_ONLY, PROJECT

CREDENTIAL_PREFIXES: Final = ("AWS_", "PULUMI_")
"""Variables that could direct a run, or a tool beside it, to a real account or another backend."""
HARMLESS: Final = frozenset({"PULUMI_DEBUG_GRPC", "PULUMI_PARALLEL", "PULUMI_SKIP_CHECKPOINTS"})
"""Variables for the engine's speed and log that a user may want in the sandbox; they select no account or backend."""
PROXY_EXCEPTIONS: Final = ("127.0.0.1", "localhost")  # gRPC obeys `http_proxy` even for loopback
NETWORK: Final = "slipway:network:Network"  # type of the component that owns the VPC (`components.network`)
DELETE_UNREACHABLE: Final = "PULUMI_K8S_DELETE_UNREACHABLE"
"""Default of the provider's option (pulumi-kubernetes 4.34.2, schema, `deleteUnreachable`)."""
PREVIEW_ONLY: Final = "--preview-only"
_OURS: Final = ("-s", "--stack", "-C", "--cwd", "--config-file")


class Operation(StrEnum):
    """A command of the engine."""

    UP = "up"
    PREVIEW = "preview"
    REFRESH = "refresh"
    DESTROY = "destroy"

    @property
    def changes(self) -> bool:
        """Whether it changes resources or state, and so must be confirmed."""
        return self is not Operation.PREVIEW


@dataclass(frozen=True, kw_only=True)
class Request:
    """One operation on one stack."""

    operation: Operation
    stack: str
    yes: bool = False
    except_protected: bool = False
    network_only: bool = False
    """Only the VPC and what belongs to it: the first step of a cluster whose API has no public endpoint."""
    unreachable: bool = False
    """Forget the objects of a cluster that does not answer: the Kubernetes provider's `deleteUnreachable`."""
    skip_preview: bool = False  # without the engine's own preview: nobody reads it, or the user has seen it
    config_file: Path | None = None  # the stack file, if not the one of the checkout
    extra: tuple[str, ...] = ()  # the user's own arguments, passed on unchanged

    @property
    def only_shows(self) -> bool:
        """Whether it changes nothing."""
        return not self.operation.changes or PREVIEW_ONLY in self.extra

    @property
    def confirmed(self) -> bool:
        """Whether the user has agreed to its changes."""
        return self.yes or any(argument in ("--yes", "-y") for argument in self.extra)

    def with_settings(self, path: Path) -> Request:
        """The same request with another stack file."""
        return replace(self, config_file=path)


@dataclass(frozen=True)
class Invocation:
    """A command line with its environment and directory."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    directory: Path


def operation(pulumi: Path, request: Request, *, directory: Path, environment: Mapping[str, str]) -> Invocation:
    """The command line of an operation."""
    refuse_ours(request.extra)
    argv = [str(pulumi), str(request.operation), "--stack", request.stack]
    if request.config_file is not None:
        argv += ["--config-file", str(request.config_file)]
    # The CLI refuses --yes together with --preview-only (v3.258.0).
    if request.yes and request.operation.changes and not request.only_shows:
        argv.append("--yes")
    if request.operation in (Operation.PREVIEW, Operation.UP) and not _names_refresh(request.extra):
        # Without a refresh the plan misses changes made by hand, and `up` must do what `preview` showed.
        argv.append("--refresh")
    if request.skip_preview and request.operation.changes and not request.only_shows:
        argv.append("--skip-preview")
    if request.except_protected:
        argv.append("--exclude-protected")
    if request.unreachable:
        environment = {**environment, DELETE_UNREACHABLE: "true"}
    if request.network_only:
        # The targets keep resources that an earlier run created outside the network.
        environment = {**environment, NETWORK_ONLY: "1"}
        for urn in network_urns(request.stack):
            argv += ["--target", urn]
    return Invocation((*argv, *request.extra), environment, directory)


def network_urns(stack: str) -> tuple[str, str]:
    """URNs of the component `Network` and, as a pattern of the engine's, of everything below it."""
    component = f"urn:pulumi:{stack}::{PROJECT}::{NETWORK}"
    return f"{component}::network", f"{component}$**"


def sandbox_environment(user: Mapping[str, str], sandbox: Mapping[str, str]) -> dict[str, str]:
    """The user's environment without its AWS and Pulumi variables, plus those of the sandbox."""
    kept = {name: value for name, value in user.items() if not leads_elsewhere(name)}
    return kept | without_proxy(user) | dict(sandbox)


def leads_elsewhere(name: str) -> bool:
    """Whether a variable could direct a run in the sandbox to a real account or another backend."""
    return name.startswith(CREDENTIAL_PREFIXES) and name not in HARMLESS


def without_proxy(user: Mapping[str, str]) -> dict[str, str]:
    """`no_proxy` and `NO_PROXY` with loopback added, if a proxy is set; otherwise nothing."""
    if not any(name.lower().endswith("_proxy") and value for name, value in user.items()):
        return {}
    exceptions = (user.get("no_proxy") or user.get("NO_PROXY") or "").split(",")
    hosts = ",".join(dict.fromkeys([*(host.strip() for host in exceptions if host.strip()), *PROXY_EXCEPTIONS]))
    return {"no_proxy": hosts, "NO_PROXY": hosts}


def _names_refresh(extra: Sequence[str]) -> bool:
    return any(argument.partition("=")[0] in ("--refresh", "-r") for argument in extra)


def refuse_ours(extra: Sequence[str]) -> None:
    """Raises SlipwayError, exit code 2, if an extra argument selects another stack, project or file."""
    for argument in extra:
        if argument.partition("=")[0] in _OURS:
            refuse(
                f"`{argument}` after `--` would select another stack, project or file than the one that was checked: "
                "pass the stack as the argument of this command"
            )
