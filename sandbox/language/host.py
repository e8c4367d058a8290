"""The language host, which the Pulumi CLI starts to run a Python program or policy pack."""

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import IO

import grpc
import psutil
from google.protobuf import empty_pb2
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

from sandbox.language import program
from sandbox.language.children import Child, Children
from sandbox.language.environments import Environment
from sandbox.language.program import Task
from sandbox.language.shims import install_shims

__all__ = ["LanguageHost", "install_shims", "serve"]

_PARENT_CHECK_SECONDS = 1.0
_MESSAGE_OPTIONS = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """The engine's LanguageRuntime service, as far as running programs and policy packs needs it."""

    def __init__(self, engine: str, children: Children) -> None:
        self._engine = engine
        self._ready = children
        self._children: set[Child] = set()
        self._lock = threading.Lock()

    def Handshake(
        self, request: language_pb2.LanguageHandshakeRequest, context: grpc.ServicerContext
    ) -> language_pb2.LanguageHandshakeResponse:
        """Receives the engine's address."""
        self._engine = request.engine_address or self._engine
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        """The version of the SDK that programs run with."""
        return plugin_pb2.PluginInfo(version=metadata.version("pulumi"))

    def About(self, request: language_pb2.AboutRequest, context: grpc.ServicerContext) -> language_pb2.AboutResponse:
        """The interpreter, for `pulumi about`."""
        return language_pb2.AboutResponse(executable=sys.executable, version=".".join(map(str, sys.version_info[:3])))

    def GetRequiredPackages(
        self, request: language_pb2.GetRequiredPackagesRequest, context: grpc.ServicerContext
    ) -> language_pb2.GetRequiredPackagesResponse:
        """None: the SDK names provider and version with every resource, and the engine loads plugins on demand."""
        return language_pb2.GetRequiredPackagesResponse()

    def InstallDependencies(
        self, request: language_pb2.InstallDependenciesRequest, context: grpc.ServicerContext
    ) -> Iterator[language_pb2.InstallDependenciesResponse]:
        """Makes the environment that Pulumi.yaml names: `pulumi install`."""
        found = Environment.of(request.info)
        for command in found.install():
            # uv puts it where the option says; pip is that of the new environment.
            variables = os.environ | ({"UV_PROJECT_ENVIRONMENT": str(found.place)} if found.place else {})
            try:
                done = subprocess.run(command, cwd=found.program, env=variables, capture_output=True, check=False)
            except OSError as error:
                context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"{command[0]} can't be run: {error.strerror}")
            yield language_pb2.InstallDependenciesResponse(stdout=done.stdout, stderr=done.stderr)
            if done.returncode:
                context.abort(grpc.StatusCode.INTERNAL, f"{' '.join(command)}: exit code {done.returncode}")

    def GetProgramDependencies(
        self, request: language_pb2.GetProgramDependenciesRequest, context: grpc.ServicerContext
    ) -> language_pb2.GetProgramDependenciesResponse:
        """The packages of the environment, which the engine records beside each update."""
        versions = {one.name: one.version for one in metadata.distributions()}
        packages = [language_pb2.DependencyInfo(name=name, version=versions[name]) for name in sorted(versions)]
        return language_pb2.GetProgramDependenciesResponse(dependencies=packages)

    def Run(self, request: language_pb2.RunRequest, context: grpc.ServicerContext) -> language_pb2.RunResponse:
        """Runs the program to its end, in its own process; its output goes where the host's output goes."""
        found = Environment.of(request.info)
        if refused := found.refused():
            return language_pb2.RunResponse(error=refused)
        task = program.program_task(self._engine, request, debug=wants_debug(_engine_arguments()))
        task = replace(task, environment=found.variables, problem=found.problem)
        with self._child(context, task, python=found.python) as child:
            code = child.wait()
        if code == program.EXIT_REPORTED:
            return language_pb2.RunResponse(bail=True)
        return language_pb2.RunResponse(error=f"Program exited with non-zero exit code: {code}" if code else "")

    def RunPlugin(
        self, request: language_pb2.RunPluginRequest, context: grpc.ServicerContext
    ) -> Iterator[language_pb2.RunPluginResponse]:
        """Runs a policy pack and passes on its output, from which the engine reads the port of its server."""
        if request.kind != "analyzer":
            context.abort(grpc.StatusCode.UNIMPLEMENTED, f"only policy packs run as plugins here, not a {request.kind}")
        program = Path(request.info.program_directory, request.info.entry_point or ".")
        found = Environment.of(request.info)
        environment = dict(entry.split("=", 1) for entry in request.env) | found.variables
        task = Task(arguments=(*request.args, str(program)), environment=environment)
        with self._child(context, task, python=found.python, captured=True) as child:
            yield from _relay(child)

    def Cancel(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Ends all running programs."""
        self.stop()
        return empty_pb2.Empty()

    def stop(self) -> None:
        """Ends every child."""
        self._ready.dismiss()
        with self._lock:
            for child in self._children:
                child.terminate()

    @contextmanager
    def _child(
        self, context: grpc.ServicerContext, task: Task, *, python: str = sys.executable, captured: bool = False
    ) -> Iterator[Child]:
        """A child that runs a task; it is ended when the engine cancels the call or the block is left."""
        with self._ready.take(python, captured=captured) as child:
            with self._lock:
                self._children.add(child)
            context.add_callback(child.terminate)
            if child.stdin:
                child.stdin.write(task.line)
                child.stdin.flush()
            try:
                yield child
            finally:
                child.terminate()
                with self._lock:
                    self._children.discard(child)


def wants_debug(arguments: Sequence[str]) -> bool:
    """Whether a command line of the CLI asks for debug messages; the protocol does not pass that on."""
    return any(one in ("-d", "--debug", "--debug=true") for one in arguments)


def _engine_arguments() -> list[str]:
    """The command line of the process that started this one."""
    try:
        return psutil.Process(os.getppid()).cmdline()
    except psutil.Error:
        return []


def _relay(child: Child) -> Iterator[language_pb2.RunPluginResponse]:
    """The child's output, line by line from both streams as it arrives, and finally its exit code."""
    messages: queue.Queue[language_pb2.RunPluginResponse | None] = queue.Queue()

    def read(stream: IO[bytes] | None, message: Callable[[bytes], language_pb2.RunPluginResponse]) -> None:
        for line in stream or ():
            messages.put(message(line))
        messages.put(None)

    streams = (
        (child.stdout, lambda line: language_pb2.RunPluginResponse(stdout=line)),
        (child.stderr, lambda line: language_pb2.RunPluginResponse(stderr=line)),
    )
    for arguments in streams:
        threading.Thread(target=read, args=arguments, daemon=True).start()
    for _ in streams:
        yield from iter(messages.get, None)
    yield language_pb2.RunPluginResponse(exitcode=child.wait())


def serve(engine: str) -> None:
    """Serves on a free loopback port, which it prints, until the engine sends SIGINT or ends."""
    parent = os.getppid()
    # Before the server, which starts threads: forking is safe only without them.
    host = LanguageHost(engine, Children.prepared())
    server = grpc.server(ThreadPoolExecutor(), options=_MESSAGE_OPTIONS)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        # Inside the block: the engine may send SIGINT as soon as it has read the port.
        print(port, flush=True)  # noqa: T201 - the engine reads it
        # A killed engine sends no signal; this process then gets another parent.
        while os.getppid() == parent:
            time.sleep(_PARENT_CHECK_SECONDS)
    except KeyboardInterrupt:
        pass
    host.stop()
    server.stop(grace=None)


def main() -> None:
    """Started by the engine with its own address as the last argument."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    serve(sys.argv[-1] if len(sys.argv) > 1 else "")
    # A normal exit would wait for a call whose child does not end. That child ends when this process does.
    os._exit(0)


if __name__ == "__main__":
    main()
