"""The guide's package with a command, installed and called."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name

import pytest

from kalypso_actions.model.problem_codes import problem_codes
from tests.command_line import call_kalypso
from tests.docs.installed_package import installed_package
from tests.docs.pages import ROOT, Page

PAGE = Page(ROOT / "docs" / "guide" / "plugins.md")
CLUSTER_TYPE = """\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {{name: {name}, annotations: {{acme.example/cores: "{cores}"}}}}
spec: {{reconciler: flux, namespaceService: default, configType: configmap}}
"""


OLD_PATHS = (
    "commands.shared.context:CommandContext",
    "compliance.interface:ClusterReports",
    "compliance:ClusterReports",
    "errors:KalypsoError",
    "errors:UsageError",
    "inputs.chain:ClusterReportsInputs",
    "model.cluster_reports:ClusterReport",
    "model.cluster_reports:ReportedPath",
    "model.kinds:ClusterType",
    "model.urls:repository_key",
    "scheduling.interface:Scheduler",
    "scheduling:Schedule",
)
"""What plug-ins imported before there was one module for them."""


@pytest.mark.parametrize("path", OLD_PATHS)
def test_an_earlier_import_path_stays(path: str) -> None:
    assert resolve_name(f"kalypso_actions.{path}")


def test_every_import_path_of_the_guide_exists() -> None:
    guide = "".join(page.read_text() for page in (ROOT / "docs" / "guide").glob("*.md"))
    groups = set(re.findall(r"`(kalypso_actions[.]\w+)` [|]", guide))
    named = {*re.findall(r"`(kalypso_actions[\w.]+\w)`", guide)} - groups
    for module, several, one in re.findall(
        r"^from (kalypso_actions[\w.]*) import (?:[(]([^)]*)[)]|(.*))$", guide, re.MULTILINE
    ):
        named |= {
            f"{module}.{name.strip()}" for name in (several or one).split(",") if name.strip()
        }
    assert len(named) > 15
    for path in named:
        assert resolve_name(path), path


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Path]:
    """Install the page's package; return the folder of a fleet."""
    (module,) = (block.text for block in PAGE.blocks("python"))
    (codes,) = (text for path, text in PAGE.files().items() if path.endswith(".yaml"))
    files = {"acme_cost/__init__.py": module, "acme_cost/problem_codes.yaml": codes}
    pyproject = "".join(block.text for block in PAGE.blocks("toml"))
    folder = tmp_path / "fleet"
    folder.mkdir()
    for name, cores in (("edge", "4"), ("large", "16")):
        text = CLUSTER_TYPE.format(name=name, cores=cores)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    problem_codes.cache_clear()
    with installed_package(tmp_path, "acme_cost", files, pyproject):
        yield folder
    problem_codes.cache_clear()


def test_the_command_prints_its_document(fleet: Path) -> None:
    done = call_kalypso("cost", fleet, "--price", "0.5")
    assert (done.returncode, done.stdout) == (0, "edge: 2.00\nlarge: 8.00\n")
    done = call_kalypso("cost", fleet, "--json")
    assert json.loads(done.stdout) == {
        "schema": "acme.cost/v1",
        "costs": {"edge": 4.0, "large": 16.0},
        "problems": [],
    }


def test_the_help_is_the_docstring(fleet: Path) -> None:
    shown = call_kalypso("--help").stdout
    assert "Show what the cluster types of an environment cost." in " ".join(shown.split())
    assert shown.index("cost ") > shown.index("schedule ")
    shown = " ".join(call_kalypso("help", "cost").stdout.split())
    assert "The price of a core." in shown
    assert "Example: kalypso cost ../control-plane --price 0.5 Exit codes: 0 done, 1 prob" in shown
    assert "Did you mean 'cost'" in call_kalypso("costs", fleet).stderr


def test_a_problem_has_its_place_and_code(fleet: Path) -> None:
    (fleet / "edge.yaml").write_text(CLUSTER_TYPE.format(name="edge", cores="many"))
    done = call_kalypso("cost", fleet)
    assert (done.returncode, done.stdout) == (1, "large: 16.00\n")
    assert "edge.yaml:1" in done.stderr
    assert "[cost-unknown]" in done.stderr
    assert problem_codes()["cost-unknown"].topic == "Costs"


def test_an_error_has_its_exit_code(fleet: Path) -> None:
    done = call_kalypso("cost", fleet, "--price", "-1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--price is negative" in done.stderr
    done = call_kalypso("cost", fleet, "--price", "-1", "--json")
    assert done.returncode == 2
    assert [each["message"] for each in json.loads(done.stdout)["problems"]] == [
        "--price is negative"
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "    if price < 0:",
            "    1 / 0\n    if price < 0:",
            "failed: ZeroDivisionError: division",
        ),
        ("import typer", "import no_such_module", "No module named 'no_such_module'"),
        (") -> CostDocument:", ") -> None:", "the result is not annotated as a CommandDocument"),
        ("return CostDocument(", "return dict(", "failed: TypeError: the result is a dict"),
    ],
    ids=["exception", "import", "annotation", "result"],
)
def test_a_fault_names_the_package(fleet: Path, old: str, new: str, message: str) -> None:
    module = fleet.parent / "acme_cost" / "__init__.py"
    module.write_text(module.read_text().replace(old, new))
    done = call_kalypso("cost", fleet)
    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
    assert "bug in kalypso" not in done.stderr
    assert call_kalypso("cost", fleet, "--json").returncode == 1
    assert call_kalypso("--help").returncode == 0
