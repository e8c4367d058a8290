"""Node pools: EKS managed node groups (`managed`) and Karpenter NodePools (`karpenter`).

`spec.pools` defines what a pool is.
"""
