"""Serving dashboard: latency, throughput and replicas of models."""

from __future__ import annotations

from components.observability.dashboards.panels import Dashboard, Panel, Query, Variable

_CHOSEN = 'inferenceservice=~"$model"'
_BY = "namespace, inferenceservice"


def _quantile(quantile: float, histogram: str) -> Query:
    rate = f"rate({histogram}_bucket{{{_CHOSEN}}}[5m])"
    return Query(
        f"histogram_quantile({quantile}, sum by ({_BY}, le) ({rate}))",
        f"{{{{inferenceservice}}}} p{quantile * 100:.0f}",
    )


def _sum(expression: str, legend: str = "{{inferenceservice}}") -> Query:
    return Query(f"sum by ({_BY}) ({expression})", legend)


SERVING = Dashboard(
    uid="slipway-serving",
    title="Serving",
    about="Latency and throughput of models. vLLM's metrics (docs.vllm.ai, \"Production Metrics\"), Triton's"
    " (nv_inference_*) and those of KServe's own Python servers (request_predict_seconds).",
    variables=(Variable(name="model", series="up", label="inferenceservice"),),
    panels=(
        Panel("Time to first token", [_quantile(q, "vllm:time_to_first_token_seconds") for q in (0.5, 0.95)], unit="s"),
        Panel(
            "Request latency, language models",
            [_quantile(q, "vllm:e2e_request_latency_seconds") for q in (0.5, 0.95)],
            unit="s",
        ),
        Panel(
            "Request latency, KServe's servers",
            [_quantile(q, "request_predict_seconds") for q in (0.5, 0.95)],
            unit="s",
        ),
        Panel(
            "Mean request latency, Triton",
            [
                Query(
                    f"sum by ({_BY}) (rate(nv_inference_request_duration_us{{{_CHOSEN}}}[5m])) / 1e6"
                    f" / sum by ({_BY}) (rate(nv_inference_count{{{_CHOSEN}}}[5m]) > 0)",
                    "{{inferenceservice}}",
                )
            ],
            unit="s",
        ),
        Panel(
            "Requests in flight and waiting",
            [
                _sum(f"vllm:num_requests_running{{{_CHOSEN}}}", "{{inferenceservice}} running"),
                _sum(f"vllm:num_requests_waiting{{{_CHOSEN}}}", "{{inferenceservice}} waiting"),
            ],
        ),
        Panel("Tokens per second", [_sum(f"rate(vllm:generation_tokens_total{{{_CHOSEN}}}[5m])")]),
        Panel(
            "Requests per second",
            [
                _sum(f"rate(vllm:request_success_total{{{_CHOSEN}}}[5m])", "{{inferenceservice}} vLLM"),
                _sum(f"rate(nv_inference_request_success{{{_CHOSEN}}}[5m])", "{{inferenceservice}} Triton"),
                _sum(f"rate(request_predict_seconds_count{{{_CHOSEN}}}[5m])", "{{inferenceservice}} KServe"),
            ],
            unit="reqps",
        ),
        Panel(
            "Replicas",
            # All models are `.*`, which every target without the label matches.
            [_sum(f'up{{inferenceservice!="",{_CHOSEN}}}')],
            about="Pods whose metrics Prometheus scrapes.",
        ),
    ),
)
