"""Charts that attack the machine that renders them."""

from __future__ import annotations

import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

from tests.planning.application.applications import CHART, Application


def rendered_chart(template: str, timeout: str = "30s") -> str:
    """Render a chart with one more template; return the problems or the output."""
    with tempfile.TemporaryDirectory() as folder:
        application = Application(Path(folder))
        source = {**CHART, "helm/templates/attack.yaml": f"# {template}\n"}
        done = application.render(
            f"--timeout={timeout}", source=source, configs={"a/values.yaml": ""}
        )
        if done.status == 0:
            return done.files["a/gen_manifests.yaml"]
        assert not done.files
        return done.messages()


def rendered_schema(reference: str, packed: bool) -> str:
    """Render a chart whose schema, or that of a packed dependency, refers to something else."""
    schema = f'{{"properties": {{"replicas": {{"$ref": "{reference}"}}}}}}'
    files: dict[str, str | bytes] = {**CHART, "helm/values.schema.json": schema}
    if packed:
        archive = BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz") as tar:
            member = tarfile.TarInfo("redis/values.schema.json")
            member.size = len(schema)
            tar.addfile(member, BytesIO(schema.encode()))
        files |= {
            "helm/values.schema.json": "{}",
            "helm/charts/redis-1.0.0.tgz": archive.getvalue(),
        }
    with tempfile.TemporaryDirectory() as folder:
        done = Application(Path(folder)).render(source=files, configs={"a/values.yaml": ""})
        return f"{done.places()} {done.messages()}"


def rendered_values(values: str) -> str:
    """Render the usual chart with these values; return the problems."""
    with tempfile.TemporaryDirectory() as folder:
        done = Application(Path(folder)).render(configs={"a/values.yaml": values})
        return done.messages()
