"""The input `strict` of ci and preview: new warnings fail, and their status says so."""

from __future__ import annotations

import pytest

from kalypso_actions.promotion.statuses import CI_CONTEXT
from tests.commands.chain import ci_runs, documents, previews
from tests.commands.chain.organisation import SHOP, Organisation

USELESS = {"edge.yaml": documents.policy("edge-only", size="egde")}
END = "; warnings fail (strict)"


@pytest.mark.parametrize("strict", ["false", "true"])
def test_ci_starts_no_cd_for_a_warning(acme: Organisation, strict: str) -> None:
    acme.commit(USELESS, "dev")
    commit = acme.commit({"notes.txt": "1"})
    result = ci_runs.run(acme, strict=strict)
    is_strict = strict == "true"
    assert (result.failed, len(result.document.warnings)) == (is_strict, 1)
    state, text = acme.statuses(commit)[CI_CONTEXT]
    assert (state, text.endswith(END)) == ("failure" if is_strict else "success", is_strict)
    assert acme.dispatches() == ([] if is_strict else [ci_runs.cd(commit)])


@pytest.mark.parametrize(
    ("branch", "repository", "files"),
    [
        pytest.param("main", SHOP, {"workload/shop.yaml": "kind: Deployment\n"}, id="application"),
        pytest.param("stage", None, {"policy.yaml": "kind: [\n"}, id="environment"),
        pytest.param(
            "stage", None, {"s.yaml": documents.config_schema("sizes", "SIZE")}, id="schema"
        ),
    ],
)
def test_faults_that_stood_before_do_not_fail_a_strict_ci(
    acme: Organisation, branch: str, repository: str | None, files: dict[str, str]
) -> None:
    acme.commit(files, branch, **({"repository": repository} if repository else {}))
    commit = acme.commit({"notes.txt": "1"})
    result = ci_runs.run(acme, strict="true")
    assert result.document.warnings
    assert not result.failed
    assert acme.dispatches() == [ci_runs.cd(commit)]


def test_only_new_warnings_fail_a_strict_preview(acme: Organisation) -> None:
    template = acme.files("main")["templates/flux.yaml"]
    acme.commit({"templates/flux.yaml": f"{template}\n    # {{{{ .ConfigData.A }}}}\n"})
    previews.propose(acme, {"notes.txt": "1"})
    assert not previews.run(acme, strict="true").failed
    template = acme.files("main")["templates/flux.yaml"]
    changed = f"{template}\n    # {{{{ .ConfigData.B }}}}\n"
    previews.propose(acme, {"templates/flux.yaml": changed}, head="other")
    for strict in (False, True):
        result = previews.run(acme, strict=str(strict).lower())
        assert (result.failed, len(result.document.warnings) > 0) == (strict, True)
        head = previews.document(result).head_commit
        state, text = acme.statuses(head)[previews.CONTEXT]
        assert (state, END in text) == ("failure" if strict else "success", strict)
