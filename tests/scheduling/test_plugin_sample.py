"""samples/scheduler-plugin: the sample chooses cluster types by price."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from actions import install
from kalypso_actions.scheduling.registry import CheckedScheduler
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


def test_a_missing_file_of_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    with pytest.raises(install.InstallError, match=r"plugins\.txt is not a file"):
        install.plugins_of('{"plugins": "plugins.txt"}')
    (tmp_path / "plugins.txt").touch()
    assert install.plugins_of('{"plugins": "plugins.txt"}') == tmp_path / "plugins.txt"
    assert install.plugins_of('{"plugins": ""}') is install.plugins_of("{}") is None
