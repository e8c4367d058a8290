"""What a member of a team tries to reach the internet, or the load balancers of others.

From the AWS Load Balancer Controller 3.5.0 (pkg/annotations/constants.go, pkg/ingress: what a group merges, the JSON of
actions, conditions and transforms), KServe 0.20.0, which copies all annotations of an InferenceService to its Ingress,
and KubeRay 1.6.1, which copies those of a cluster.
"""

import json
from typing import Any, Final

from tests.adversary.independent.platform import hosted
from tests.adversary.independent.queueing import MODEL
from tests.adversary.independent.work import merged, ray_head
from tests.adversary.objects import annotated, thing
from tests.adversary.probe import ADMINISTRATOR, Object, Request
from tests.components.admission import ray_samples as ray
from tests.components.admission import samples as make
from tests.components.admission.samples import container

ALB: Final = "alb.ingress.kubernetes.io/"
NLB: Final = "service.beta.kubernetes.io/aws-load-balancer-"
PUBLIC: Final = {f"{ALB}scheme": "internet-facing"}
THEIRS: Final = "chat-language-serving.models.example.com"
ANY_HOST: Final = json.dumps([{"field": "host-header", "hostHeaderConfig": {"values": [THEIRS, "*"]}}])


def with_action(action: Any, name: str = "it") -> Object:
    """An internal Ingress whose backend is in an annotation."""
    text = action if isinstance(action, str) else json.dumps(action)
    made = make.ingress(**{"scheme": "internal", f"actions.{name}": text})
    return hosted(made, defaultBackend={"service": {"name": name, "port": {"name": "use-annotation"}}})


def asks(act: str, manifest: Object) -> Request:
    return Request(act, manifest, actor=ADMINISTRATOR)


def turns(act: str, before: Object, actor: str = ADMINISTRATOR, **change: Any) -> Request:
    metadata = {"name": "it", **change.pop("metadata", {})}
    manifest = {"apiVersion": before["apiVersion"], "kind": before["kind"], "metadata": metadata, **change}
    return Request(act, manifest, actor=actor, method="PATCH", before=before)


INTERNAL: Final = make.ingress(scheme="internal")
INGRESSES: Final = (
    asks("forwards to others in JSON with blanks", with_action(
        '\n{ "type" : "forward" ,\t"targetGroupName"\n:\t"k8s-language" }')),
    turns("opens an internal Ingress later", INTERNAL, metadata={"annotations": PUBLIC}),
    turns("moves an Ingress to the class of models later", INTERNAL, spec={"ingressClassName": "models"}),
    turns("joins a group later", INTERNAL, metadata={"annotations": {f"{ALB}group.name": "models"}}),
    Request("says that an address of others is its Ingress",
        {**thing("networking.k8s.io/v1", "Ingress"), "status": {"loadBalancer": {"ingress": [{"hostname": THEIRS}]}}},
        actor=ADMINISTRATOR, method="PATCH", subresource="status", before=INTERNAL),
)  # fmt: skip

SERVICES: Final = (
    Request("opens a port on all nodes", make.service(type="NodePort")),
    turns("turns its Service into a load balancer later", make.service(), "edit", spec={"type": "LoadBalancer"}),
    turns("turns its Service into ports of nodes later", make.service(), "edit", spec={"type": "NodePort"}),
    Request("names the API server as its Service",
        thing("v1", "Service", spec={"type": "ExternalName", "externalName": "kubernetes.default.svc.cluster.local"})),
)  # fmt: skip

PROPAGATED: Final = (
    turns("answers for models of others later", MODEL, "edit", metadata={
        "annotations": {f"{ALB}conditions.it-predictor": ANY_HOST}}),
    Request("orders a load balancer by annotations of a predictor", make.inference_service(model={}, maxReplicas=1,
            annotations={f"{NLB}scheme": "internet-facing", f"{ALB}scheme": "internet-facing"})),
    Request("orders a load balancer by annotations of a runtime", annotated(thing("serving.kserve.io/v1alpha1",
                "ServingRuntime", spec={"containers": [container(name="kserve-container")],
                    "annotations": {**PUBLIC, f"{NLB}scheme": "internet-facing"}}))),
    Request("opens the dashboard of Ray",
        annotated(ray.cluster(enableIngress=True), **{"kubernetes.io/ingress.class": "alb", **PUBLIC})),
    Request("opens the dashboard of Ray among the models",
        annotated(ray.cluster(enableIngress=True), **{"kubernetes.io/ingress.class": "models"})),
    turns("opens the dashboard of Ray later", ray.cluster(), "edit", metadata={"annotations": PUBLIC}, spec={
        "headGroupSpec": {"enableIngress": True}}),
    Request("opens the dashboard of a Ray job", annotated(ray.job(enableIngress=True), **PUBLIC)),
    Request("orders a load balancer for Ray Serve", merged(ray.service(), serveService={
                "metadata": {"annotations": {f"{NLB}scheme": "internet-facing"}}, "spec": {"type": "LoadBalancer"}})),
    Request("opens ports of nodes for Ray Serve",
        merged(ray.service(), serveService={"spec": {"type": "NodePort", "externalIPs": ["10.0.0.1"]}})),
    Request("orders a load balancer by annotations of Ray's head", ray_head(
            headService={"metadata": {"annotations": {f"{NLB}type": "external"}}, "spec": {"type": "LoadBalancer"}})),
    Request("gets a public Ingress from KubeRay",
        make.owned(hosted(make.ingress(scheme="internet-facing"), ingressClassName="alb")), actor="KubeRay"),
    Request("gets a load balancer from KubeRay",
        make.owned(annotated(make.service(type="LoadBalancer"), **{f"{NLB}scheme": "internet-facing"})),
        actor="KubeRay"),
)  # fmt: skip

BY_CONTROLLERS: Final = (
    Request("gets a load balancer from KServe",
        make.owned(annotated(make.service(), **{f"{NLB}scheme": "internet-facing"})), actor="KServe"),
)  # fmt: skip

EXPOSURE: Final = (*INGRESSES, *SERVICES, *PROPAGATED, *BY_CONTROLLERS)
