"""Published figures of `slipway replay`, beside two baselines (ADR 0138)."""
