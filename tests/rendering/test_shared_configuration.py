"""Assignments share a configuration as long as no Template changes it."""

from __future__ import annotations

from kalypso_actions.model.config import MergedConfig
from kalypso_actions.rendering import Failure, Options, Renderer
from tests.breaks import breaks, turned
from tests.builders import assignment, cluster_type, target, template

PLAIN = "{{ toYaml .ConfigData }}\n"
CHANGING = "{{ $_ := set .ConfigData .DeploymentTargetName `x` }}{{ toYaml .ConfigData }}\n"
CONFIG = MergedConfig({"a": "1", "inner": {"b": "2"}}, {}, ())


def rendered(reconciler: str, config: str) -> list[str]:
    """Return the configuration files of two targets on one cluster type."""
    templates = [
        template("reconciler", reconciler),
        template("namespace", "n\n"),
        template("config", config),
    ]
    renderer = Renderer("dev", templates, Options())
    texts = []
    for name in ("one", "two"):
        files = renderer.render(assignment(target(name), cluster_type("type")), CONFIG)
        assert not isinstance(files, Failure)
        texts.append(files["platform-config.yaml"].decode())
    return texts


def test_one_text_for_all() -> None:
    first, second = rendered("r\n", PLAIN)
    assert first == second == 'a: "1"\ninner:\n    b: "2"\n'


@breaks(
    "a Template changes the configuration of other assignments",
    turned(
        "kalypso_actions.rendering.folder_files.FileRenderer._shared_config",
        "any(map(self._changes_data, names))",
        "False",
    ),
)
def test_a_change_is_seen_by_no_other_assignment() -> None:
    first, second = rendered("r\n", CHANGING)
    assert "app-one" in first and "app-two" not in first
    assert "app-two" in second and "app-one" not in second


def test_a_change_is_seen_by_later_templates_of_the_folder() -> None:
    first, second = rendered(CHANGING, PLAIN)
    assert first == 'a: "1"\napp-one: x\ninner:\n    b: "2"\n'
    assert second == 'a: "1"\napp-two: x\ninner:\n    b: "2"\n'
    assert CONFIG.values == {"a": "1", "inner": {"b": "2"}}
