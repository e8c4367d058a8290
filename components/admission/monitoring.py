"""The time that the EKS node monitoring agent gives its DCGM, where it watches GPUs: an hour in place of a minute.

The agent asks DCGM's host engine for the health of GPUs. Without an answer a minute after its own start, or after it
lost the engine, it reports AcceleratedHardwareReady False, and never takes that back (v1.6.7, `monitors/nvidia`;
aws/eks-node-monitoring-agent#266, #275, open in 2026-09). On a fresh node the pull of DCGM's image alone may take
longer. The time is a variable of the agent's environment, which neither the add-on's configuration nor its chart sets
(charts/configuration.schema.json), so the API server writes it into the agent's pods. What the engine itself says about
a GPU, such as an Xid, is reported at once.

A host engine that does not answer for an hour makes its node unhealthy, because nothing watches its GPUs.
"""

from __future__ import annotations

from typing import Any, Final

from components.base.operator import object_of
from spec.settings.cluster import AddonName

NAME: Final = "gpu-monitoring.platform.slipway"
VARIABLE: Final = "DCGM_GRACE_PERIOD_DURATION"
GRACE: Final = "1h"
_API: Final = "admissionregistration.k8s.io/v1"
_AGENT: Final = AddonName.NODE_MONITORING_AGENT.value  # label of its pods and name of their container


def manifests() -> dict[str, dict[str, Any]]:
    """The MutatingAdmissionPolicy and its binding, by the suffix of their logical name."""
    variable = f"Object.spec.containers.env{{name: '{VARIABLE}', value: '{GRACE}'}}"
    container = f"Object.spec.containers{{name: '{_AGENT}', env: [{variable}]}}"
    applied = {"expression": f"Object{{spec: Object.spec{{containers: [{container}]}}}}"}
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    policy = {
        # An agent without the variable is better than a node without an agent.
        "failurePolicy": "Ignore",
        "reinvocationPolicy": "Never",
        "matchConstraints": {
            "resourceRules": [pods],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
            "objectSelector": {"matchLabels": {"app.kubernetes.io/name": _AGENT}},
        },
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": applied}],
    }
    bound = {"policyName": NAME, "matchResources": {}}
    return {
        "gpu-monitoring": object_of(_API, "MutatingAdmissionPolicy", NAME, spec=policy),
        "gpu-monitoring-binding": object_of(_API, "MutatingAdmissionPolicyBinding", NAME, spec=bound),
    }
