"""The control planes of the sandbox: one etcd, and a kube-apiserver of its own for every EKS cluster."""
