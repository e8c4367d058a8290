"""What AWS's service models say about the inputs of each type: required, lengths, ranges, patterns and enumerations."""
