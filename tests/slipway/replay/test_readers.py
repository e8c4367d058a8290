"""Traces in their formats, and those that are refused."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from slipway.replay import jobs, text
from slipway.replay.jobs import Job, Trace
from slipway.replay.readers import READERS, read, slurm
from slipway.replay.text import Source, TraceError
from spec import strict_yaml
from spec.errors import SlipwayError

HOSTILE: list[dict[str, str]] = strict_yaml.beside(__file__, "hostile")
MAPPED: dict[str, dict[str, Any]] = strict_yaml.beside(__file__, "mapped")
OPENB = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
HEADERS = {"csv": ",".join(jobs.COLUMNS[:-1]), "openb": OPENB, "slurm": "|".join(slurm.COLUMNS)}
SHARED = os.environ.get("SLIPWAY_SHARED")


def of(tmp_path: Path, content: str, form: str | None = None) -> Trace:
    path = tmp_path / "trace"
    path.write_text(content, encoding="utf-8", newline="")
    return read(path, form)


@pytest.mark.parametrize("row", HOSTILE, ids=[row["what"] for row in HOSTILE])
def test_a_wrong_trace_is_refused_with_its_place_and_the_reason(row: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "trace"
    below = next((name for name in HEADERS if name in row), None)
    content = f"{HEADERS[below]}\n{row[below]}" if below else row.get("text", "")
    path.write_bytes(bytes.fromhex(row["hex"]) if "hex" in row else content.encode())
    with pytest.raises(TraceError) as refused:
        read(path, row.get("format"))
    assert row["says"] in str(refused.value)
    assert str(refused.value).startswith(f"{path}: ")
    assert refused.value.exit_code == 2


def test_what_is_no_file_or_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TraceError, match="a trace is a file"):
        read(tmp_path)
    with pytest.raises(TraceError, match="the file must be readable"):
        read(tmp_path / "none")
    monkeypatch.setattr(text, "MOST_BYTES", 2**20)
    (tmp_path / "large").write_bytes(b"x" * (2**20 + 1))
    with pytest.raises(TraceError, match="a trace has at most 1 MiB"):
        read(tmp_path / "large")


def test_too_many_jobs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MOST_JOBS", 2)
    with pytest.raises(TraceError, match="line 4: a trace has at most 2 jobs"):
        of(tmp_path, "job,submitted,duration\na,0,1\nb,0,1\nc,0,1\n")


def test_json_that_is_nested_too_deep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="the file must be JSON"):
        of(tmp_path, '{"apiVersion": ' + "[" * 200_000, "kubernetes")


def test_a_csv_has_defaults_and_relative_times(tmp_path: Path) -> None:
    trace = of(tmp_path, "duration,job,submitted,note\n60,b,110,x\n30,a,100,y\n")
    assert trace.jobs == (Job(name="a", submitted=0, duration=30), Job(name="b", submitted=10, duration=60))
    assert (trace.start, trace.format) == (None, "csv")


def test_a_csv_has_every_column(tmp_path: Path) -> None:
    row = '"a, the first",vision,training,2026-01-05T09:30:00+01:00,5400.5,4,7500m,64Gi,0.25,A100|H100,true,1800'
    trace = of(tmp_path, f"{HEADERS['csv']}\r\n{row}\r\n")
    assert trace.jobs == (
        Job(
            name="a, the first", team="vision", kind="training", submitted=0.0, duration=5400.5, pods=4,
            cpu_millis=7500, memory_mib=65536, gpu_millis=250, gpu_types=("A100", "H100"), spot=True, checkpoint=1800,
        ),
    )  # fmt: skip
    assert trace.start is not None
    assert trace.start.isoformat() == "2026-01-05T08:30:00+00:00"
    assert trace.jobs[0].gpus == 1.0
    assert jobs.read(Source("again", jobs.write(trace.jobs))).jobs == trace.jobs


def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path: Path) -> None:
    assert of(tmp_path, "\ufeffjob,submitted,duration\na,0,1\n").jobs[0].name == "a"


def test_openb_has_shared_and_whole_gpus(tmp_path: Path) -> None:
    rows = [
        "p0,6000,12288,1,460,,LS,Running,100,700,160",
        "p1,88000,327680,8,1000,V100M16|V100M32,BE,Succeeded,50,90,60",
        "p2,1000,1024,0,0,,Burstable,Failed,400,500,400",
    ]
    trace = of(tmp_path, "\n".join([HEADERS["openb"], *rows]))
    assert [(one.name, one.submitted, one.duration, one.gpu_millis, one.kind) for one in trace.jobs] == [
        ("p1", 0.0, 30.0, 8000, "experiment"),
        ("p0", 50.0, 540.0, 460, "interactive"),
        ("p2", 350.0, 100.0, 0, "training"),
    ]
    assert trace.jobs[0].gpu_types == ("V100M16", "V100M32")


def test_sacct_divides_a_job_by_its_nodes_and_skips_steps(tmp_path: Path) -> None:
    times = "2026-01-05T09:00:00|2026-01-05T10:00:00|2026-01-05T12:00:00"
    rows = [
        f"7_1|u|lab|gpu|high|{times}|2|billing=9,cpu=33,gres/gpu:a100=16,gres/gpu=16,mem=1.5T,node=2|COMPLETED",
        f"7_1.batch|||||{times}|1|cpu=33,mem=1T|COMPLETED",
        f"8|u||gpu||{times}|1|cpu=1,mem=100|TIMEOUT",
        "9|u|lab|gpu|high|2026-01-05T09:00:00|2026-01-05T10:00:00|Unknown|1|cpu=1|RUNNING",
    ]
    trace = of(tmp_path, "\n".join([HEADERS["slurm"], *rows]))
    assert trace.left_out == {"it has not ended": 1}
    part = f"6|u||gpu||{times}|1|cpu=1,gres/gpu:a100_3g.20gb=1,gres/gpu=1|COMPLETED"
    assert of(tmp_path, "\n".join([HEADERS["slurm"], part])).jobs[0].gpu_millis == 429
    first, second = trace.jobs
    assert first == Job(
        name="7_1", team="lab", kind="high", submitted=0.0, duration=7200.0, pods=2, cpu_millis=16500,
        memory_mib=786432, gpu_millis=8000, gpu_types=("a100",), waited=3600.0,
    )  # fmt: skip
    assert (second.team, second.kind, second.memory_mib, second.gpu_millis) == ("u", "gpu", 100, 0)


def pod(**requests: str) -> dict[str, Any]:
    named = {name.replace("_", "."): amount for name, amount in requests.items()}
    return {
        "containers": [{"name": "main", "resources": {"limits": named}}],
        "nodeSelector": {"accelerator": "nvidia-h100"},
    }


def test_jobs_and_workloads_of_a_cluster(tmp_path: Path) -> None:
    metadata = {"namespace": "vision", "creationTimestamp": "2026-01-05T09:00:00Z"}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {**metadata, "name": "train", "labels": {"kueue.x-k8s.io/priority-class": "production-training"}},
        "spec": {
            "parallelism": 4,
            "completions": 2,
            "template": {"spec": pod(cpu="8", memory="64Gi") | {"containers": [
                {"resources": {"requests": {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "8"}}},
                {"resources": {"requests": {"cpu": "500m", "memory": "100M"}}},
            ]}},
        },
        "status": {"startTime": "2026-01-05T09:10:00Z", "completionTime": "2026-01-05T10:10:00Z"},
    }  # fmt: skip
    waits = {**job, "metadata": {**metadata, "name": "waits"}, "status": {}}
    workload = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {**metadata, "name": "ray", "labels": {"platform.slipway/team": "language"}},
        "spec": {
            "priorityClassRef": {"name": "experiment"},
            "podSets": [
                {"name": "head", "count": 1, "template": {"spec": {"containers": [
                    {"resources": {"requests": {"cpu": "2"}}}]}}},
                {"name": "workers", "count": 3, "template": {"spec": {"containers": [
                    {"resources": {"requests": {"cpu": "1", "memory": "1Gi", "nvidia.com/mig-3g.40gb": "1"}}}]}}},
            ],
        },
        "status": {"conditions": [
            {"type": "Admitted", "status": "True", "lastTransitionTime": "2026-01-05T09:01:00Z"},
            {"type": "Finished", "status": "True", "lastTransitionTime": "2026-01-05T09:02:00Z"},
        ]},
    }  # fmt: skip
    trace = of(tmp_path, json.dumps({"apiVersion": "v1", "kind": "List", "items": [job, waits, workload]}))
    assert trace.left_out == {"it has not ended, or never started": 1}
    ray, train = trace.jobs
    assert train == Job(
        name="vision/train", team="vision", kind="production-training", submitted=0.0, duration=3600.0, pods=2,
        cpu_millis=8500, memory_mib=65536 + 96, gpu_millis=8000, gpu_types=("nvidia-h100",), waited=600.0,
    )  # fmt: skip
    assert (ray.team, ray.kind, ray.pods, ray.duration, ray.gpu_millis) == ("language", "experiment", 4, 60.0, 429)


def series(metric: str, pod_name: str, times: tuple[int, int], value: str = "1", **labels: str) -> dict[str, Any]:
    named = {"__name__": metric, "namespace": "vision", "pod": pod_name, **labels}
    return {"metric": named, "values": [[at, value] for at in range(times[0], times[1] + 1, 60)]}


def test_pods_in_prometheus_are_joined_by_their_job(tmp_path: Path) -> None:
    requests, owner = "kube_pod_container_resource_requests", "kube_pod_owner"
    at = 1_767_600_000
    found = [
        series(requests, "train-0", (at, at + 120), resource="cpu", container="a", node=""),
        series(requests, "train-0", (at + 180, at + 600), "2.5", resource="cpu", container="a", node="n1"),
        series(requests, "train-0", (at + 180, at + 600), "4", resource="nvidia_com_gpu", container="a", node="n1"),
        series(requests, "train-1", (at + 180, at + 480), "1073741824", resource="memory", container="a", node="n2"),
        series(owner, "train-0", (at, at + 600), owner_kind="Job", owner_name="train"),
        series(owner, "train-1", (at, at + 600), owner_kind="Job", owner_name="train"),
        series(requests, "never", (at, at + 600), resource="cpu", container="a", node=""),
        series("up", "other", (at, at + 600)),
    ]
    answer = {"status": "success", "data": {"resultType": "matrix", "result": found}}
    trace = of(tmp_path, json.dumps(answer))
    assert trace.jobs == (
        Job(
            name="vision/train", team="vision", submitted=0.0, duration=480.0, pods=2, cpu_millis=2500,
            memory_mib=1024, gpu_millis=4000, waited=180.0,
        ),
    )  # fmt: skip
    assert trace.left_out == {"its pods never had a node": 1}


def test_a_named_format_gives_the_reason(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="line 1: the header must have JobID"):
        of(tmp_path, "job,submitted,duration\na,0,1\n", "slurm")
    assert list(READERS) == ["openb", "acme", "helios", "slurm", "kubernetes", "prometheus", "csv"]


@pytest.mark.parametrize("name", MAPPED)
def test_a_table_with_other_columns(name: str, tmp_path: Path) -> None:
    row, path = MAPPED[name], tmp_path / "trace.csv"
    path.write_text(row["text"], encoding="utf-8")
    if "refused" in row:
        with pytest.raises(SlipwayError) as error:
            read(path, row.get("format"), row.get("map"))
        assert row["refused"] in str(error.value)
        return
    trace = read(path, None, row.get("map"))
    assert [{key: getattr(job, key) for key in each} for job, each in zip(trace.jobs, row["jobs"], strict=True)] == row[
        "jobs"
    ]
    assert (trace.format, sum(trace.left_out.values())) == (row["format"], row.get("leftOut", 0))
    assert row["lacks"] in " ".join(trace.notes)


@pytest.mark.skipif(not SHARED, reason="SLIPWAY_SHARED names no folder with the trace of openb")
def test_the_published_trace_is_read_whole() -> None:
    trace = read(Path(str(SHARED)) / "traces/openb_pod_list_default.csv")
    assert (len(trace.jobs), trace.format) == (7255, "openb")
    assert trace.left_out == {"never scheduled, so without a duration": 897}
    assert jobs.read(Source("again", jobs.write(trace.jobs))).jobs == trace.jobs
