import socket
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from sandbox.aws.client import Aws, AwsError, Clients
from sandbox.aws.moto import server as moto_server
from sandbox.aws.warm import warm
from sandbox.rpc.errors import ProviderError
from tests.support.patience import SECONDS


def test_a_port_in_use_is_refused_by_number() -> None:
    with socket.socket() as taken:
        taken.bind((moto_server.HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ProviderError, match=f"can't listen on port {port} of 127.0.0.1"):
            moto_server.start(port)


def test_aws_managed_policies_exist(aws: Aws) -> None:
    found = aws.call("iam", "get_policy", PolicyArn="arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy")
    assert found["Policy"]["PolicyName"] == "AmazonEKSWorkerNodePolicy"


def test_accounts_are_separate(clients: Clients) -> None:
    one, other = (Aws(clients, "us-west-2", account) for account in ("200000000001", "200000000002"))
    one.call("sqs", "create_queue", QueueName="mine")
    assert "QueueUrls" in one.call("sqs", "list_queues")
    assert "QueueUrls" not in other.call("sqs", "list_queues")


def test_an_error_has_the_code_of_aws(aws: Aws) -> None:
    with pytest.raises(AwsError) as raised:
        aws.call("ec2", "describe_vpcs", VpcIds=["vpc-00000000"])
    assert raised.value.code == "InvalidVpcID.NotFound"
    assert raised.value.not_found
    assert str(raised.value).startswith("ec2 describe_vpcs: InvalidVpcID.NotFound: ")


def test_a_stopped_server_is_reported_with_the_fix() -> None:
    with socket.socket() as free:
        # Nobody else can have the port, and nobody listens on it.
        free.bind((moto_server.HOST, 0))
        aws = Aws(Clients(f"http://127.0.0.1:{free.getsockname()[1]}"), "us-west-2")
        with pytest.raises(ProviderError, match="does not answer; restart the sandbox"):
            aws.call("sqs", "list_queues")


def test_warming_up_loads_what_the_first_stack_needs(clients: Clients) -> None:
    thread = warm(clients, "us-west-2")
    thread.join(SECONDS)
    assert not thread.is_alive()


def test_reads_and_writes_of_many_threads_at_once_all_succeed(clients: Clients) -> None:
    """Moto's own reads fail when another thread adds an object while they go through a dictionary."""
    aws = Aws(clients, "us-west-2", "200000000003")
    aws.call("logs", "create_log_group", logGroupName="/first")

    def work(worker: int) -> int:
        for number in range(60):
            aws.call("logs", "create_log_group", logGroupName=f"/{worker}/{number}")
            aws.call("logs", "describe_log_groups", logGroupNamePrefix="/")
        return worker

    often = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(work, range(4))) == [0, 1, 2, 3]
    finally:
        sys.setswitchinterval(often)
