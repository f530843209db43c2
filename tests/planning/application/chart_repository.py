"""A repository of charts on loopback, with the chart `metrics`."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from kalypso_actions.planning.application.services import digest_of
from tests.planning.application.applications import PROGRAMS

CHART = {
    "Chart.yaml": "apiVersion: v2\nname: metrics\nversion: 1.2.3\n",
    "values.yaml": "retention: 1d\n",
    "templates/config.yaml": (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}\n"
        "  namespace: {{ .Release.Namespace }}\ndata:\n  retention: {{ .Values.retention }}\n"
    ),
}


def helm(folder: Path, *arguments: str) -> None:
    program = shutil.which("helm", path=PROGRAMS)
    assert program
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(
        [program, *arguments], cwd=folder, env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def packaged(folder: Path, changes: Mapping[str, str] | None = None) -> bytes:
    """Package the chart in a folder; return the archive."""
    for path, text in {**CHART, **(changes or {})}.items():
        file = folder / "metrics" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    helm(folder, "package", "metrics")
    return (folder / "metrics-1.2.3.tgz").read_bytes()


class Server(ThreadingHTTPServer):
    """The server; `login` is required unless it is "", `asked` are the paths that were served."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self.login = ""
        self.asked: list[str] = []


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder, with a login if the server has one."""

    def do_GET(self) -> None:  # the base's name
        assert isinstance(self.server, Server)
        login = self.server.login
        wanted = f"Basic {base64.b64encode(login.encode()).decode()}"
        if login and self.headers.get("Authorization") != wanted:
            self.send_response(401)
            self.end_headers()
            return
        self.server.asked.append(self.path)
        super().do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 # the base's name
        """Print nothing."""


@dataclass
class ChartRepository:
    """A repository of charts on loopback."""

    url: str
    folder: Path
    server: Server

    def publish(self, changes: Mapping[str, str] | None = None) -> str:
        """Publish the chart under its version; return the digest of its archive."""
        archive = packaged(self.folder, changes)
        helm(self.folder, "repo", "index", ".", "--url", self.url)
        return digest_of(archive)

    def require(self, login: str) -> None:
        self.server.login = login

    @property
    def asked(self) -> list[str]:
        return list(self.server.asked)


@contextmanager
def chart_repository(folder: Path) -> Iterator[ChartRepository]:
    """Serve a new folder."""
    folder.mkdir()
    server = Server(folder)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield ChartRepository(f"http://127.0.0.1:{server.server_port}", folder, server)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def service(repository: str, digest: str = "", **more: str) -> str:
    lines = {"repository": repository, "chart": "metrics", "version": "1.2.3", **more}
    lines |= {"digest": digest} if digest else {}
    return "name: monitoring\nhelm:\n" + "".join(f"  {key}: {lines[key]}\n" for key in lines)
