"""The size of objects that members create: their number is in the quota of their namespace."""

from __future__ import annotations

from typing import Final

from components.admission import kinds
from components.admission.rule import Message, Rule
from components.admission.templates import O
from components.tenancy.roles import created

LARGEST: Final = 256 * 1024
"""Characters of the spec of an object, as text: etcd takes objects of up to 1.5 MiB, and keeps 8 GiB of all together on
EKS."""
DATA: Final = (kinds.CONFIG_MAP, kinds.SECRET)
"""Kinds that are made for data, of up to 1 MiB each (kubernetes.io, "ConfigMap"): only their number is limited."""
CREATED: Final = tuple(kind for kind in (kinds.BY_RESOURCE[each] for each in created()) if kind not in DATA)
"""Everything else that a member can create."""
_SIZE: Final = f"(has({O}.spec) ? '%s'.format([{O}.spec]).size() : 0)"
OBJECT_SIZE: Final = Rule(
    name="object-size",
    kinds=CREATED,
    what=f"the spec of an object has at most {LARGEST // 1024} KiB; ConfigMaps and Secrets are for data",
    why="a quota limits the number of objects: a hundred Deployments of 1 MB would fill etcd, which is every team's",
    variables={"size": _SIZE},
    expression=f"variables.size <= {LARGEST}",
    message=Message(
        wrong="this object is too large for etcd: its spec has ",
        found="string(variables.size)",
        shown="number",
        fix=f" characters, at most {LARGEST}. Put data into a ConfigMap that the pods mount, or into S3",
    ),
)
