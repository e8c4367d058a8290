"""Charts and the values that the platform gives them: which charts, which keys, and whether the charts know them.

Helm takes a key that a chart does not know without a word, so a typo in a value changes nothing and nobody notices.
Here every key is held against the chart (`slipway charts check`), and what was found is written down
(`slipway/charts/verified.yaml`), so that a test finds a typo without any chart.
"""
