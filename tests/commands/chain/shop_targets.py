"""The targets of the shop: many, so that a run can remove many at once."""

from __future__ import annotations

from tests.commands.chain import documents
from tests.commands.chain.organisation import SHOP, Organisation

TARGETS = [f"web-{number}" for number in range(8)]


def fill(acme: Organisation, targets: list[str]) -> None:
    """Give the shop these targets in dev, and one in stage."""
    url = acme.url("acme/shop-manifests")
    text = "".join(
        f"  - name: {name}\n    environment: dev\n    manifests: {{repo: {url}}}\n"
        for name in targets
    )
    head = documents.workload("shop", url, ["stage"])
    acme.commit({"workload/shop.yaml": head + text}, repository=SHOP)
