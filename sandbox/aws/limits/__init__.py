"""What AWS's service models say about requests: lengths, ranges, patterns and enumerations."""
