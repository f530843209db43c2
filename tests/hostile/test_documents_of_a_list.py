"""A Template that makes documents from a list, and is annotated so."""

from __future__ import annotations

import pytest

from tests.breaks import breaks, turned
from tests.hostile.fleet_under_attack import EVIL, FleetUnderAttack, blamed

HOSTS = """\
{{ range splitList "," .Manifests.hosts }}---
apiVersion: v1
kind: ConfigMap
metadata: {name: {{ . }}}
{{ end }}"""


def deliver(fleet: FleetUnderAttack, hosts: str, *, annotated: bool) -> None:
    fleet.commit_main(HOSTS)
    fleet.deliver("calm", "# none yet")
    if annotated:
        text = (fleet.folder / "main/flux.yaml").read_text()
        annotation = "annotations: {kalypso.io/documents-from: 'zones, hosts', "
        fleet.commit("main", {"flux.yaml": text.replace("annotations: {", annotation)})
    fleet.attack(hosts=hosts)


def test_a_list_of_hosts(fleet: FleetUnderAttack) -> None:
    deliver(fleet, "'a,b,c'", annotated=True)
    document, files = fleet.rendered()
    assert blamed(document) == []
    assert files[EVIL].count("kind: ConfigMap") == 3


@breaks(
    "any text may be a list of documents",
    turned("kalypso_actions.rendering.delivered.Trial._value", "key in self.lists", "key"),
)
@pytest.mark.parametrize(
    ("hosts", "annotated"),
    [
        pytest.param("'a,b,c'", False, id="nobody has allowed it"),
        pytest.param("'a,b}, data: {c: d'", True, id="more than a list"),
        pytest.param("'a,b: c'", True, id="a mapping"),
        pytest.param("'a,&b'", True, id="an anchor"),
    ],
)
def test_no_other_documents(fleet: FleetUnderAttack, hosts: str, annotated: bool) -> None:
    deliver(fleet, hosts, annotated=annotated)
    (warning,) = blamed(fleet.render())
    assert warning.code == "registration-documents"
