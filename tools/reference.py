"""Write docs/reference from the code: the JSON Schema of every command's output, and its options.

python -m tools.reference            write the files
python -m tools.reference --check    write nothing; exit 1 and list what differs
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import typer.main
from typer.core import TyperGroup

from kalypso_actions.cli import app
from kalypso_actions.report import chain_documents, documents
from kalypso_actions.report.documents import Document

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"
COMMANDS = "commands.md"
WIDTH = 100


def main() -> int:
    """Write or check; 1 where a file is not what the code says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, list differences")
    files = reference_files()
    if parser.parse_args().check:
        return check(files)
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for stale in present() - files.keys():
        (REFERENCE / stale).unlink()
    for name, text in files.items():
        (REFERENCE / name).write_text(text, encoding="utf-8", newline="\n")
    return 0


def check(files: dict[str, str]) -> int:
    """Compare what is committed with what the code says."""
    wrong = [
        name
        for name in sorted(present() | files.keys())
        if name not in files
        or not (REFERENCE / name).exists()
        or (REFERENCE / name).read_text(encoding="utf-8") != files[name]
    ]
    for name in wrong:
        print(f"docs/reference/{name} is not what the code says: run make docs")
    return 1 if wrong else 0


def present() -> set[str]:
    """The names of the committed files."""
    return {path.name for path in REFERENCE.glob("*")}


def reference_files() -> dict[str, str]:
    """Every file of the reference by its name."""
    schemas = {
        f"{name.replace('/', '.')}.schema.json": json.dumps(schema_of(document), indent=2) + "\n"
        for name, document in output_documents().items()
    }
    return {**schemas, COMMANDS: commands_text()}


def output_documents() -> dict[str, type[Document]]:
    """What commands print with `--output json`, by the value of `schema`."""
    models = [
        model
        for module in (documents, chain_documents)
        for _, model in inspect.getmembers(module, inspect.isclass)
    ]
    return {
        model.model_fields["schema_name"].default: model
        for model in models
        if issubclass(model, Document) and "schema_name" in model.model_fields
    }


def schema_of(document: type[Document]) -> dict[str, object]:
    """The JSON Schema of one output: every field is always there, and there are no others."""
    name = document.model_fields["schema_name"].default
    schema = document.model_json_schema(by_alias=True, mode="serialization")
    for part in (schema, *schema.get("$defs", {}).values()):
        part["required"] = sorted(part["properties"])
        part["additionalProperties"] = False
    schema["properties"]["schema"] = {"const": name}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": name,
    }


def commands_text() -> str:
    """What every command says of itself, as Markdown."""
    group = typer.main.get_command(app)
    if not isinstance(group, TyperGroup):
        raise TypeError("the command line is not a group of commands")
    sections = [
        f"\n## kalypso {name}\n\n```text\n{help_of(name)}\n```\n" for name in group.commands
    ]
    return "# Commands\n\nWritten by `make docs` from the code.\n" + "".join(sections)


def help_of(command: str) -> str:
    """The text of `--help`, the same wherever this runs."""
    done = subprocess.run(
        [sys.executable, "-m", "kalypso_actions", command, "--help"],
        env={"PATH": os.defpath, "TERMINAL_WIDTH": str(WIDTH), "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")


if __name__ == "__main__":
    sys.exit(main())
