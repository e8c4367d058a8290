"""Observability as code: monitors, recording rules, alerts, dashboards and the notification topic."""
