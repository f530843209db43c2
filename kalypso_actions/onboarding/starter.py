"""The first files of a new control plane, with names filled in.

The files are in `kalypso_actions/starter`. Words in capitals stand for names: CONTROL_PLANE_URL,
GITOPS_URL, GITOPS_MAIN, ENVIRONMENT, BRANCH, NEXT.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kalypso_actions.onboarding.setup import EnvironmentSetup, Setup

MAIN: Final = "control-plane/main/"
OBJECTS: Final = "control-plane/environments/"
ENVIRONMENT: Final = "control-plane/environment/"
GITOPS_MAIN: Final = "gitops/main/"
GITOPS_ENVIRONMENT: Final = "gitops/environment/"

GITOPS_REPO: Final = "gitops-repo.yaml"
TARGET: Final = "    - name: ENVIRONMENT\n"
"""The start of the section that the sample workload repeats for each environment."""

PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./:-]*(?<!:)")
YAML_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "y", "n", "null"})
"""Words that YAML 1.1 reads as booleans or null."""

PLACES: Final = {
    (True, True): "first-",
    (False, True): "",
    (False, False): "last-",
    (True, False): "only-",
}
"""The prefix of an Environment object's file, by `is_first` and by whether a next one exists."""

TEMPLATE_NAMES: Final = frozenset({"flux", "namespace", "config-map"})
"""The Templates of the sample cluster type."""


@dataclass(frozen=True, slots=True)
class StarterFiles:
    """The texts of the package's folder `starter`, by path."""

    texts: Mapping[str, str]

    def of_main(self, setup: Setup) -> dict[str, str]:
        """Return the first files of a new main branch, except its Environment objects."""
        return self._filled(MAIN, _names(setup))

    def environment_object(self, setup: Setup, environment: EnvironmentSetup) -> tuple[str, str]:
        """Return the path and text of an Environment object."""
        place = PLACES[environment.is_first, bool(environment.next_environment)]
        text = self.texts[f"{OBJECTS}{place}environment.yaml"]
        names = {**_names(setup), **_names_of(environment)}
        return f".environments/{environment.name}.yaml", _fill(text, names)

    def of_environment(
        self, setup: Setup, environment: EnvironmentSetup, *, with_samples: bool
    ) -> dict[str, str]:
        """Return a new environment's first files; without samples, only the required ones."""
        names = {**_names(setup), **_names_of(environment)}
        files = self._filled(ENVIRONMENT, names)
        if not with_samples:
            files = {GITOPS_REPO: files[GITOPS_REPO]}
        return {posixpath.normpath(f"{environment.path}/{path}"): files[path] for path in files}

    def of_gitops_main(self, setup: Setup) -> dict[str, str]:
        """Return the first files of a new GitOps repository's main: a sample workload."""
        files = {}
        for path, text in self._texts(GITOPS_MAIN).items():
            head, begin, target = text.partition(TARGET)
            targets = (
                _fill(begin + target, _names_of(environment)) for environment in setup.environments
            )
            files[path] = _fill(head + ("".join(targets) if begin else ""), _names(setup))
        return files

    def of_gitops_environment(self, setup: Setup) -> dict[str, str]:
        """Return the first files of a new GitOps branch."""
        return self._filled(GITOPS_ENVIRONMENT, _names(setup))

    def _filled(self, folder: str, names: Mapping[str, str]) -> dict[str, str]:
        return {path: _fill(text, names) for path, text in self._texts(folder).items()}

    def _texts(self, folder: str) -> dict[str, str]:
        return {
            path.removeprefix(folder): text
            for path, text in self.texts.items()
            if path.startswith(folder)
        }


def _names(setup: Setup) -> dict[str, str]:
    return {
        "CONTROL_PLANE_URL": setup.control_plane.url,
        "GITOPS_URL": setup.gitops.url,
        "GITOPS_MAIN": setup.gitops.main,
    }


def _names_of(environment: EnvironmentSetup) -> dict[str, str]:
    return {
        "ENVIRONMENT": environment.name,
        "BRANCH": environment.branch,
        "NEXT": environment.next_environment,
    }


def _fill(text: str, names: Mapping[str, str]) -> str:
    """Replace the words in capitals by names."""
    words = re.compile(rf"\b({'|'.join(names)})\b")
    return words.sub(lambda word: scalar(names[word[1]]), text)


def scalar(name: str) -> str:
    """Write a name in YAML, quoted unless YAML reads the plain name as the same string."""
    is_plain = PLAIN.fullmatch(name) and name.lower() not in YAML_WORDS
    return name if is_plain else json.dumps(name)
