"""The value of a variable stays the text that it is, wherever a variable may stand.

The readers are Go's: helm reads values, kustomize (and Flux) reads manifests.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kalypso_actions.errors import Location
from kalypso_actions.model.application import VARIABLE_VALUE, VARIABLES, Compatibility
from kalypso_actions.planning.application.variables import replace_variables
from tests.planning.application.applications import CHART, PROGRAMS, Application, find_program

WHERE: Final = Location("source", "values.yaml")

LONG: Final = "x" * 10_240
FORMS: Final = (
    *("1.10", "0755", "1_000", "0x1f", "1e3", "2024-01-01", "yes", "null", LONG),
    *("1.2.3@sha256:" + "0" * 64, "sha256:" + "1" * 64, "1" * 40, "12e45", "20240101", "0.0.1-7"),
    *("~", ".5", "-1", "+1", "1.", "0o17", "0b11", ".inf", ".NaN", "1:20", "on", "n", "True"),
    *("2024-01-01T10:00:00Z", "-", "---", "...", "@team", "a:", ":", "feature/x", "v1+build"),
)
"""Texts that a command line may give, most of which YAML reads as something else."""

PLACES: Final = r"""
plain: $IMAGE_TAG
braces: ${IMAGE_TAG}
last: shop:$IMAGE_TAG
first: ${IMAGE_TAG}-arm
decimal: 1.$IMAGE_TAG
twice: $IMAGE_TAG$IMAGE_TAG
words: run $IMAGE_TAG "now" \ $IMAGE_TAG
single: '$IMAGE_TAG'
double: "$IMAGE_TAG\t\\$IMAGE_TAG"
literal: | # $IMAGE_TAG
  $IMAGE_TAG
  # $IMAGE_TAG
folded: >-
  run
  $IMAGE_TAG
lines: run
  $IMAGE_TAG
  now
list:
- $IMAGE_TAG
- - ${IMAGE_TAG}
- key: $IMAGE_TAG
flow: {a: $IMAGE_TAG, b: ${IMAGE_TAG}, c: [$IMAGE_TAG, ${IMAGE_TAG}, "$IMAGE_TAG"], "d":$IMAGE_TAG}
anchor: &tag $IMAGE_TAG
alias: *tag
tagged: !!str $IMAGE_TAG
local: !tag $IMAGE_TAG
comment: text # $IMAGE_TAG
text: $$IMAGE_TAG
text in braces: [$${IMAGE_TAG}, "$${IMAGE_TAG}"]
others: $http_host $2a$10$N9qo8uLOickgx2ZMRZoMye {{ $labels.pod }} $$ $$HOME $IMAGE_TAGS
"""

KEYS: Final = """
$IMAGE_TAG: plain
v$IMAGE_TAG: part
"${IMAGE_TAG}-quoted": double
flow: {$IMAGE_TAG: x}
? $IMAGE_TAG-complex
: x
"""

MANIFEST: Final = "apiVersion: acme.example/v1\nkind: Doc\nmetadata: {name: doc}\nspec:\n"


Reader = Callable[[str, Path], Any]


def replaced(text: str, value: str) -> tuple[str, list[str]]:
    """Return the text with a value for all ten variables, and the codes of the problems."""
    values = dict.fromkeys(VARIABLES, value)
    content, findings = replace_variables(text.encode(), values, WHERE, "none")
    return content.decode(), [problem.code for problem in findings.problems]


def by_helm(text: str, folder: Path) -> Any:
    """Read a file of values as helm does."""
    chart = folder / "chart"
    (chart / "templates").mkdir(parents=True, exist_ok=True)
    (chart / "Chart.yaml").write_text("apiVersion: v2\nname: c\nversion: 0.1.0\n")
    (chart / "templates" / "a.yaml").write_text("json: {{ .Values | toJson }}\n")
    (folder / "values.yaml").write_text(text)
    output = run("helm", "template", "chart", "--values", "values.yaml", folder=folder)
    return json.loads(output.partition("json: ")[2])["spec"]


def by_kustomize(text: str, folder: Path) -> Any:
    """Read a manifest as kustomize does, and what kustomize prints as helm does."""
    (folder / "kustomization.yaml").write_text("resources: [doc.yaml]\n")
    (folder / "doc.yaml").write_text(text)
    return by_helm(run("kustomize", "build", ".", folder=folder), folder)


def run(program: str, *arguments: str, folder: Path) -> str:
    path = shutil.which(program, path=PROGRAMS)
    assert path
    done = subprocess.run(
        [path, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def with_value(document: object, value: str) -> object:
    """Replace the word in all texts and keys."""
    match document:
        case dict():
            return {
                key.replace("wOrd", value): with_value(inner, value)
                for key, inner in document.items()
            }
        case list():
            return [with_value(inner, value) for inner in document]
        case str():
            return document.replace("wOrd", value)
        case _:
            return document


@pytest.fixture(params=[by_helm, by_kustomize])
def read(request: pytest.FixtureRequest) -> Reader:
    reader: Reader = request.param
    find_program("helm")
    find_program("kustomize")
    return reader


@pytest.mark.parametrize("places", [PLACES, KEYS], ids=["values", "keys"])
def test_a_value_stays_the_text_that_it_is(tmp_path: Path, read: Reader, places: str) -> None:
    manifest, refused = MANIFEST, []
    for number, value in enumerate(("wOrd", *FORMS)):
        text, problems = replaced(places, value)
        if problems:
            refused.append((value, problems))
        else:
            manifest += f"  n{number}:" + text.replace("\n", "\n    ").rstrip(" ")
    documents = read(manifest, tmp_path)
    for number, value in enumerate(FORMS, start=1):
        if f"n{number}" in documents:
            assert documents[f"n{number}"] == with_value(documents["n0"], value), value
    # A key on one line has at most 1024 characters.
    assert refused == ([(LONG, ["variable-not-text"])] if places == KEYS else [])


VALUES: Final = st.from_regex(VARIABLE_VALUE, fullmatch=True).filter(bool)


@settings(max_examples=25)  # each runs kustomize, and has ten values
@given(values=st.lists(VALUES, min_size=10, max_size=10))
def test_any_values_of_the_ten(tmp_path_factory: pytest.TempPathFactory, values: list[str]) -> None:
    find_program("helm")
    find_program("kustomize")
    names = dict(zip(VARIABLES, values, strict=True))
    places = ("{}", "v{}", "1.{}", "{} x", "x {}", "'{}'", '"{}"')
    text = f"{MANIFEST}  all:\n"
    for name in names:
        own = [place.format(f"${{{name}}}") for place in places]
        text += f"  - [{', '.join(own)}]\n  - - " + "\n    - ".join(own) + "\n"
    content, findings = replace_variables(text.encode(), names, WHERE, "none")
    assert not findings.problems
    read = by_kustomize(content.decode(), tmp_path_factory.mktemp("doc"))
    plain = ("{}", "v{}", "1.{}", "{} x", "x {}", "{}", "{}")
    expected = [[place.format(value) for place in plain] for value in values]
    assert (read["all"][::2], read["all"][1::2]) == (expected, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: $http_host {{ $labels.pod }} $2a$10$N9qo8uLOickgx2Z", None),
        ("a: $VERSIONS ${VERSIONS} ${VERSION:-x} $(VERSION) $1 100$ $", None),
        ("a: $$HOME $$ $${HOME} \r\n", None),
        ("a: $$VERSION $${VERSION}", "a: $VERSION ${VERSION}"),
        ("a: $$$VERSION, $$$${VERSION}", "a: $$VERSION, $$${VERSION}"),
        ("a: [$${VERSION}]", 'a: ["${VERSION}"]'),
        ('a: "$$VERSION"', 'a: "$VERSION"'),
        ("a: | # $VERSION\r\n  $VERSION\r\n", "a: | # 1.10\r\n  1.10\r\n"),
        ("\ufeffa: $VERSION", 'a: "1.10"'),
        ("a: \ue000\ue001 $VERSION \ue001", "a: \ue000\ue001 1.10 \ue001"),
        ("a: {{ $VERSION }}", 'a: {{ "1.10" }}'),
        ("patches:\n- patch: |-\n    a: '$VERSION'", "patches:\n- patch: |-\n    a: '1.10'"),
        ("- patch: $VERSION", '- patch: "1.10"'),
        ("a: |\n  b: $VERSION", "a: |\n  b: 1.10"),
        ("- [", None),
    ],
)
def test_only_the_ten_names_are_variables(text: str, expected: str | None) -> None:
    content, findings = replace_variables(text.encode(), {"VERSION": "1.10"}, WHERE, "none")
    assert not findings.problems
    assert content.decode() == (text if expected is None else expected)


@pytest.mark.parametrize(
    ("text", "code", "line", "advice"),
    [
        ("b: 1\na: !!int $VERSION", "variable-not-text", 2, "remove the tag"),
        ("a: !<tag:yaml.org,2002:float> &a ${VERSION}", "variable-not-text", 1, "remove the tag"),
        ('a: "x\n$WORKLOAD y"', "variable-not-text", 1, "write the value in double quotes"),
        ('a: b\nc: "\\$VERSION"', "yaml-invalid", 2, ""),
        ("a:\n- &$VERSION b", "yaml-invalid", 2, ""),
        ("a: $VERSION" + "".join(map(chr, range(0xE000, 0xF900))), "yaml-invalid", 0, ""),
        (
            "patches:\n- patch: |-\n    - op: add\n      value: $VERSION",
            "variable-not-text",
            4,
            '"$V',
        ),
        ("patchesStrategicMerge:\n- |\n  a: ${VERSION}\n", "variable-not-text", 3, '"${V'),
        ("- patch: '[{value: $VERSION}]'", "variable-not-text", 1, 'write "$VERSION"'),
        ("a: 1 # $SRC_COMMIT\nb: '${SRC_COMMIT}'", "variable-undefined", 2, "--source-commit"),
        ("a: |\n  # no\n  # $SRC_COMMIT", "variable-undefined", 3, "--source-commit"),
    ],
)
def test_what_cannot_stay_a_text_is_refused(text: str, code: str, line: int, advice: str) -> None:
    values = {"VERSION": "1.10", "WORKLOAD": "---"}
    problems = replace_variables(text.encode(), values, WHERE, "none")[1].problems
    assert [(problem.code, problem.where.line) for problem in problems if problem.where] == [
        (code, line)
    ]
    assert advice in problems[0].advice


def test_a_misspelled_name_is_a_warning() -> None:
    text = b"a: $VERSON\nb: $version $IMAGETAG\nc: $VERSON\n"
    content, findings = replace_variables(text, {"VERSION": "1"}, WHERE, "none")
    assert (content, findings.problems) == (text, [])
    assert [(item.where.line, item.advice) for item in findings.warnings if item.where] == [
        (1, "is $VERSION meant?"),
        (2, "is $IMAGE_TAG meant?"),
    ]


def envsubst(text: str, values: Mapping[str, str]) -> str:
    find_program("envsubst")
    done = subprocess.run(
        ["envsubst"],
        input=text.encode(),
        env=dict(values),
        capture_output=True,
        check=True,
        executable=shutil.which("envsubst"),
    )
    return done.stdout.decode()


@pytest.mark.parametrize("mode", ["current", "2023"])
def test_upstreams_modes_replace_as_envsubst_does_and_warn(mode: Compatibility) -> None:
    text = "a: $VERSION\nb: $http_host {{ $labels.pod }} $$VERSION $${VERSION} ${VERSION:-x} $1\n"
    text += "c: 'v${VERSION}'\nd: $IMAGE_TAG\ne: x$VERSION\n"
    values = {"VERSION": "1.10"}
    content, findings = replace_variables(text.encode(), values, WHERE, mode)
    assert content.decode() == envsubst(text, values)
    assert not findings.problems
    assert [(item.code, item.where.line) for item in findings.warnings if item.where] == [
        ("variable-not-text", 1),
        ("variable-not-text", 4),
        ("variable-unknown", 2),
        ("variable-unknown", 2),
    ]
    assert findings.warnings[0].advice == 'write "$VERSION"'


TAG_CHART: Final = {
    **CHART,
    "helm/values.yaml": "tag: $IMAGE_TAG\n",
    "helm/templates/deployment.yaml": (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: shop}\n"
        'spec: {containers: [{name: shop, image: "shop:{{ .Values.tag }}"}]}\n'
    ),
}
TAGS: Final = {"1.10": "1.1", "20240101": "2.0240101e+07", "0755": "493", "null": ""}
"""Tags, and what upstream's scripts deploy in their place. https://github.com/helm/helm/issues/3246"""


@pytest.mark.parametrize("tag", TAGS)
def test_the_image_that_was_named_is_deployed(application: Application, tag: str) -> None:
    configs = {"a/values.yaml": "", "b/values.yaml": "tag: ${IMAGE_TAG}\n"}
    done = application.render(f"--image-tag={tag}", source=TAG_CHART, configs=configs)
    assert not done.document["problems"], done.messages()
    assert [target["images"] for target in done.document["targets"]] == [[f"shop:{tag}"]] * 2
    done = application.render(f"--image-tag={tag}", "--compatibility=current", source=TAG_CHART)
    assert f'image: "shop:{TAGS[tag]}"' in done.files["b/gen_manifests.yaml"]
    places = [("variable-not-text", path, 1) for path in ("helm/values.yaml", "b/values.yaml")]
    assert done.places("warnings") == places


@pytest.mark.parametrize("generator", ["manifests", "kustomize"])
@pytest.mark.parametrize("tag", [*TAGS, "2024-01-01"])
def test_manifests_hold_the_text(tmp_path: Path, generator: str, tag: str) -> None:
    find_program("kustomize")
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {version: $IMAGE_TAG}}\n"
    source = {
        f"{generator}/a.yaml": text + "data: {tag: $IMAGE_TAG}\n",
        **(
            {"kustomize/kustomization.yaml": "resources: [a.yaml]\n"}
            if generator != "manifests"
            else {}
        ),
    }
    done = Application(tmp_path).render(
        f"--image-tag={tag}", source=source, configs={"a/values.yaml": ""}
    )
    assert done.status == 0, done.messages()
    body = yaml.safe_load(done.files["a/gen_manifests.yaml"])
    assert (body["metadata"]["labels"], body["data"]) == ({"version": tag}, {"tag": tag})


@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_a_kustomization_names_the_tag(tmp_path: Path, name: str) -> None:
    find_program("kustomize")
    source = {
        f"kustomize/{name}": "resources: [a.yaml]\nimages: [{name: shop, newTag: $IMAGE_TAG}]\n",
        "kustomize/a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
        "spec: {containers: [{name: a, image: shop}]}\n",
    }
    done = Application(tmp_path).render(
        "--image-tag=1.10", source=source, configs={"a/values.yaml": ""}
    )
    assert done.status == 0, done.messages()
    assert done.document["targets"][0]["images"] == ["shop:1.10"]
