"""Software that runs in the cluster and serves it: one module or package an add-on, versions of all in `versions`."""
