"""What a member of a team may do, with the reason, which docs/security.md gives as well."""

from __future__ import annotations

from typing import Final

from tests.adversary.objects import annotated, thing
from tests.adversary.probe import ADMINISTRATOR, Request
from tests.components.admission import samples as make
from tests.components.admission.samples import container, gpus, spec

ACCEPTED: Final = (
    Request(
        act="unmasks /proc in a user namespace",
        manifest=make.pod(spec(container(securityContext={"procMount": "Unmasked"}), hostUsers=False)),
        accepted="the level baseline allows it there: the kernel isolates the pod's user (UserNamespacesSupport)",
    ),
    Request(
        act="ends after three years", manifest=make.pod(spec(terminationGracePeriodSeconds=10**8)),
        accepted="checkpoints take time; a drain has a deadline (terminationGracePeriod of the pool)",
    ),
    Request(
        act="has a scheduler of its own", manifest=make.pod(spec(schedulerName="mine")),
        accepted="there is none of that name: the pod stays pending and counts against its quota",
    ),
    Request(
        act="asks for GPUs of another maker", manifest=make.pod(spec(gpus(8, "amd.com/gpu"))),
        accepted="no node has them: the pod stays pending and counts against its quota",
    ),
    Request(
        act="opens its egress as an administrator", actor=ADMINISTRATOR,
        manifest=thing("networking.k8s.io/v1", "NetworkPolicy", spec={
            "podSelector": {}, "egress": [{}], "policyTypes": ["Egress"]}),
        accepted="the role admin exists for it; security groups still apply",
    ),
    Request(
        act="reads a Secret of its own by an empty patch", method="PATCH",
        before=thing("v1", "Secret", "own", stringData={"a": "b"}), manifest=thing("v1", "Secret", "own"),
        accepted="whoever creates pods there can mount it",
    ),
    Request(
        act="makes a Secret with a token of its own service account",
        manifest={**annotated(thing("v1", "Secret"), **{"kubernetes.io/service-account.name": "default"}),
                  "type": "kubernetes.io/service-account-token"},
        accepted="its pods have that token anyway; AWS takes tokens with another audience only",
    ),
    Request(
        act="names another team's host as a Service",
        manifest=make.service(type="ExternalName", externalName="grafana.monitoring.svc.cluster.local", ports=None),
        accepted="an alias in its own namespace; network policies see the real address",
    ),
    Request(
        act="forbids every disruption of its pods",
        manifest=thing("policy/v1", "PodDisruptionBudget", spec={"maxUnavailable": 0, "selector": {}}),
        accepted="it protects long jobs; a drain has a deadline (terminationGracePeriod of the pool)",
    ),
    Request(
        act="claims a volume of another team",
        manifest=thing("v1", "PersistentVolumeClaim", spec={
            "accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": "language-training-checkpoints",
            "resources": {"requests": {"storage": "1Gi"}}}),
        accepted="the claim stays pending: the claimRef of each volume names its claim",
    ),
)  # fmt: skip
