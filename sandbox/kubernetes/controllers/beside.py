"""The controllers beside one cluster: each runs while its Deployment exists, and anew when that changes."""

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from sandbox.kubernetes import serving
from sandbox.kubernetes.client import ApiError, KubeClient, UnreachableError
from sandbox.kubernetes.controllers import table, webhooks
from sandbox.kubernetes.controllers.launch import Launch, certificate_bundle, of_deployment
from sandbox.kubernetes.controllers.running import Entry, Place, Running, State
from sandbox.kubernetes.controllers.table import STARTING, UNHEALTHY, of_image, of_service
from sandbox.kubernetes.objects import Object, Ref
from sandbox.kubernetes.waiting import Follower, Watch

LOG = logging.getLogger(__name__)
LISTED_SECONDS: Final = 10.0
"""How long an answer waits for the first list of Deployments."""
DEPLOYMENTS: Final = "/apis/apps/v1/deployments"
CONFIGURATIONS: Final = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
GROUP: Final = "admissionregistration.k8s.io/v1"
DEFINITION: Final = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")

Version = Callable[[KubeClient, Object], str]
"""The version that a Deployment was installed with: of its chart, or the tag of an image; empty if nobody knows."""


class Controllers(Follower):
    """Follows the Deployments of a cluster. Thread-safe."""

    def __init__(self, place: Place, slot: str, client: KubeClient, version_of: Version) -> None:
        self._place = place
        self._slot = slot
        self._client = client
        self._version_of = version_of
        self._running: dict[str, Running] = {}
        # Only these may have closed conversions. To find CRDs by a label, the API server reads all of them.
        self._unbuilt = {each.name for each in table.CONTROLLERS if each.wanted and each.binary is None}
        self._lock = threading.Lock()
        self._watches = [
            Watch(client, DEPLOYMENTS, self._deployment),
            *(Watch(client, f"/apis/{GROUP}/{kind.lower()}s", self._changed(kind)) for kind in CONFIGURATIONS),
        ]

    def stop(self) -> None:
        """End all of them."""
        super().stop()
        with self._lock:
            running = list(self._running.values())
            self._running.clear()
        # At once: each may take its grace period to end.
        with ThreadPoolExecutor(len(running) or 1) as stopping:
            list(stopping.map(Running.stop, running))

    def has(self, name: str) -> bool:
        """Whether the cluster has a controller, built or not; after a first look at a cluster that was restored."""
        self._watches[0].listed.wait(LISTED_SECONDS)
        with self._lock:
            return any(each.launch.controller.name == name for each in self._running.values())

    def holding(self, pod: Mapping[str, Any]) -> tuple[str, str] | None:
        """Why a pod is not ready yet, as reason and message of an event; None if no controller holds it."""
        images = (str(each.get("image") or "") for each in pod["spec"]["containers"])
        controller = next((found for image in images if (found := of_image(image)) is not None), None)
        if controller is None or not controller.wanted or controller.binary is None:
            return None
        entry = self._place.report.get(self._slot, controller.name)
        if entry is None:
            # Its Deployment was not seen yet.
            return STARTING, f"{controller.name} {State.STARTING}"
        reasons = {State.STARTING: STARTING, State.FAILING: UNHEALTHY}
        return (reasons[entry.state], entry.text) if entry.state in reasons else None

    def resolve(self, host: str, port: int) -> int | str:
        """The local port of the controller behind a ClusterIP; or why there is none."""
        services = self._client.get_path("/api/v1/services")["items"]
        service = next((each for each in services if each["spec"].get("clusterIP") == host), None)
        if service is None:
            return serving.nobody(host, port)
        target = next((each["targetPort"] for each in service["spec"]["ports"] if each["port"] == port), None)
        with self._lock:
            running = list(self._running.values())
        for each in running:
            selector = service["spec"].get("selector")
            if each.launch.namespace == service["metadata"]["namespace"] and each.launch.selected(selector):
                found = each.port(target) if target is not None else None
                return self._said(each.launch.controller.name) if found is None else found
        metadata = service["metadata"]
        missing = serving.look(self._client, metadata["namespace"], metadata["name"])
        controller = of_service(metadata["name"])
        return str(missing) if missing is not None else self._said(controller.name if controller else metadata["name"])

    def _said(self, name: str) -> str:
        """What a controller does instead of answering."""
        entry = self._place.report.get(self._slot, name)
        what = entry.text if entry is not None else f"no controller {name} runs in the sandbox"
        return f"{what}: `slipway sandbox status` lists those that do"

    # ------------------------------------------------------------------------------------------------------------------

    def _deployment(self, change: str, deployment: Object) -> None:
        launch = of_deployment(deployment) if change != "DELETED" else None
        where = f"{deployment['metadata']['namespace']}/{deployment['metadata']['name']}"
        with self._lock:
            present = self._running.get(where)
            if present is not None and present.launch == launch:
                return
            self._running.pop(where, None)
        if present is not None:
            present.stop()
        if launch is None or not launch.controller.wanted:
            return
        if self._same_version(launch, deployment):
            running = Running(self._place, self._slot, self._client, launch, self._settle)
            with self._lock:
                self._running[where] = running
            running.start()
        else:
            self._settle()

    def _same_version(self, launch: Launch, deployment: Object) -> bool:
        controller = launch.controller
        installed, wanted = self._version_of(self._client, deployment), controller.tag or controller.version
        if installed.lstrip("v") == wanted.lstrip("v"):
            return True
        detail = f"the stack installs {installed or 'an unknown one'}: nothing of it runs"
        self._place.report.set(Entry(self._slot, controller.name, wanted, State.OTHER_VERSION, detail))
        return False

    def _changed(self, kind: str) -> Callable[[str, Object], None]:
        def handle(change: str, configuration: Object) -> None:
            if change != "DELETED":
                self._settle_one(kind, configuration)

        return handle

    def _settle(self) -> None:
        """A controller's state changed: open the webhooks and conversions of those that run, close those of others."""
        try:
            with self._lock:
                running = {each.launch.controller.name for each in self._running.values() if each.expected}
            for name in sorted(running & self._unbuilt):
                self._convert(name)
            for kind in CONFIGURATIONS:
                for configuration in list(self._client.list(self._client.discovery.find(GROUP, kind))):
                    self._settle_one(kind, configuration)
        except (ApiError, UnreachableError) as error:
            LOG.warning("webhooks of %s stay as they are: %s", self._slot, error)

    def _settle_one(self, kind: str, configuration: Object) -> None:
        ref = Ref(GROUP, kind, configuration["metadata"]["name"])
        found: Object | None = configuration
        while found is not None:
            wanted = webhooks.settled(found, self._serves, self._never, self._bundle)
            if wanted == (found.get("webhooks") or []):
                return
            # With the version that was read, so that nothing is undone that was written meanwhile.
            patch = {"metadata": {"resourceVersion": found["metadata"]["resourceVersion"]}, "webhooks": wanted}
            try:
                self._client.merge(ref, patch)
            except ApiError as error:
                if not (error.conflict or error.not_found):
                    raise
                found = self._client.get(ref)
            else:
                return

    def _convert(self, controller: str) -> None:
        resource = self._client.discovery.find(*DEFINITION)
        for crd in list(self._client.list(resource, selector=f"{webhooks.WAITS_FOR}={controller}")):
            self._client.merge(Ref(*DEFINITION, crd["metadata"]["name"]), webhooks.with_conversion(crd["metadata"]))

    def _of_service(self, service: webhooks.Service) -> Running | None:
        namespace, name = service
        with self._lock:
            found = (each for each in self._running.values() if name in each.launch.controller.services)
            return next((each for each in found if each.launch.namespace == namespace), None)

    def _serves(self, service: webhooks.Service) -> bool:
        running = self._of_service(service)
        return running is not None and running.expected

    def _never(self, service: webhooks.Service) -> bool:
        controller = of_service(service[1])
        if controller is None or not controller.wanted or controller.binary is None:
            return True
        entry = self._place.report.get(self._slot, controller.name)
        return entry is not None and entry.state in (State.OTHER_VERSION, State.MISSING)

    def _bundle(self, service: webhooks.Service) -> str:
        running = self._of_service(service)
        if running is None or not running.launch.controller.issued:
            return ""
        return certificate_bundle(self._client, running.launch)
