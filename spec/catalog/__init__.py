"""Dated facts about AWS, Kubernetes and NVIDIA, each with its source, so that a stack can be evaluated without a cloud.

The facts are in `data/`, with `source` and `date` at the top of each file or beside each entry; the modules here read
them and answer questions. `tools/refresh_catalog.py` regenerates the files that come from installed packages.
"""
