"""A text of an application in a script, or in a command of a document."""

from __future__ import annotations

import json

import pytest

from tests.breaks import breaks, returning
from tests.hostile.fleet_under_attack import (
    CALM,
    EVIL,
    MANIFESTS,
    FleetUnderAttack,
    blamed,
    workload,
)

SHELL = {
    "a command": ("echo {{ .Manifests.description }}", "a; reboot"),
    "a pipe": ("echo {{ .Manifests.description }}", "a|sh"),
    "a file": ("echo {{ .Manifests.description }}", "a>/etc/passwd"),
    "in the background": ("echo {{ .Manifests.description }}", "a&reboot"),
    "a substitution": ('echo "{{ .Manifests.description }}"', "a `reboot`"),
    "a variable": ('echo "{{ .Manifests.description }}"', "$HOME"),
    "the end of quotes": ('echo "{{ .Manifests.description }}"', 'a"; reboot; "'),
    "the end of single quotes": ("echo '{{ .Manifests.description }}'", "a'; reboot; '"),
    "other words": ("echo {{ .Manifests.description }}", "a -rf"),
    "an apostrophe before": ("# it's {{ .Manifests.description }}\n: '", "a `reboot`"),
    "a list that a template needs": (
        '{{ $_ := index (splitList "," .Manifests.description) 1 }}echo {{ .Manifests.description }}',
        "a,b|sh",
    ),
}


DOCUMENTS = {
    "a file of a ConfigMap": "kind: A\ndata:\n  run.sh: |\n    {}\n",
    "an argument": "kind: A\nargs:\n  - -ec\n  - |\n    {}\n",
    "a text with an interpreter": "kind: A\na: |\n  #!/bin/sh\n  {}\n",
    "the script of the configuration": "",
}


def commit_command(fleet: FleetUnderAttack, document: str, command: str) -> None:
    if document:
        fleet.commit_main(document.format(command.replace("\n", " ")))
        return
    fleet.commit_main(config=f"#!/bin/sh\n{command}\n")
    text = (fleet.folder / "main/config.yaml").read_text()
    fleet.commit(
        "main", {"config.yaml": text.replace("type: config", "type: config\n  contentType: sh")}
    )


@breaks(
    "a script has nothing to compare",
    returning("kalypso_actions.rendering.outline.shell_syntax", ""),
)
@pytest.mark.parametrize(("command", "text"), SHELL.values(), ids=SHELL.keys())
@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_no_text_changes_a_shell_command(
    fleet: FleetUnderAttack, document: str, command: str, text: str
) -> None:
    commit_command(fleet, document, command)
    fleet.deliver("calm", workload("calm", {**MANIFESTS, "description": "'a,b'"}))
    fleet.attack(description=json.dumps(text))
    result, files = fleet.rendered()
    (warning,) = blamed(result)
    assert warning.code == "registration-documents"
    assert CALM in files
    assert EVIL not in files


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_a_quoted_text_in_a_shell_command(fleet: FleetUnderAttack, document: str) -> None:
    commit_command(fleet, document, "echo '{{ .Manifests.description }}' | cat")
    fleet.attack(description="'Boards (and halts); $5 & more'")
    assert blamed(fleet.render()) == []
