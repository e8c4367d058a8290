"""A Pulumi resource provider in plain Python: gRPC and protobuf stay in this package."""
