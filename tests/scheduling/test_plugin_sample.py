"""samples/scheduler-plugin: the sample places by price, as it is and installed as a package."""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from actions import install
from kalypso_actions.scheduling.plugins import CheckedScheduler
from tests.builders import cluster_type, fleet, policy, selector, target

SAMPLE = Path(__file__).resolve().parents[2] / "samples" / "scheduler-plugin"


def sample() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sample", SAMPLE / "acme_price_scheduler.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_sample_chooses_the_cheapest_that_the_policy_selects() -> None:
    given = fleet(
        cluster_types=[cluster_type(n, size=n) for n in ("drone", "large", "small", "new")],
        targets=[target("t1")],
        policies=[policy("p", cluster_types=selector(("size", "NotIn", ["small"])))],
    )
    schedule = CheckedScheduler("prices", sample().PriceScheduler()).schedule(given)
    assert [a.cluster_type.name for a in schedule.assignments] == ["drone"]
    assert [problem.message for problem in schedule.problems] == ["new has no price"]
    explained = {
        item.name: schedule.explain(given.targets[0], item)[0].selected
        for item in given.cluster_types
    }
    assert explained == {"drone": True, "large": False, "small": False, "new": False}


def test_a_file_of_plugins_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    with pytest.raises(install.InstallError, match=r"plugins\.txt is no file"):
        install.plugins_of('{"plugins": "plugins.txt"}')
    (tmp_path / "plugins.txt").touch()
    assert install.plugins_of('{"plugins": "plugins.txt"}') == tmp_path / "plugins.txt"
    assert install.plugins_of('{"plugins": ""}') is install.plugins_of("{}") is None


@pytest.mark.slow
def test_the_sample_is_installed_with_its_hash_and_found(tmp_path: Path) -> None:
    dist = tmp_path / "dist"
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", str(dist)]
    subprocess.run(build, cwd=SAMPLE, check=True, capture_output=True)
    (wheel,) = dist.glob("*.whl")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    file = tmp_path / "plugins.txt"
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    python = venv / "bin" / "python"
    file.write_text("acme-price-scheduler==1.0.0\n", encoding="utf-8")
    with pytest.raises(install.InstallError, match="the input plugins"):
        install.install_plugins(python, file, dist)
    file.write_text(f"acme-price-scheduler==1.0.0 --hash=sha256:{digest}\n", encoding="utf-8")
    install.install_plugins(python, file, dist)
    code = (
        "from importlib.metadata import entry_points; "
        "print([p.value for p in entry_points(group='kalypso_actions.schedulers')])"
    )
    done = subprocess.run([python, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "['acme_price_scheduler:PriceScheduler']"
