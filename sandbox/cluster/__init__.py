"""The control planes of the sandbox: one etcd, and a separate kube-apiserver for each EKS cluster."""
