from __future__ import annotations

from typing import Any

import pytest

from components.queues.flavors import LEVELS, by_topology, ordered, resource_flavor, topology
from components.queues.queues import shared_manifests
from spec.pools import resolve_all
from spec.settings.queues import Queues, Worker
from tests.components.pools.samples import BLOCK, ONE_ZONE, platform, spec
from tests.components.tenancy.samples import pools

BODY = "spec"


def flavor(**pool: Any) -> dict[str, Any]:
    manifest: dict[str, Any] = resource_flavor(spec(**pool), Queues())
    return manifest


def test_a_flavor_has_its_pools_name_and_label() -> None:
    manifest = flavor(preset="cpu")
    assert manifest["metadata"]["name"] == "work"
    assert manifest["spec"] == {"nodeLabels": {"platform.slipway/pool": "work"}}


def test_the_gpu_taint_is_a_node_taint_and_all_others_are_tolerated() -> None:
    pool = spec(preset="h100", dedicated=True, taints={"example.com/x": {"effect": "NoExecute"}})
    manifest = resource_flavor(pool, Queues())["spec"]
    node_taints = [taint["key"] for taint in manifest["nodeTaints"]]
    tolerated = [toleration["key"] for toleration in manifest["tolerations"]]
    assert node_taints == ["nvidia.com/gpu"]
    assert sorted(node_taints + tolerated) == sorted(taint.key for taint in pool.taints)


def test_every_pool_except_system_pools_has_a_flavor() -> None:
    known = pools()
    flavors = [name for name in shared_manifests(known, Queues()) if name.startswith("flavor-")]
    assert sorted(flavors) == sorted(f"flavor-{name}" for name in known if name != "system")


def test_flavors_are_ordered_by_cpu_before_gpu_then_spot_then_price() -> None:
    known = resolve_all(
        platform(
            {
                "cpu": {"preset": "cpu"},
                "h100": {"preset": "h100"},
                "a100": {"preset": "a100"},
                "l4": {"preset": "gpu-spot"},
            }
        )
    )
    assert [pool.name for pool in ordered(known.values(), Queues())] == ["cpu", "l4", "a100", "h100"]


def test_reserved_capacity_comes_before_on_demand_of_the_same_type() -> None:
    known = resolve_all(platform({"a-demand": {"preset": "h100"}, "block": BLOCK}))
    assert [pool.name for pool in ordered(known.values(), Queues())] == ["block", "a-demand"]


def test_spot_comes_last_at_equal_price_unless_preferred() -> None:
    l4 = {"preset": "gpu-spot", "max": 1}
    known = resolve_all(platform({"a-spot": l4, "demand": {**l4, "capacity": {"market": "on-demand"}}}))
    first = ordered(known.values(), Queues())
    assert [pool.name for pool in first] == ["a-spot", "demand"]
    last = ordered(known.values(), Queues.model_validate({"spotFirst": False}))
    assert [pool.name for pool in last] == ["demand", "a-spot"]


@pytest.mark.parametrize(
    ("pool", "placed"),
    [
        (BLOCK, True),
        ({"preset": "h100", "efa": True, "zones": ONE_ZONE}, False),  # elastic: no nodes at first
        ({"preset": "a100", "provisioner": "managed", "min": 2, "max": 2}, False),  # no EFA
    ],
)
def test_topology_is_used_only_for_fixed_pools_with_efa(pool: dict[str, Any], placed: bool) -> None:
    known = resolve_all(platform({"work": pool}))
    manifests = shared_manifests(known, Queues(topology=True))
    assert ("topology-work" in manifests) is placed
    assert ("topologyName" in manifests["flavor-work"]["spec"]) is placed


def test_topology_is_off_unless_chosen_and_a_manager_has_none() -> None:
    """A queue that also has other flavors never admits a job without a topology's annotation to a flavor with one."""
    block = spec(**BLOCK)
    assert not by_topology(block, Queues())
    assert by_topology(block, Queues(topology=True))
    workers = {"topology": True, "workers": {"west": Worker(secret="kubeconfig-west")}}
    assert not by_topology(block, Queues.model_validate(workers))


def test_levels_go_from_the_widest_layer_to_the_node() -> None:
    levels = [level["nodeLabel"] for level in topology(spec(**BLOCK))["spec"]["levels"]]
    assert levels == list(LEVELS)
    assert levels[-1] == "kubernetes.io/hostname"


def test_the_settings_may_order_pools_before_the_price_does() -> None:
    """A Capacity Block first, then on-demand nodes, whatever they cost."""
    known = pools()
    plain = [pool.name for pool in ordered(known.values(), Queues())]
    gpus = [name for name in plain if known[name].gpu is not None]
    wanted = Queues(poolOrder=(gpus[-1],))
    assert [pool.name for pool in ordered(known.values(), wanted)] == [
        *(name for name in plain if name not in gpus), gpus[-1], *gpus[:-1],
    ]  # fmt: skip
