"""Acts about what load balancers and autoscalers of the platform do for a team."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from components.admission.traffic import PREFIX
from components.workloads.serving import scaling
from tests.components.admission import samples as make
from tests.components.admission.actors import ADMIN, EDIT, Act
from tests.components.admission.samples import Object
from tests.support.cases import beside

DATA: Final = beside(__file__)
FILE: Final = Path(__file__).with_name("load_balancer_annotations.yaml")
NOTES: Final[Mapping[str, Any]] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
TARGETS: Final[Mapping[str, str]] = {
    "backend-protocol": "HTTPS", "backend-protocol-version": "GRPC", "healthcheck-interval-seconds": "30",
    "healthcheck-path": "/v2/health/ready?a=b", "healthcheck-port": "traffic-port", "healthcheck-protocol": "HTTP",
    "healthcheck-timeout-seconds": "5", "healthy-threshold-count": "2", "scheme": "internal",
    "success-codes": "200-299,404", "target-type": "ip", "unhealthy-threshold-count": "3",
    "target-group-attributes": "deregistration_delay.timeout_seconds=30,stickiness.enabled=true",
}  # fmt: skip
"""A good value of each annotation that a model, too, may have."""
OWN: Final[Mapping[str, str]] = {
    **TARGETS, "group.name": "acts", "load-balancer-name": "acts-web", "group.order": "-10", "listen-ports":
    '[{"HTTPS": 443}]', "auth-idp-oidc": '{"issuer": "https://a"}', "auth-on-unauthenticated-request": "deny",
    "auth-scope": "openid", "auth-session-cookie": "c", "auth-session-timeout": "600", "auth-type": "oidc",
    "certificate-arn": "arn:aws:acm:us-east-1:111122223333:certificate/a", "inbound-cidrs": "10.0.0.0/8",
    "ip-address-type": "ipv4", "jwt-validation": "{}", "ssl-policy": "ELBSecurityPolicy-TLS13-1-2-2021-06",
    "ssl-redirect": "443", "use-regex-path-match": "true", "listener-attributes.HTTPS-443": "a=b",
    "load-balancer-attributes": "idle_timeout.timeout_seconds=600,routing.http2.enabled=true",
    "actions.web": '{"type": "redirect", "redirectConfig": {"port": "443"}}', "conditions.web": "[]",
    "transforms.web": "[]",
}  # fmt: skip
"""A good value of each annotation that an Ingress may have."""
BAD: Final[tuple[tuple[str, str], ...]] = DATA["bad values of annotations"]
MODEL: Final = make.inference_service(maxReplicas=2)
SERVICE: Final = make.service()
GRAPH: Final = {**MODEL, "apiVersion": "serving.kserve.io/v1alpha1", "kind": "InferenceGraph", "spec": {}}
SCOPE: Final = "ingress-scope"
RANGES: Final = "service.beta.kubernetes.io/load-balancer-source-ranges"
"""The API server itself refuses it on a Service without a load balancer."""
FRONT: Final = {"enable-frontend-nlb": "true", "frontend-nlb-scheme": "internet-facing"}


def annotated(manifest: Object, **notes: str) -> Object:
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": notes}}


def balanced(manifest: Object, name: str, text: str, kind: str, rule: str = SCOPE, prefix: str = PREFIX) -> Act:
    what = f"{kind} with {prefix}{name}: {text}"
    return Act(what, ADMIN, annotated(manifest, **{prefix + name: text}), rule)


def classed(name: str) -> Object:
    found = make.ingress()
    found["spec"]["ingressClassName"] = name
    return found


BALANCED: Final = (
    *(balanced(make.ingress(), name, text, "an Ingress", "") for name, text in OWN.items()),
    *(balanced(make.ingress(), name, "1", "an Ingress") for name in NOTES["ingress"] if name not in OWN),
    *(balanced(make.ingress(), name, text, "an Ingress") for name, text in BAD),
    *(balanced(MODEL, name, text, "a model", "") for name, text in TARGETS.items()),
    *(balanced(MODEL, name, OWN.get(name, "1"), "a model")
      for name in NOTES["ingress"] if name not in {*TARGETS, "group.name", "load-balancer-name"}),
    *(balanced(SERVICE, name, text, "a Service", "") for name, text in TARGETS.items()),
    *(balanced(SERVICE, name, OWN.get(name, "1"), "a Service") for name in NOTES["ingress"] if name not in TARGETS),
    *(balanced(SERVICE, name, "1", "a Service", prefix=prefix) for name in NOTES["service"]
      for prefix in ("service.beta.kubernetes.io/", "service.kubernetes.io/") if prefix + name != RANGES),
    balanced(SERVICE, "topology-mode", "Auto", "a Service", "", "service.kubernetes.io/"),
    balanced(SERVICE, "owner", "me", "a Service", "", "example.com/"),
    Act("a Service of a Ray head for a public load balancer", "KubeRay",
        annotated(SERVICE, **{"service.beta.kubernetes.io/aws-load-balancer-scheme": "internet-facing"}), SCOPE),
    Act("an Ingress behind a public load balancer", ADMIN, make.ingress(**FRONT), SCOPE),
    Act("a model behind a public load balancer", EDIT,
        annotated(MODEL, **{PREFIX + name: text for name, text in FRONT.items()}), SCOPE),
    Act("a graph behind a public load balancer", EDIT,
        annotated(GRAPH, **{PREFIX + name: text for name, text in FRONT.items()}), SCOPE),
    Act("an Ingress that gets a public load balancer later", ADMIN,
        {**annotated(make.ingress(), **{PREFIX + name: text for name, text in FRONT.items()}), "spec": {}}, SCOPE,
        method="PATCH", before=make.ingress(scheme="internal")),
    Act("an Ingress of the class alb", ADMIN, classed("alb")),
    Act("an Ingress of another class", ADMIN, classed("mine"), SCOPE),
    balanced(make.ingress(), "ingress.class", "alb", "an Ingress", "", "kubernetes.io/"),
    balanced(make.ingress(), "ingress.class", "models", "an Ingress", prefix="kubernetes.io/"),
)  # fmt: skip

TRIGGERED: Final = "trigger-scope"
PROMETHEUS: Final = {"serverAddress": scaling.PROMETHEUS, "query": "up", "threshold": "1"}
QUEUE: Final = {"queueURL": "https://sqs.us-east-1.amazonaws.com/1/q", "awsRegion": "us-east-1", "queueLength": "5"}
WORKLOAD: Final = {"podIdentity": {"provider": "aws", "identityOwner": "workload"}}
SOURCES: Final = ("awsSecretManager", "azureKeyVault", "boundServiceAccountToken", "filePath", "gcpSecretManager",
                  "hashiCorpVault", "oauth2")  # fmt: skip
"""Sources of credentials that are refused: those of the CRD that no list allows."""
TOKEN: Final = "/var/run/secrets/kubernetes.io/serviceaccount/token"
VAULT: Final = {
    "address": "https://vault.example.com", "authentication": "kubernetes", "role": "a", "mount": "kubernetes",
    "credential": {"serviceAccount": TOKEN}, "secrets": [{"parameter": "a", "path": "b", "key": "c"}]}  # fmt: skip


def trigger(type_: str, metadata: Mapping[str, str], **more: Any) -> Object:
    return make.scaled_object(maxReplicaCount=2, triggers=[{"type": type_, "metadata": dict(metadata), **more}])


def login(**spec: Any) -> Object:
    return {"apiVersion": "keda.sh/v1alpha1", "kind": "TriggerAuthentication", "metadata": {"name": "it"}, "spec": spec}


def triggered(what: str, manifest: Object, rule: str = TRIGGERED) -> Act:
    return Act(what, EDIT, manifest, rule)


SCALED: Final = (
    triggered("a trigger of Prometheus", trigger("prometheus", PROMETHEUS), ""),
    triggered("a trigger of Prometheus by its full name", trigger("prometheus", {
        **PROMETHEUS, "serverAddress": "http://prometheus-operated.monitoring.svc.cluster.local:9090/"}), ""),
    *(
        triggered(f"a trigger of Prometheus at {address}", trigger(
            "prometheus", {**PROMETHEUS, "serverAddress": address}))
        for address in ("http://evil.example:9090", "http://a.monitoring.evil.example:9090", "http://a.monitoring:9091",
                        "http://evil.example/http://a.monitoring:9090", "http://a@evil.example:9090", "",
                        "http://web.acts:9090")
    ),
    triggered("a trigger of Prometheus with a login", trigger("prometheus", {**PROMETHEUS, "authModes": "bearer"})),
    triggered("a trigger of Prometheus with credentials", trigger(
        "prometheus", PROMETHEUS, authenticationRef={"name": "it"})),
    *(
        triggered(f"a trigger by {type_}", trigger(type_, metadata), "")
        for type_, metadata in {
            "cpu": {"value": "80"}, "memory": {"value": "80"}, "aws-sqs-queue": QUEUE,
            "cron": {"timezone": "UTC", "start": "0 8 * * *", "end": "0 18 * * *", "desiredReplicas": "2"},
            "kubernetes-workload": {"podSelector": "app=a", "value": "1"},
        }.items()
    ),
    triggered("a trigger of SQS as the workload", trigger("aws-sqs-queue", {**QUEUE, "identityOwner": "pod"},
                                                          authenticationRef={"name": "it"}), ""),
    triggered("a trigger of SQS with credentials of the cluster", trigger("aws-sqs-queue", QUEUE, authenticationRef={
        "name": "it", "kind": "ClusterTriggerAuthentication"})),
    triggered("a trigger of SQS as KEDA", trigger("aws-sqs-queue", {**QUEUE, "identityOwner": "operator"})),
    triggered("a trigger of SQS elsewhere", trigger("aws-sqs-queue", {**QUEUE, "awsEndpoint": "https://a.example"})),
    *(
        triggered(f"a trigger of {type_}", trigger(type_, {"url": "http://169.254.170.23/v1/credentials"}))
        for type_ in ("metrics-api", "external", "external-push", "graphite", "redis", "kafka", "postgresql", "loki",
                      "azure-queue", "gcp-pubsub", "kubernetes-resource", "new-one")
    ),
    triggered("a ScaledJob by an external scaler", {**make.scaled_job(), "spec": {
        **make.scaled_job()["spec"], "triggers": [{"type": "external", "metadata": {"scalerAddress": "a:1"}}]}}),
    *(triggered(f"credentials of {source}", login(**{source: {}})) for source in SOURCES),
    triggered("KEDA's token for a vault", login(hashiCorpVault=VAULT)),
    triggered("a secret and KEDA's token for a vault", login(hashiCorpVault=VAULT, secretTargetRef=[])),
    triggered("a vault with an account of the team", login(hashiCorpVault={
        **VAULT, "credential": {"serviceAccountName": "workload"}})),
    triggered("the identity of the workload", login(**WORKLOAD), ""),
    triggered("a Secret of the namespace", login(secretTargetRef=[{"parameter": "a", "name": "b", "key": "c"}]), ""),
    *(
        triggered(f"the identity {identity}", login(podIdentity=identity))
        for identity in ({"provider": "aws"}, {"provider": "aws", "identityOwner": "keda"}, {"provider": "gcp"},
                         {"provider": "azure-workload", "identityAuthorityHost": "https://a.example"},
                         {"provider": "aws-eks"}, {"provider": "aws", "roleArn": "arn:aws:iam::1:role/a"})
    ),
    Act("a ScaledObject of a model at another address", "KServe",
        trigger("prometheus", {**PROMETHEUS, "serverAddress": "http://evil.example:9090"}), TRIGGERED),
    Act("a ScaledObject of a model", "KServe", trigger("prometheus", PROMETHEUS)),
    Act("credentials that become KEDA's own later", EDIT, login(hashiCorpVault=VAULT), TRIGGERED, method="PATCH",
        before=login(**WORKLOAD)),
)  # fmt: skip
