"""Costs of pods and teams, computed by Prometheus' engine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.components.observability.samples import groups, write
from tests.components.observability.situations import TEAM, series
from tests.support import promtool


def _node(name: str, instance_type: str, capacity: str) -> dict[str, str]:
    return series(
        "kube_node_labels",
        node=name,
        label_platform_slipway_pool="p",
        label_node_kubernetes_io_instance_type=instance_type,
        label_karpenter_sh_capacity_type=capacity,
    )


def _offers(node: str, **resources: int) -> dict[str, str]:
    allocatable: dict[str, str] = {}
    for resource, number in resources.items():
        allocatable |= series("kube_node_status_allocatable", str(number), node=node, resource=resource)
    return allocatable


def _pod(namespace: str, pod: str, node: str, **resources: int) -> dict[str, str]:
    samples = series("kube_pod_status_phase", namespace=namespace, pod=pod, phase="Running")
    for resource, number in resources.items():
        labels = {"namespace": namespace, "pod": pod, "node": node, "container": "main", "resource": resource}
        samples |= series("kube_pod_container_resource_requests", str(number), **labels)
    return samples


def _check(
    directory: Path, inputs: Mapping[str, str], expected: Mapping[str, Mapping[str, float]], **how: bool
) -> None:
    """Check the samples of each query, by label text, after five minutes."""
    queries = [
        {
            "expr": query,
            "eval_time": "5m",
            "exp_samples": [{"labels": labels, "value": value} for labels, value in samples.items()],
        }
        for query, samples in expected.items()
    ]
    test = {
        "interval": "1m",
        "input_series": [{"series": name, "values": f"{value}+0x6"} for name, value in inputs.items()],
        "promql_expr_test": queries,
    }
    rules = groups(**how)
    content: dict[str, Any] = {
        "rule_files": [str(write(directory / "rules.yaml", rules))],
        "evaluation_interval": "1m",
        "group_eval_order": [group["name"] for group in rules],
        "tests": [test],
    }
    file = directory / "test.yaml"
    file.write_text(yaml.safe_dump(content))
    result = promtool.run("test", "rules", str(file))
    assert result.returncode == 0, result.stdout + result.stderr


GPU_NODE = {**_node("g", "p5.48xlarge", "on-demand"), **_offers("g", nvidia_com_gpu=8, cpu=192, memory=1000)}
SPOT_NODE = {**_node("s", "g6.xlarge", "spot"), **_offers("s", nvidia_com_gpu=1)}


def test_a_pod_costs_its_share_of_the_gpus_and_the_rest_is_idle(tmp_path: Path) -> None:
    inputs = {**TEAM, **GPU_NODE, **_pod("nlp", "a", "g", nvidia_com_gpu=2, cpu=96), **_pod("ops", "b", "g", cpu=48)}
    _check(
        tmp_path,
        inputs,
        {
            "slipway:pod:node_share": {'slipway:pod:node_share{namespace="nlp",pod="a",node="g"}': 0.25},
            "sum by (team) (slipway:pod:usd_per_hour)": {'{team="nlp"}': 13.76},
            "sum(slipway:node:usd_per_hour)": {"{}": 55.04},
        },
    )


def test_without_gpus_the_share_is_the_mean_of_cpu_and_memory(tmp_path: Path) -> None:
    node = {**_node("c", "unknown.large", "on-demand"), **_offers("c", cpu=4, memory=100)}
    inputs = {**TEAM, **node, **_pod("nlp", "a", "c", cpu=2, memory=100), **_pod("ops", "b", "c", cpu=2)}
    _check(
        tmp_path,
        inputs,
        {
            "sort(slipway:pod:node_share)": {
                'slipway:pod:node_share{namespace="ops",pod="b",node="c"}': 0.25,
                'slipway:pod:node_share{namespace="nlp",pod="a",node="c"}': 0.75,
            },
            # An instance type without a price isn't free: it has no cost series, and is counted as unpriced.
            "slipway:node:usd_per_hour": {},
            "count(slipway:node:info unless on (node) slipway:node:usd_per_hour)": {"{}": 1},
        },
    )


def test_a_finished_pod_costs_nothing_and_spot_has_the_smallest_discount(tmp_path: Path) -> None:
    over = {
        **series("kube_pod_status_phase", "0", namespace="nlp", pod="a", phase="Running"),
        **series(
            "kube_pod_container_resource_requests",
            namespace="nlp",
            pod="a",
            node="s",
            container="main",
            resource="nvidia_com_gpu",
        ),
    }
    _check(
        tmp_path,
        {**TEAM, **SPOT_NODE, **over},
        # 0.8048 USD less 46 %, the smallest discount of the catalog's source.
        {"slipway:team:usd_per_hour": {}, "floor(sum(slipway:node:usd_per_hour) * 10000)": {"{}": 4345}},
    )


def test_opencosts_price_is_used_if_enabled(tmp_path: Path) -> None:
    inputs = {**TEAM, **GPU_NODE, **_pod("nlp", "a", "g", nvidia_com_gpu=4)}
    inputs |= series("node_total_hourly_cost", "40", node="g", instance_type="p5.48xlarge")
    _check(
        tmp_path, inputs, {"slipway:team:usd_per_hour": {'slipway:team:usd_per_hour{team="nlp"}': 20}}, opencost=True
    )
