"""nginx in front of two processes of the app, as hosting/nginx.conf.template says, and Redis, all on this machine."""

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from email.message import Message
from pathlib import Path
from types import MappingProxyType

from benchmarks.live.serve import ROOT, running_server

TEMPLATE = ROOT / "hosting" / "nginx.conf.template"
COOKIE = "attention_lab_replica"
NAMES = ("1", "2")
# What a system's own nginx.conf holds around the files of conf.d.
AROUND = """
{user}
daemon off;
pid {folder}/pid;
error_log stderr emerg;
events {{ worker_connections 4096; }}
http {{
    include /etc/nginx/mime.types;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/attention-lab.conf;
}}
"""


def program(name: str) -> str:
    """The path of a program; Debian keeps servers in a folder that ordinary users do not search."""
    path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    assert path, f"expected {name}, which python3 run.py test installs with Debian's packages"
    return path


def free_ports(count: int) -> list[int]:
    """Ports at which nothing listens, all different."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [free.getsockname()[1] for free in sockets]


@contextmanager
def running(*command: str, port: int) -> Iterator[None]:
    """A server that is no Streamlit, from the moment that it accepts connections."""
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    give_up = time.monotonic() + 20
    try:
        while True:
            assert server.poll() is None, f"{command[0]} ended with exit code {server.returncode}"
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
                break
            assert time.monotonic() < give_up, f"{command[0]} did not accept connections within 20 seconds"
            time.sleep(0.05)
        yield
    finally:
        server.terminate()
        server.wait(timeout=10)


class Replicas:
    """Both processes of the app; each can be killed and started again.

    Args:
        folder: where they keep what is theirs.
        settings: environment variables.
        cores: name -> the core on which a process runs alone, with all that it starts; by default on all of them.
        alone: whether there is one process, which stands for both.
    """

    def __init__(
        self,
        folder: Path,
        settings: Mapping[str, str] = MappingProxyType({}),
        cores: Mapping[str, int] = MappingProxyType({}),
        *,
        alone: bool = False,
    ) -> None:
        self.folder, self._settings, self._cores = folder, settings, cores
        self.names = NAMES[:1] if alone else NAMES
        ports = free_ports(len(self.names))
        self.ports = dict(zip(NAMES, ports * 2, strict=False))
        self._running: dict[str, tuple[AbstractContextManager[tuple[str, int]], int]] = {}

    def start(self, name: str) -> None:
        runs = {"ATTENTION_LAB_RUNS": str(self.folder / f"runs of {name}")}  # as on two machines: no folder is shared
        server = running_server(self.ports[name], settings={**self._settings, **runs}, core=self._cores.get(name))
        _, process = server.__enter__()
        self._running[name] = server, process

    def kill(self, name: str) -> None:
        """End a server as a machine that loses its power does it: the process has no time to say goodbye."""
        server, process = self._running.pop(name)
        os.kill(process, signal.SIGKILL)
        server.__exit__(None, None, None)

    def end(self) -> None:
        for server, _ in self._running.values():
            server.__exit__(None, None, None)

    @property
    def processes(self) -> Sequence[int]:
        """The ids of the processes that run."""
        return [process for _, process in self._running.values()]

    def log(self) -> list[str]:
        """The lines that nginx has written about requests so far."""
        return (self.folder / "access.log").read_text(encoding="utf-8").splitlines()


def configuration(folder: Path, port: int, compressor: int, replicas: Replicas) -> Path:
    """nginx's configuration: the template, with all that it writes in this folder."""
    addresses = {"LISTEN": port, "COMPRESSOR": compressor} | {f"REPLICA_{n}": replicas.ports[n] for n in NAMES}
    text = TEMPLATE.read_text(encoding="utf-8")
    for name, at in addresses.items():
        text = text.replace(f"${{{name}}}", f"127.0.0.1:{at}")
    text = text.replace("fail_timeout=10s", "fail_timeout=1s")  # so long a test waits for a replica that is back
    text = text.replace("limit_conn addresses 600;", "limit_conn addresses 4000;")  # here all visitors have one address
    for place in ("/var/log/nginx", "/var/cache/nginx"):
        text = text.replace(place, str(folder))
    (folder / "attention-lab.conf").write_text(text, encoding="utf-8")
    user = f"user {getpass.getuser()} {getpass.getuser()};" if os.geteuid() == 0 else ""
    around = folder / "nginx.conf"
    around.write_text(AROUND.format(folder=folder, user=user), encoding="utf-8")
    return around


@contextmanager
def behind_nginx(replicas: Replicas) -> Iterator[str]:
    """All of it, from when it answers; the address that visitors use."""
    folder = replicas.folder
    port, compressor = free_ports(2)
    nginx = [program("nginx"), "-c", str(configuration(folder, port, compressor, replicas))]
    try:
        for name in replicas.names:
            replicas.start(name)
        with running(*nginx, port=port):
            yield f"http://127.0.0.1:{port}"
    finally:
        replicas.end()


def answer(address: str, replica: str = "", *, accepts: str = "gzip") -> tuple[Message, bytes]:
    """Headers and body of the answer to a browser that belongs to this replica; by default, to a new browser."""
    headers = {"Accept-Encoding": accepts} | ({"Cookie": f"{COOKIE}={replica}"} if replica else {})
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as response:
        return response.headers, response.read()
