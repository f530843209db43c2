"""Rewrite the rendered files of the golden trees: Go renders them, never our own renderer.

python -m tests.golden.record           write tests/golden/expected
python -m tests.golden.record --check   write nothing; exit 1 and list what differs

`rendered.yaml`, which is written by hand, lists the Template and the data of each rendered file.
All other files of the expected trees are written by hand.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.oracle.tagged import to_tagged
from tools.oracle import program

HERE = Path(__file__).parent
EXPECTED = HERE / "expected"
TEMPLATES = HERE / "fleet" / "main" / "templates"

OLD_NAMES = {".Repo": ".Manifests.repo", ".Branch": ".Manifests.branch", ".Path": ".Manifests.path"}
"""Fields of the first templates, which the current operator no longer knows."""


def main() -> int:
    """Record or check; return 1 if a file differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing, list differences")
    check = parser.parse_args().check
    if not check and os.environ.get("CI") == "true":
        print("golden files are not rewritten by CI: run `make golden` and commit the result")
        return 1
    program.build()
    different = 0
    for path, content in _rendered():
        if path.is_file() and path.read_text() == content:
            continue
        different += 1
        print(f"{'differs' if check else 'written'}: {path.relative_to(HERE)}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
    return 1 if check and different else 0


def _rendered() -> Iterator[tuple[Path, str]]:
    """Return every rendered file of the expected trees, with Go's result."""
    templates = dict(_templates())
    content = yaml.safe_load((HERE / "rendered.yaml").read_text())
    for environment in ("dev", "stage"):
        for folder, entry in content[environment].items():
            for file, source in entry["files"].items():
                manifests = templates[source] if isinstance(source, str) else [source]
                texts = [_render(manifest, entry["data"]) for manifest in manifests]
                yield EXPECTED / environment / folder / file, "---\n".join(filter(None, texts))


def _templates() -> Iterator[tuple[str, list[Any]]]:
    for file in sorted(TEMPLATES.glob("*.yaml")):
        for document in yaml.safe_load_all(file.read_text()):
            for item in document.get("items", [document]):
                yield item["metadata"]["name"], item["spec"]["manifests"]


def _render(manifest: Any, data: Mapping[str, Any]) -> str:
    if isinstance(manifest, str):
        return _ask({"op": "template", "text": manifest, "data": data})
    return _ask({"op": "toyaml2", "value": to_tagged(_rendered_object(manifest, data))})


def _rendered_object(value: Any, data: Mapping[str, Any]) -> Any:
    """Render the texts in nested mappings as templates; keep lists."""
    if isinstance(value, dict):
        return {key: _rendered_object(inner, data) for key, inner in value.items()}
    if isinstance(value, str):
        for old, new in OLD_NAMES.items():
            value = value.replace(f"{old} ", f"{new} ")
        return _ask({"op": "template", "text": value, "data": data})
    return value


def _ask(request: Mapping[str, Any]) -> str:
    (answer,) = program.ask([dict(request)])
    if "output" not in answer:
        raise SystemExit(f"Go refuses {request}: {answer}")
    return str(answer["output"])


if __name__ == "__main__":
    sys.exit(main())
