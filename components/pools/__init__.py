"""How pools of nodes are made: EKS managed node groups (`managed`) and Karpenter NodePools (`karpenter`).

What a pool is, `spec.pools` says.
"""
