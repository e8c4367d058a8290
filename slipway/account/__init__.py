"""Whether an AWS account is ready for a stack: read-only questions, asked before the first `up`."""
