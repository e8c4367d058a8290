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
GROUP_OF_THEIRS: Final = "arn:aws:elasticloadbalancing:us-east-1:444455556666:targetgroup/k8s-language/0123456789abcdef"
ANY_HOST: Final = json.dumps([{"field": "host-header", "hostHeaderConfig": {"values": [THEIRS, "*"]}}])


def of_class(name: str, **spec: Any) -> Object:
    return hosted(make.ingress(scheme="internal"), ingressClassName=name, **spec)


def with_action(action: Any, name: str = "it") -> Object:
    """An internal Ingress whose backend is in an annotation."""
    text = action if isinstance(action, str) else json.dumps(action)
    made = make.ingress(**{"scheme": "internal", f"actions.{name}": text})
    return hosted(made, defaultBackend={"service": {"name": name, "port": {"name": "use-annotation"}}})


def asks(act: str, manifest: Object) -> Request:
    return Request(act, manifest, actor=ADMINISTRATOR)


def served(act: str, **notes: str) -> Request:
    made = MODEL
    return Request(act, annotated(made, **{f"{ALB}{key}": value for key, value in notes.items()}))


def turns(act: str, before: Object, actor: str = ADMINISTRATOR, **change: Any) -> Request:
    metadata = {"name": "it", **change.pop("metadata", {})}
    manifest = {"apiVersion": before["apiVersion"], "kind": before["kind"], "metadata": metadata, **change}
    return Request(act, manifest, actor=actor, method="PATCH", before=before)


INTERNAL: Final = make.ingress(scheme="internal")
INGRESSES: Final = (
    *(asks(f"takes {what} for its load balancer", make.ingress(**{"scheme": "internal", key: value}))
      for what, key, value in (
          ("a second, public one", "enable-frontend-nlb", "true"),
          ("the subnets of a second one", "frontend-nlb-subnets", "subnet-public"),
          ("public addresses", "frontend-nlb-eip-allocations", "eipalloc-1"),
          ("the name of another", "load-balancer-name", "k8s-models"),
          ("a certificate that the controller orders", "create-acm-cert", "true"),
          ("no firewall", "wafv2-acl-arn", "none"),
          ("the firewall of others by name", "wafv2-acl-name", "theirs"),
          ("no classic firewall", "waf-acl-id", "none"),
          ("a subscription of Shield", "shield-advanced-protection", "true"),
          ("3000 units of capacity", "minimum-load-balancer-capacity", "CapacityUnits=3000"),
          ("a pool of addresses", "ipam-ipv4-pool-id", "ipam-pool-1"),
          ("addresses of an outpost", "customer-owned-ipv4-pool", "ipv4pool-coip-1"),
          ("lists of prefixes", "security-group-prefix-lists", "pl-1"),
          ("a trust store of others", "mutual-authentication",
           '[{"port":443,"mode":"verify","trustStore":"arn:aws:elasticloadbalancing:us-east-1:1:truststore/x/1"}]'),
          ("the users of others", "auth-idp-cognito",
           '{"userPoolARN":"arn:x","userPoolClientID":"x","userPoolDomain":"x"}'),
          ("the targets of other clusters", "multi-cluster-target-group", "true"),
          ("nodes as its targets", "target-node-labels", "platform.slipway/role=system"),
          ("connection logs in another bucket", "load-balancer-attributes",
           "idle_timeout.timeout_seconds=60, connection_logs.s3.enabled=true, connection_logs.s3.bucket=theirs"),
          ("a lock that nobody can delete", "load-balancer-attributes", "deletion_protection.enabled=true"))),
    asks("joins the load balancer of the models", of_class("models")),
    asks("takes the place before all models of others", hosted(
        make.ingress(**{"scheme": "internal", "group.order": "-1000"}), ingressClassName="models",
        rules=[{"http": {"paths": [{"path": "/", "pathType": "Prefix",
                                    "backend": INTERNAL["spec"]["defaultBackend"]}]}}])),
    asks("joins a group in another case", make.ingress(**{"scheme": "internal", "group.name": "models"})),
    asks("joins a group with blanks around it", make.ingress(**{"scheme": "internal", "group.name": " models "})),
    asks("is public with a blank behind", make.ingress(scheme="internet-facing ")),
    asks("is public by the empty scheme of a class of others", of_class("external", rules=[{"host": "a.example.com"}])),
    asks("is public by the annotation of another controller", annotated(make.ingress(scheme="internal"), **{
        "ingress.k8s.aws/scheme": "internet-facing", "kubernetes.io/ingress.class": "models"})),
    asks("forwards to targets of another team", with_action({"type": "forward", "targetGroupARN": GROUP_OF_THEIRS})),
    asks("forwards to targets of another team by name", with_action({
        "type": "forward", "targetGroupName": "k8s-language"})),
    asks("forwards a share to targets of another team", with_action({"type": "forward", "forwardConfig": {
        "targetGroups": [{"serviceName": "it", "servicePort": 80, "weight": 99},
                         {"targetGroupARN": GROUP_OF_THEIRS, "weight": 1}]}})),
    asks("forwards to others in JSON with escapes", with_action(
        json.dumps({"type": "forward", "targetGroupARN": GROUP_OF_THEIRS}).replace("target", "\\u0074arget", 1))),
    asks("forwards to others in JSON with another case", with_action(
        json.dumps({"Type": "forward", "TARGETGROUPARN": GROUP_OF_THEIRS}))),
    asks("forwards to others in JSON that names it twice", with_action(
        '{"type":"fixed-response","type":"forward","targetGroupName":"k8s-language"}')),
    asks("forwards a share to others in JSON with another case", with_action({"type": "forward", "forwardconfig": {
        "targetgroups": [{"targetgroupname": "k8s-language", "weight": 1}]}})),
    asks("forwards to others in JSON with blanks", with_action(
        '\n{ "type" : "forward" ,\t"targetGroupName"\n:\t"k8s-language" }')),
    asks("forwards as a backend that no rule names yet", annotated(INTERNAL, **{f"{ALB}scheme": "internal",
                f"{ALB}actions.later": json.dumps({"type": "forward", "targetGroupARN": GROUP_OF_THEIRS})})),
    asks("answers for hosts of others by a condition", annotated(of_class("models"), **{
        f"{ALB}conditions.it": ANY_HOST})),
    asks("rewrites the host to that of others", annotated(of_class("models"), **{
        f"{ALB}transforms.it": json.dumps([{"type": "host-header-rewrite", "hostHeaderRewriteConfig": {
            "rewrites": [{"regex": ".*", "replace": THEIRS}]}}])})),
    turns("opens an internal Ingress later", INTERNAL, metadata={"annotations": PUBLIC}),
    turns("moves an Ingress to the class of models later", INTERNAL, spec={"ingressClassName": "models"}),
    turns("joins a group later", INTERNAL, metadata={"annotations": {f"{ALB}group.name": "models"}}),
    Request("says that an address of others is its Ingress",
        {**thing("networking.k8s.io/v1", "Ingress"), "status": {"loadBalancer": {"ingress": [{"hostname": THEIRS}]}}},
        actor=ADMINISTRATOR, method="PATCH", subresource="status", before=INTERNAL),
)  # fmt: skip

SERVICES: Final = (
    Request("orders a public classic load balancer",
        annotated(make.service(type="LoadBalancer"), **{f"{NLB}scheme": "internet-facing", f"{NLB}type": "external"})),
    Request("opens a port on all nodes", make.service(type="NodePort")),
    turns("turns its Service into a load balancer later", make.service(), "edit", spec={"type": "LoadBalancer"}),
    turns("turns its Service into ports of nodes later", make.service(), "edit", spec={"type": "NodePort"}),
    Request("names the API server as its Service",
        thing("v1", "Service", spec={"type": "ExternalName", "externalName": "kubernetes.default.svc.cluster.local"})),
    Request("sends targets of an Ingress to logins by its Service", annotated(make.service(), **{
                f"{ALB}auth-type": "oidc",
                f"{ALB}auth-idp-oidc": '{"issuer":"https://example.com","secretName":"it"}'})),
    Request("registers nodes as targets by its Service", annotated(make.service(),
            **{f"{ALB}target-type": "instance", f"{ALB}target-node-labels": "platform.slipway/role=system"})),
    Request("checks the health of its targets at another port",
        annotated(make.service(), **{f"{ALB}healthcheck-port": "10250", f"{ALB}tags": "cost-center=ml-language"})),
)  # fmt: skip

PROPAGATED: Final = (
    served("serves a model to the internet", scheme="internet-facing"),
    served("answers for models of others by a condition", **{"conditions.it-predictor": ANY_HOST}),
    served("answers for all models by a condition of the other Service", **{"conditions.it": json.dumps([
        {"field": "path-pattern", "pathPatternConfig": {"values": ["/*"]}}])}),
    served("takes the place before the models of others", **{"group.order": "-1000"}),
    served("moves its model to another group", **{"group.name": "mine"}),
    served("opens another port for all models", **{"listen-ports": '[{"HTTP": 80}, {"HTTPS": 8443}]'}),
    served("lets everybody reach all models", **{"inbound-cidrs": "0.0.0.0/0"}),
    served("breaks the load balancer of all models", **{"ip-address-type": "dualstack-without-public-ipv4"}),
    served("sends the logs of all models to a bucket", **{
        "load-balancer-attributes": "access_logs.s3.enabled=true,access_logs.s3.bucket=mine"}),
    served("redirects all models", **{"ssl-redirect": "8443"}),
    served("takes the firewall from all models", **{"wafv2-acl-arn": "none"}),
    served("adds a certificate to that of all models", **{"certificate-arn": "arn:aws:acm:us-east-1:1:certificate/x"}),
    served("forwards its model's share to targets of others", **{"actions.it-predictor": json.dumps({
        "type": "forward", "targetGroupARN": GROUP_OF_THEIRS})}),
    served("rewrites the host of its requests to that of others", **{"transforms.it-predictor": json.dumps([
        {"type": "host-header-rewrite", "hostHeaderRewriteConfig": {
            "rewrites": [{"regex": ".*", "replace": THEIRS}]}}])}),
    served("stops the load balancer of all models by a second name", **{
        "load-balancer-name": "vision-training-models"}),
    served("stops the load balancer of all models by an attribute that AWS does not know", **{
        "target-group-attributes": "nothing.of.it=1"}),
    served("stops the load balancer of all models by a health check that AWS refuses", **{
        "healthcheck-interval-seconds": "5", "healthcheck-timeout-seconds": "9999"}),
    served("stops the load balancer of all models by a port that is none", **{"healthcheck-port": "99999"}),
    turns("answers for models of others later", MODEL, "edit", metadata={
        "annotations": {f"{ALB}conditions.it-predictor": ANY_HOST}}),
    Request("gives a model another class of Ingress",
        annotated(MODEL, **{"kubernetes.io/ingress.class": "alb", f"{ALB}group.name": "mine"})),
    Request("orders a load balancer by annotations of a predictor", make.inference_service(model={}, maxReplicas=1,
            annotations={f"{NLB}scheme": "internet-facing", f"{ALB}scheme": "internet-facing"})),
    Request("orders a load balancer by annotations of a runtime", annotated(thing("serving.kserve.io/v1alpha1",
                "ServingRuntime", spec={"containers": [container(name="kserve-container")],
                    "annotations": {**PUBLIC, f"{NLB}scheme": "internet-facing"}}))),
    Request("opens a graph of models", annotated(thing("serving.kserve.io/v1alpha1", "InferenceGraph",
                spec={"nodes": {"root": {"routerType": "Sequence", "steps": [{"serviceName": "x"}]}}}), **PUBLIC)),
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
    Request("orders a group by a graph", annotated(
            thing("serving.kserve.io/v1alpha1", "InferenceGraph", spec={"nodes": {}}), **{f"{ALB}group.order": "-1"})),
)  # fmt: skip

EXPOSURE: Final = (*INGRESSES, *SERVICES, *PROPAGATED, *BY_CONTROLLERS)
