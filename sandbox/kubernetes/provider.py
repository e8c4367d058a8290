"""The gRPC provider `kubernetes`: dispatches calls to manifests and Helm releases."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

import grpc
from pulumi.runtime.proto import provider_pb2 as pb

from sandbox.errors import SandboxError
from sandbox.kubernetes.client import ApiError, NoSuchKindError, UnreachableError
from sandbox.kubernetes.helm.release import RELEASE, Releases
from sandbox.kubernetes.manifests import Manifests
from sandbox.kubernetes.targets import UNKNOWN_KUBECONFIG, Settings, read_settings
from sandbox.rpc.diff import Change, Diff, compare
from sandbox.rpc.errors import ProviderError
from sandbox.rpc.hooks import Failure, ReadResult, Resource, Values
from sandbox.rpc.provider import Provider
from sandbox.rpc.wire import has_unknown

T = TypeVar("T", bound=Callable[..., Any])
VERSION = "4.34.2"
SECRET = "kubernetes:core/v1:Secret"  # noqa: S105 - a type
_LEADS = ("kubeconfig", "context", "cluster")
"""Arguments that select the cluster."""


def _explained(hook: T) -> T:
    """Convert refusals of API servers into errors for the user."""

    @wraps(hook)
    def call(*arguments: Any) -> Any:
        try:
            return hook(*arguments)
        except (ApiError, NoSuchKindError, SandboxError, TimeoutError) as error:
            raise ProviderError(str(error)) from error

    return call  # type: ignore[return-value]


class KubernetesProvider(Provider[Settings]):
    """Supports typed resources, CustomResource and Helm releases."""

    version = VERSION

    def __init__(self, manifests: Manifests, releases: Releases) -> None:
        super().__init__()
        self._manifests = manifests
        self._releases = releases

    # -- the provider's own arguments ----------------------------------------------------------------------------------

    def check_config(self, resource: Resource, news: Values, olds: Values) -> tuple[Values, list[Failure]]:
        """Accept a kubeconfig that is not known yet, and start the API server that previews then need."""
        known = {key: value for key, value in news.items() if not has_unknown(value)}
        if "kubeconfig" in news and "kubeconfig" not in known:
            known["kubeconfig"] = UNKNOWN_KUBECONFIG
        try:
            settings = read_settings(known)
        except ProviderError as error:
            return known, [Failure("", str(error))]
        if not settings.server:
            self._manifests.targets.pool.prewarm(resource.program)
        return known, []

    def diff_config(self, resource: Resource, old_inputs: Values, news: Values) -> Diff:
        """A new cluster replaces the provider and all its resources; a clusterIdentifier, if set, decides alone."""
        changes = compare(old_inputs, news)
        if has_unknown([news.get(key) for key in _LEADS]):
            # This happens while the cluster itself is replaced. The real provider treats an unknown value as another
            # cluster (pulumi-kubernetes v4.34.2, provider/pkg/provider/provider.go, DiffConfig).
            return Diff(tuple(Change(c.path, c.kind, c.path[0] in _LEADS, c.input) for c in changes))
        old, new = read_settings(old_inputs), read_settings(news)
        if old.cluster_identifier or new.cluster_identifier:
            replaced: tuple[str, ...] = ("clusterIdentifier",)
        else:
            moved = old.server and new.server and old.server != new.server
            replaced = _LEADS if moved else ()
        return Diff(tuple(Change(c.path, c.kind, c.path[0] in replaced, c.input) for c in changes))

    def configure(self, config: Mapping[str, Any], peer: str) -> Settings:
        """The arguments, parsed."""
        return read_settings(config)

    # -- resources -----------------------------------------------------------------------------------------------------

    @_explained
    def check(
        self, session: Settings, resource: Resource, news: Values, olds: Values, seed: bytes
    ) -> tuple[Values, list[Failure]]:
        """Fill in defaults, and let the API server validate the resource."""
        session = replace(session, program=resource.program)
        if resource.type == RELEASE:
            return self._releases.check(session, resource, news, olds, seed)
        return self._manifests.check(session, resource, news, olds, seed)

    def secret_inputs(self, resource: Resource) -> tuple[str, ...]:
        """The contents of a Secret (pulumi-kubernetes v4.32.0, provider/pkg/provider/provider.go, annotateSecrets)."""
        return ("data", "stringData") if resource.type == SECRET else ()

    @_explained
    def diff(
        self, session: Settings, resource: Resource, id: str, old_inputs: Values, old_outputs: Values, news: Values
    ) -> Diff:
        """The changes, and which of them force a replacement."""
        if resource.type == RELEASE:
            return self._releases.diff(old_inputs, old_outputs, news)
        return self._manifests.diff(session, old_inputs, news)

    @_explained
    def create(self, session: Settings, resource: Resource, inputs: Values) -> tuple[str, Values]:
        """Create the object."""
        if resource.type == RELEASE:
            return self._releases.create(session, resource, inputs)
        return self._manifests.create(session, resource, inputs)

    @_explained
    def read(
        self, session: Settings, resource: Resource, id: str, outputs: Values, inputs: Values
    ) -> ReadResult | None:
        """The live object."""
        if resource.type == RELEASE:
            return self._releases.read(session, resource, id, outputs, inputs)
        return self._manifests.read(session, resource, id, outputs, inputs)

    @_explained
    def update(
        self, session: Settings, resource: Resource, id: str, olds: Values, news: Values, old_inputs: Values
    ) -> Values:
        """Change the object."""
        if resource.type == RELEASE:
            return self._releases.update(session, resource, olds, news)
        return self._manifests.update(session, resource, id, news)

    @_explained
    def delete(self, session: Settings, resource: Resource, id: str, outputs: Values, old_inputs: Values) -> None:
        """Delete the object."""
        try:
            if resource.type == RELEASE:
                self._releases.delete(session, resource, outputs)
            else:
                self._manifests.delete(session, resource, outputs, old_inputs)
        except UnreachableError:
            # If its cluster was deleted meanwhile, so was the object.
            if self._manifests.targets.existing(session) is not None:
                raise

    def Construct(self, request: pb.ConstructRequest, context: grpc.ServicerContext) -> Any:
        """Refuse components of the real plugin (`helm.sh/v4:Chart`, `yaml/v2:ConfigGroup`)."""
        context.abort(
            grpc.StatusCode.INVALID_ARGUMENT,
            f"{request.type} is a component inside the kubernetes plugin, which the sandbox does not support: use "
            "kubernetes.helm.v3.Release for a chart, and typed resources or kubernetes.apiextensions.CustomResource "
            "for manifests",
        )
