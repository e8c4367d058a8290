"""The EFA exporter's shell script and its metrics endpoint."""

import subprocess
from pathlib import Path

from components.observability import efa, monitors
from spec.pools import resolve_all
from tests.components.pools.samples import BLOCK, MANAGED_A100, platform


def _counter(root: Path, device: str, name: str, value: str) -> None:
    file = root / device / "ports" / "1" / "hw_counters" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value)


def _collected(root: Path) -> list[str]:
    done = subprocess.run(["sh", "-ec", efa.collect(str(root))], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_every_counter_of_every_adapter_is_exported(tmp_path: Path) -> None:
    _counter(tmp_path, "rdmap0s6", "rx_bytes", "1234\n")
    _counter(tmp_path, "rdmap0s6", "tx_bytes", "5\n")
    _counter(tmp_path, "rdmap0s7", "rx_bytes", "7\n")
    assert _collected(tmp_path) == [
        'node_amazonefa_rx_bytes{device="rdmap0s6",port="1"} 1234',
        'node_amazonefa_tx_bytes{device="rdmap0s6",port="1"} 5',
        'node_amazonefa_rx_bytes{device="rdmap0s7",port="1"} 7',
    ]


def test_missing_adapters_and_empty_counters_are_no_error(tmp_path: Path) -> None:
    assert _collected(tmp_path) == []
    _counter(tmp_path, "rdmap0s6", "rx_bytes", "")
    assert _collected(tmp_path) == []


def test_the_shell_script_parses() -> None:
    subprocess.run(["sh", "-n", "-c", efa.SCRIPT], check=True, capture_output=True)


def test_the_exporter_is_in_the_network_namespace_of_the_host_where_the_kernel_shows_the_counters() -> None:
    made = efa.manifest("monitoring", resolve_all(platform({"h100": BLOCK, "a100": MANAGED_A100})))
    assert made is not None
    pod = made["spec"]["template"]["spec"]
    assert pod["hostNetwork"] is True
    # Such a pod has the node's ports: the API server refuses one whose hostPort differs (k8s.io/api/core/v1,
    # ContainerPort).
    assert all(port["hostPort"] == port["containerPort"] for port in pod["containers"][0]["ports"])
    (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["h100"]


def test_prometheus_scrapes_the_path_that_the_script_writes() -> None:
    endpoint = monitors.manifests("monitoring", efa=True)["monitor-efa"]["spec"]["podMetricsEndpoints"][0]
    assert (endpoint["port"], endpoint["path"]) == ("metrics", efa.PATH)
    assert f"/tmp/www{efa.PATH}" in efa.SCRIPT  # noqa: S108 - a volume of the pod's own
    assert {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"} in endpoint["relabelings"]
    assert "monitor-efa" not in monitors.manifests("monitoring", efa=False)
