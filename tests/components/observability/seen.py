"""What Prometheus stores of the exporters in `seen.yaml`, and what the platform's queries find in it.

Prometheus scrapes each target with the monitor that the platform renders, or the chart's, turned into its own
configuration as the Prometheus Operator does it. The series that it stores then grow over two hours for `promtool test
rules`, which evaluates rules and queries with Prometheus' engine.
"""

import json
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode
from urllib.request import urlopen

import yaml

from components.observability import monitors
from spec import strict_yaml
from tests.components.observability.samples import groups, write
from tests.support import promtool
from tests.support.patience import SECONDS

TARGETS: Final[list[dict[str, Any]]] = strict_yaml.beside(__file__)["targets"]
LINE: Final = "seen_line"
"""Label by which a stored series is found again; no rule reads it."""
MINUTES: Final = 120
AT: Final = f"{MINUTES}m30s"
"""Between two samples, so that a range has as many with Prometheus 2, which counts those at its beginning."""

Series = Mapping[str, str]
Found = dict[str, float]


def lines() -> list[tuple[str, str, str]]:
    """Series, value and growth of every line of every target."""
    found = []
    for target in TARGETS:
        for line in target["series"].splitlines():
            series, _, rest = line.rpartition("} ")
            value, _, growth = rest.partition(" +")
            found.append((f"{series}}}", value, growth or "0"))
    return found


def _pages() -> list[str]:
    """What each target serves."""
    pages, number = [], 0
    for target in TARGETS:
        page = []
        for line in target["series"].splitlines():
            series, _, rest = line.rpartition("} ")
            labels = series if series.endswith("{") else f"{series},"
            page.append(labels + f'{LINE}="{number}"' + "} " + rest.partition(" ")[0])
            number += 1
        pages.append("\n".join(page) + "\n")
    return pages


@contextmanager
def _exporter() -> Iterator[int]:
    pages = _pages()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages[int(self.path.removeprefix("/"))].encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


_SNAKE: Final = re.compile(r"(?<!^)(?=[A-Z])")


def _relabelings(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those of a monitor in Prometheus' spelling: `sourceLabels` is `source_labels`."""
    return [{_SNAKE.sub("_", key).lower(): value for key, value in row.items()} for row in rows]


def _job(number: int, address: str) -> dict[str, Any]:
    """Scrape configuration of a target (prometheus-operator v0.93, pkg/prometheus/promcfg.go)."""
    seen = TARGETS[number]
    target = seen["target"]
    meta = "__meta_kubernetes"
    labels = {
        "__metrics_path__": f"/{number}",
        f"{meta}_namespace": target["namespace"],
        f"{meta}_pod_name": target["pod"],
        f"{meta}_pod_container_name": target["container"],
        f"{meta}_service_name": target.get("service", ""),
        f"{meta}_pod_node_name": target.get("node", ""),
        **{f"{meta}_pod_label_serving_kserve_io_{name}": value for name, value in target.get("labels", {}).items()},
    }
    named = {"namespace": "namespace", "pod": "pod_name", "container": "pod_container_name", "service": "service_name"}
    own = [{"source_labels": [f"{meta}_{source}"], "target_label": label} for label, source in named.items()]
    own.append({"target_label": "endpoint", "replacement": target["port"]})
    honor, rules = seen.get("honor"), []
    if "monitor" in seen:
        monitor = monitors.manifests("monitoring", efa=True)[seen["monitor"]]
        (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
        honor, rules = endpoint.get("honorLabels", False), endpoint.get("relabelings", [])
        name = f"{monitor['metadata']['namespace']}/{monitor['metadata']['name']}"
    else:
        name = target["service"]
    own.append({"target_label": "job", "replacement": name})
    of_all = monitors.scrape_class()
    return {
        "job_name": str(number),
        "honor_labels": honor,
        "static_configs": [{"targets": [address], "labels": labels}],
        "relabel_configs": [*own, *_relabelings(of_all["relabelings"]), *_relabelings(rules)],
        "metric_relabel_configs": _relabelings(of_all["metricRelabelings"]),
    }


def stored(folder: Path) -> list[Series]:
    """Labels of all series that Prometheus stores, `up` of each target among them."""
    binary = promtool.find("prometheus")
    with _exporter() as port, socket.socket() as free:
        jobs = [_job(number, f"127.0.0.1:{port}") for number in range(len(TARGETS))]
        config = folder / "prometheus.yaml"
        config.write_text(
            yaml.safe_dump({"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": jobs})
        )
        free.bind(("127.0.0.1", 0))
        listen = f"127.0.0.1:{free.getsockname()[1]}"
        free.close()
        arguments = [
            f"--config.file={config}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={listen}",
        ]
        with (
            (folder / "log").open("w") as log,
            subprocess.Popen([binary, *arguments], stdout=log, stderr=subprocess.STDOUT) as process,
        ):
            try:
                _wait(listen, process, folder / "log")
                return [one["metric"] for one in _ask(listen, '{__name__=~".+"}')]
            finally:
                process.terminate()
                process.wait(SECONDS)


def _wait(listen: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        try:
            if sum(one["value"][1] == "1" for one in _ask(listen, "up")) == len(TARGETS):
                return
        except OSError:
            pass
        time.sleep(0.2)
    raise AssertionError(log.read_text())


def _ask(listen: str, query: str) -> list[dict[str, Any]]:
    with urlopen(f"http://{listen}/api/v1/query?{urlencode({'query': query})}", timeout=SECONDS) as answer:
        found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
        return found


def _written(labels: Series) -> str:
    inside = ",".join(f"{key}={json.dumps(value)}" for key, value in sorted(labels.items()) if key[:2] != "__")
    return f"{labels['__name__']}{{{inside}}}"


def growing(series: list[Series]) -> list[dict[str, str]]:
    """`input_series` of `promtool test rules`."""
    written = lines()
    found = []
    for labels in series:
        if LINE in labels:
            _, value, growth = written[int(labels[LINE])]
            rest = {key: text for key, text in labels.items() if key != LINE}
            found.append({"series": _written(rest), "values": f"{value}+{growth}x{MINUTES}"})
        elif labels["__name__"] == "up":
            found.append({"series": _written(labels), "values": f"1x{MINUTES}"})
    return found


_GOT: Final = re.compile(r'expr: (".*"), time: .*\n\s+exp:.*\n\s+got:(.*)')
_SAMPLE: Final = re.compile(r'(\{[^{}]*\}) (\S+?)(?:, |"?$)')


def evaluate(series: list[dict[str, str]], expressions: Mapping[str, str], folder: Path) -> dict[str, Found]:
    """Values by labels of each expression, after all rules were evaluated every minute."""
    rules = groups()
    # A value that nothing has: promtool then prints what it got.
    wrong = [{"labels": 'never{a="b"}', "value": 0}]
    content = {
        "rule_files": [str(write(folder / "rules.yaml", rules))],
        "evaluation_interval": "1m",
        "group_eval_order": [group["name"] for group in rules],
        "tests": [
            {
                "interval": "1m",
                "input_series": series,
                "promql_expr_test": [
                    {"expr": expression, "eval_time": AT, "exp_samples": wrong} for expression in expressions.values()
                ],
            }
        ],
    }
    file = folder / "test.yaml"
    file.write_text(yaml.safe_dump(content))
    output = promtool.run("test", "rules", str(file))
    printed = output.stdout + output.stderr
    by_expression = {json.loads(expression): got for expression, got in _GOT.findall(printed)}
    missing = [name for name, expression in expressions.items() if expression not in by_expression]
    assert not missing, f"{missing}: {printed[:4000]}"
    return {name: _samples(by_expression[expression]) for name, expression in expressions.items()}


def _samples(got: str) -> Found:
    text = got.strip()
    if text.startswith('"'):
        text = json.loads(text)
    return {labels: float(f"{float(value):.6g}") for labels, value in _SAMPLE.findall(text)}
