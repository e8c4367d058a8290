"""Helm charts and the values that the platform sets: which charts, which keys, and whether the charts support them.

Helm silently accepts a key that a chart does not have, so a typo in a value has no effect and no error. Here,
`slipway catalog check` verifies every key against its chart and records the verified keys
(`slipway/charts/verified.yaml`), so that a test finds a typo without the charts.
"""
