"""Calls of helm. A script replaces it; `tests/planning/application` calls the real program."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from kalypso_actions.clients.helm import Helm, HelmError
from kalypso_actions.errors import KalypsoError
from tests.git_repositories import programs

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the script is one for POSIX")

SCRIPT = f"""#!{sys.executable}
import json, os, pathlib, sys
files = sorted(str(path) for path in pathlib.Path(".").rglob("*") if path.is_file())
json.dump([sys.argv[1:], files, dict(os.environ), os.getcwd()], sys.stdout)
"""


def script(folder: Path, text: str = SCRIPT) -> Helm:
    file = folder / "helm"
    file.write_text(text)
    file.chmod(0o755)
    variables = {"PATH": str(folder), "GITHUB_TOKEN": "secret", "HOME": "/home/me"}
    variables |= {"KUBECONFIG": "/home/me/kube", "HELM_PLUGINS": "/home/me/plugins"}
    return Helm(programs(**variables))


def test_it_sees_the_chart_and_nothing_of_the_machine(tmp_path: Path) -> None:
    with script(tmp_path).chart({"Chart.yaml": b"x", "templates/é.yaml": b"y"}) as chart:
        values = {"a/values.yaml": b"1", "a/b/values.yaml": b"2"}
        output = chart.template("name", ["--namespace", "web"], values)
    arguments, files, environment, folder = json.loads(output)
    assert arguments[:3] == ["template", "--namespace", "web"]
    assert [Path(item).name for item in arguments[3:7]] == ["--values", "values.yaml"] * 2
    assert arguments[7:] == ["--", "name", "chart"]
    assert arguments[4].endswith("/0/a/values.yaml")
    assert arguments[6].endswith("/1/a/b/values.yaml")
    assert files[:2] == ["chart/Chart.yaml", "chart/templates/é.yaml"]
    assert not Path(folder).exists()
    environment.pop("LC_CTYPE", None)
    assert environment["PATH"] == ""
    assert environment["https_proxy"] == environment["HTTP_PROXY"] == "http://127.0.0.1:9"
    assert environment["HELM_NO_PLUGINS"] == "1"
    assert all(
        environment[name].startswith(folder)
        for name in ("HOME", "KUBECONFIG", "HELM_PLUGINS", "XDG_CONFIG_HOME")
    )
    assert "secret" not in environment.values()


def test_without_a_name_helm_gives_its_own(tmp_path: Path) -> None:
    with script(tmp_path).chart({}) as chart:
        assert json.loads(chart.template("", [], {}))[0] == ["template", "--", "chart"]


def test_only_dependencies_use_the_network(tmp_path: Path) -> None:
    text = SCRIPT.replace(
        "json.dump(",
        "pathlib.Path('chart/charts').mkdir(exist_ok=True)\n"
        f"log = open({str(tmp_path / 'log')!r}, 'a')\n"
        "print(sys.argv[1:], os.environ.get('https_proxy'), file=log)\n"
        "pathlib.Path('chart/charts/redis-1.0.0.tgz').write_bytes(b'tgz')\njson.dump(",
    )
    helm = script(tmp_path, text)
    files = helm.dependencies({"Chart.yaml": b"x"}, ["https://charts.example", "oci://registry"])
    assert files == {"charts/redis-1.0.0.tgz": b"tgz"}
    assert (tmp_path / "log").read_text().splitlines() == [
        "['repo', 'add', 'repository-0', 'https://charts.example'] None",
        "['dependency', 'build', 'chart'] None",
    ]


@pytest.mark.parametrize(
    ("ending", "kind", "words"),
    [
        ("sys.exit('Error: no such value')", HelmError, "no such value"),
        ("os._exit(2)", KalypsoError, "helm crashed"),
        ("import time; time.sleep(9)", KalypsoError, "did not finish within 1 seconds"),
    ],
    ids=["refusal", "crash", "time"],
)
def test_the_results_of_helm(
    tmp_path: Path, ending: str, kind: type[KalypsoError], words: str
) -> None:
    script(tmp_path, f"#!{sys.executable}\nimport os, sys\n{ending}\n")
    helm = Helm(programs(PATH=str(tmp_path)), timeout=1)
    with helm.chart({}) as chart, pytest.raises(kind, match=words) as error:
        chart.template("", [], {})
    assert type(error.value) is kind


def test_the_version(tmp_path: Path) -> None:
    assert script(tmp_path, f"#!{sys.executable}\nprint('v3.22.0+g123')\n").version() == "v3.22.0"
    assert not Helm(programs(PATH="")).is_installed
