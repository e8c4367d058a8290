"""Generated pools, in stack file settings, valid by construction."""

from typing import Any, Final

from hypothesis import strategies as st

from spec.catalog import instances, mig
from spec.catalog.instances import InstanceType
from tests.components.pools.samples import ZONES
from tests.support.mocks import REGION

OFFERED: Final = [kind for kind in instances.ALL.values() if kind.offered_in(REGION) and not kind.neuron_devices]
"""Instance types that are available in the Region."""
WITH_GPUS: Final = [kind for kind in OFFERED if kind.gpus]


def alike(kind: InstanceType) -> list[str]:
    """Instance types that can be in one pool with this one."""
    same = (kind.gpus, kind.gpu_name, kind.arch)
    return [other.name for other in OFFERED if (other.gpus, other.gpu_name, other.arch) == same]


@st.composite
def pools(draw: st.DrawFn, kinds: tuple[InstanceType, ...] = tuple(OFFERED)) -> dict[str, Any]:
    """A pool of one of these instance types."""
    kind = draw(st.sampled_from(kinds))
    maximum = draw(st.integers(1, 4))
    efa = kind.efa_interfaces > 0 and draw(st.booleans())
    chosen = [kind.name] if efa else draw(st.lists(st.sampled_from(alike(kind)), min_size=1, max_size=4, unique=True))
    common = frozenset.intersection(*(frozenset(instances.get(name).zone_ids[REGION]) for name in chosen))
    managed = bool(common) and draw(st.booleans())
    # EKS refuses a group in more zones than offer its types.
    most = len(common) if managed else len(ZONES)
    some = draw(st.lists(st.sampled_from(ZONES), min_size=int(most < len(ZONES)), max_size=most, unique=True))
    pool: dict[str, Any] = {"role": draw(st.sampled_from(["general", "training", "inference", "interactive"])),
        "provisioner": "managed" if managed else "karpenter", "instanceTypes": chosen,
        "min": draw(st.integers(0, maximum)) if managed else 0, "max": maximum, "maxPods": 16,
        "zones": [draw(st.sampled_from(ZONES))] if efa else some, "efa": efa, "dedicated": draw(st.booleans()),
        "os": draw(st.sampled_from(["al2023", "bottlerocket"])) if kind.counted_gpus == kind.gpus else "al2023",
        "labels": draw(st.dictionaries(st.sampled_from(["example.com/a", "example.com/b"]), st.just("x"))),
        "taints": draw(st.dictionaries(st.just("example.com/t"), st.just({"effect": "NoExecute"})))}  # fmt: skip
    return pool | draw(gpu_settings(kind, pool)) if kind.gpu_name else pool


@st.composite
def gpu_settings(draw: st.DrawFn, kind: InstanceType, pool: dict[str, Any]) -> dict[str, Any]:
    """Partitioning and sharing of the GPUs of such a pool; often neither."""
    chosen: dict[str, Any] = {}
    if mig.is_capable(kind.gpu_name or "") and pool["os"] == "al2023" and draw(st.booleans()):
        chosen["mig"] = draw(layouts(kind.gpu_name or ""))
    if pool["role"] != "training" and draw(st.booleans()):
        partitioned = "mig" in chosen and chosen["mig"].get("layout") != mig.DISABLED
        mode = draw(st.sampled_from(["time-slicing"] if partitioned else ["time-slicing", "mps"]))
        chosen["sharing"] = {"mode": mode, "replicas": draw(st.integers(2, 48))}
    return chosen


@st.composite
def layouts(draw: st.DrawFn, gpu: str) -> dict[str, Any]:
    """A named layout, or profiles that fit together."""
    if draw(st.booleans()):
        return {"layout": draw(st.sampled_from(mig.layout_names(gpu)))}
    profiles: dict[str, int] = {}
    for profile in draw(st.lists(st.sampled_from(sorted(mig.PROFILES[gpu])), min_size=1, max_size=7)):
        more = {**profiles, profile: profiles.get(profile, 0) + 1}
        profiles = more if mig.layout_problem(gpu, more) is None else profiles
    return {"profiles": profiles}
