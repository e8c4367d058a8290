"""Prometheus, Alertmanager, Grafana and their exporters, with the platform's own rules, monitors and dashboards."""

from components.addons.kube_prometheus_stack.addon import KubePrometheusStack

__all__ = ["KubePrometheusStack"]
