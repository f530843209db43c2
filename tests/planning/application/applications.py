"""An application's repositories as folders, rendered by `kalypso app render` with the real helm."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from tests.command_line import WIDE, call_kalypso

ROOT: Final = Path(__file__).parents[3]
PROGRAMS: Final = os.pathsep.join((os.environ["PATH"], str(ROOT / ".build" / "bin")))

POSIX: Final = pytest.mark.skipif(os.name != "posix", reason="Windows has no bash and no links")

SOURCE_COMMIT: Final = "1" * 40
CONFIG_COMMIT: Final = "2" * 40

CHART: Final = {
    "helm/Chart.yaml": "apiVersion: v2\nname: greeter\nversion: 0.1.0\n",
    "helm/values.yaml": """\
app:
  name: greeter
  port: 8080
replicas: 1
image: $IMAGE_NAME:$IMAGE_TAG
version: $VERSION
""",
    "helm/templates/deployment.yaml": """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Values.app.name }}
  annotations:
    version: {{ .Values.version | quote }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    matchLabels:
      app: {{ .Values.app.name }}
  template:
    metadata:
      labels:
        app: {{ .Values.app.name }}
    spec:
      containers:
      - name: app
        image: {{ .Values.image }}
        ports:
        - containerPort: {{ .Values.app.port }}
""",
}
"""A chart like upstream's, with one Deployment."""

VARIABLES: Final = (
    "--source-repository=acme/greeter",
    "--gitops-repository=acme/greeter-gitops",
    "--version=0.0.1-7",
    "--image-tag=0.0.1-7",
    f"--source-commit={SOURCE_COMMIT}",
    f"--config-revision={CONFIG_COMMIT}",
)


def find_program(name: str) -> None:
    """Skip the test without the program; fail if KALYPSO_PROGRAMS says that all are installed."""
    if shutil.which(name, path=PROGRAMS):
        return
    reason = f"{name} is neither on PATH nor in .build/bin"
    if os.environ.get("KALYPSO_PROGRAMS") == "installed":
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass(frozen=True, slots=True)
class Rendered:
    """The result of a call: its document, and the files of `--out`, if there are any."""

    status: int
    document: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)

    def codes(self, kind: str = "problems") -> list[str]:
        return [entry["code"] for entry in self.document[kind]]

    def places(self, kind: str = "problems") -> list[tuple[str, str, int]]:
        """Return code, path and line of all problems (or warnings, notes) with a place."""
        return [
            (entry["code"], entry["where"]["path"], entry["where"]["line"])
            for entry in self.document[kind]
            if entry["where"]
        ]

    def messages(self, kind: str = "problems") -> str:
        return "\n".join(entry["message"] for entry in self.document[kind])


@dataclass(frozen=True, slots=True)
class Application:
    """The folders of an application below a temporary one."""

    folder: Path
    environment: str = "dev"

    def write(self, repository: str, files: Mapping[str, str | bytes]) -> Path:
        top = self.folder / repository
        top.mkdir(exist_ok=True)
        for path, content in files.items():
            file = top / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        return top

    def render(
        self,
        *options: str,
        source: Mapping[str, str | bytes] = CHART,
        configs: Mapping[str, str | bytes] | None = None,
        gitops: Mapping[str, str | bytes] | None = None,
        variables: Iterable[str] = VARIABLES,
    ) -> Rendered:
        """Render these files; those of earlier calls stay."""
        out = self.folder / "out"
        arguments = [
            f"--source={self.write('source', source)}",
            f"--configs={self.write('configs', configs or {})}",
            f"--environment={self.environment}",
            *([f"--gitops={self.write('gitops', gitops)}"] if gitops is not None else []),
            *([] if any("--commit-to" in item for item in options) else [f"--out={out}"]),
            *variables,
            *options,
        ]
        return call("app", "render", *arguments, out=out)


def call(*arguments: str, out: Path) -> Rendered:
    """Call kalypso, and read its JSON document and the folder of its output."""
    done = call_kalypso(*arguments, "--json", variables={**WIDE, "PATH": PROGRAMS})
    assert done.stdout, done.stderr
    files = {
        path.relative_to(out).as_posix(): path.read_bytes().decode()
        for path in sorted(out.rglob("*"))
        if path.is_file()
    }
    return Rendered(done.returncode, json.loads(done.stdout), files)
