"""Which claims of devices (Dynamic Resource Allocation) a team makes: for whole GPUs, of a number that its queue, its
quotas and the price of a job count.

A pod names a template, and no rule for pods can read it: so the name of a template tells how many GPUs it is for. What
Kueue doesn't count is refused here, with the reason (kueue v0.19.2, pkg/dra/claims.go): claims without a template,
alternatives, all devices, access as administrator.
"""

from __future__ import annotations

from typing import Final

from components.admission import kinds
from components.admission.placement import NUMBER
from components.admission.rule import Rule, literal
from components.admission.templates import KIND, O
from spec.catalog.gpus import DEVICE_CLASS

_EXACT: Final = "ExactCount"
_PARTS: Final = {
    "has(r.firstAvailable)": "'firstAvailable'",
    f"has(e.deviceClassName) && e.deviceClassName != '{DEVICE_CLASS}'": "'deviceClassName ' + e.deviceClassName",
    f"has(e.allocationMode) && e.allocationMode != '{_EXACT}'": "'allocationMode ' + e.allocationMode",
    "has(e.adminAccess) && e.adminAccess": "'adminAccess'",
    "has(e.capacity)": "'capacity'",
}
# Before resource.k8s.io/v1 the fields of `exactly` were those of the request.
_WRONG: Final = (
    "variables.asked.map(r, [has(r.exactly) ? r.exactly : r].map(e, ("
    + " + ".join(f"({condition} ? [{text}] : [])" for condition, text in _PARTS.items())
    + ").map(t, t + ' of request ' + r.name).join(', '))[0])"
)
_NAME: Final = f"(has({O}.metadata.name) ? {O}.metadata.name : '')"
_STATED: Final = f"[{_NAME}].map(n, n.matches({NUMBER}) ? [n.split('-')].map(w, int(w[w.size() - 1]))[0] : 1)[0]"
_TEMPLATE: Final = kinds.CLAIM_TEMPLATE.kind

DEVICE_CLAIMS: Final = Rule(
    name="device-claims",
    kinds=(kinds.CLAIM_TEMPLATE, kinds.TRAIN_JOB, kinds.TRAINING_RUNTIME),
    variables={
        "made": f"{KIND} == {literal(_TEMPLATE)} && has({O}.spec.spec.devices) ? [{O}.spec.spec.devices] : []",
        "asked": "(variables.made.filter(d, has(d.requests)).map(d, d.requests) + [[]])[0]",
        "stated": _STATED,
        "total": "variables.asked.map(r, [has(r.exactly) ? r.exactly : r].map(e, has(e.count) ? int(e.count) : 1)[0])"
        ".sum()",
        "unfit": f"{_WRONG} + variables.made.filter(d, has(d.config) && d.config.size() > 0).map(d, 'config') + "
        f"(variables.made.size() > 0 && variables.total != variables.stated ? ["
        "string(variables.total) + ' in a template named for ' + string(variables.stated)] : []) + "
        "variables.partial.map(l, l.exists(s, has(s.resourceClaims)) ? 'resourceClaims of a patch' : '')",
    },
    expression="variables.unfit.all(t, t == '')",
    found="variables.unfit",
    names={"device_class": DEVICE_CLASS},
)
