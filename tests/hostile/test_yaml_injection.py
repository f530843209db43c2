"""A text of an application continues the platform's document with lines of its own."""

from __future__ import annotations

import os

import pytest

from kalypso_actions.clients.process import Programs
from kalypso_actions.commands.shared.local_context import LocalContext
from kalypso_actions.commands.validate import validate
from kalypso_actions.inputs.local import ValidateInputs
from kalypso_actions.model.processes import no_progress
from kalypso_actions.rendering.jinja.sandbox import _decided
from tests.breaks import breaks, returning, turned
from tests.hostile.fleet_under_attack import (
    ADMIN,
    CALM,
    EVIL,
    MANIFESTS,
    FleetUnderAttack,
    blamed,
    workload,
)

LINES = {
    "a line break with a document": ADMIN,
    "a carriage return": r'"dev\rkind: Secret"',
    "a next line": r'"dev\Nkind: Secret"',
    "a line separator": r'"dev\Lkind: Secret"',
    "a paragraph separator": r'"dev\Pkind: Secret"',
    "a tab": r'"dev\tx"',
    "an escape of terminals": r'"dev\e[2J"',
    "a C1 control": r'"dev\x9b2J"',
    "a deletion": r'"dev\x7f"',
    "a direction": r'"dev\u202ex"',
    "a byte order mark": r'"\uFEFFdev"',
    "an invisible space": r'"d\u200Bev"',
    "a block text": "|\n          dev\n          kind: Secret",
}


@breaks(
    "a text of an application may have line breaks",
    returning("kalypso_actions.fleet.workloads._control", ""),
)
@pytest.mark.parametrize(
    ("key", "text"),
    [
        *(pytest.param("branch", text, id=name) for name, text in LINES.items()),
        *(pytest.param(key, ADMIN, id=f"in {key}") for key in ("repo", "path", "description")),
    ],
)
def test_a_text_is_one_line(fleet: FleetUnderAttack, key: str, text: str) -> None:
    fleet.attack(**{key: text})
    document, files = fleet.rendered()
    (warning,) = blamed(document)
    assert warning.code == "registration-text"
    lines = {"repo": 9, "branch": 10, "path": 11, "description": 12}
    assert warning.where
    assert warning.where.line == lines[key]
    assert f"manifests.{key} has the control character" in warning.message
    assert CALM in files
    assert EVIL not in files


@pytest.mark.parametrize(
    "manifests",
    [
        pytest.param({r'"a\nb"': "x"}, id="a key of manifests"),
        pytest.param({"branch": "'dev\u2028x'"}, id="a character, not an escape"),
        pytest.param({"branch": "'\u00e4\u200d\u00f6'"}, id="a joiner in a name"),
        pytest.param({"description": "'d\u200dev'"}, id="a joiner that joins nothing"),
        pytest.param({"'\u00e4\u200d\u00f6'": "x"}, id="a joiner in a key"),
    ],
)
def test_keys_are_one_line_too(fleet: FleetUnderAttack, manifests: dict[str, str]) -> None:
    fleet.attack(**manifests)
    assert [item.code for item in blamed(fleet.render())] == ["registration-text"]


EACH_KEY = "data:\n{{- range $key, $text := .Manifests }}\n  KEY: {{ $text | quote }}{{ end }}\n"


@pytest.mark.parametrize("key", ["'null'", "'~'", "''", "'8080'", "'true'", "'2026-11-23'"])
@pytest.mark.parametrize("is_quoted", [False, True], ids=["plain", "quoted"])
def test_a_key_that_is_no_text(fleet: FleetUnderAttack, key: str, *, is_quoted: bool) -> None:
    """Clusters read all objects of a file or none: kustomize refuses such a key."""
    printed = "{{ $key | quote }}" if is_quoted else "{{ $key }}"
    fleet.commit_main("kind: ConfigMap\n" + EACH_KEY.replace("KEY", printed))
    fleet.attack(**{key: "x"})
    codes = [item.code for item in blamed(fleet.render())]
    assert codes == ([] if is_quoted else ["registration-documents"])


def test_a_control_character_in_the_name_of_an_environment(fleet: FleetUnderAttack) -> None:
    fleet.attack(more="")
    text = (fleet.folder / "evil/workload.yaml").read_text()
    fleet.deliver("evil", text.replace("environment: dev", r'environment: "de\nv"'))
    (warning,) = blamed(fleet.render())
    assert "deploymentTargets.0.environment has the control character" in warning.message


ONE_LINE = {
    "a quote ends a quoted text": (
        'spec: {a: "{{ .Manifests.description }}", b: c}',
        """'x", "kind": "Secret'""",
    ),
    "a flow mapping gets another key": (
        "spec: {a: {{ .Manifests.description }}, b: c}",
        "'x, namespace: kube-system'",
    ),
    "a comment hides what follows": (
        "metadata: {labels: {a: {{ .Manifests.description }}}, namespace: team}",
        "'x}} #'",
    ),
    "an anchor": ("a: {{ .Manifests.description }}\nb: 1", "'*nowhere'"),
    "the document is no YAML any more": ("a: {{ .Manifests.description }}", """'"'"""),
    "a hyphen": ("a: {{ .Manifests.description }}", "'-'"),
    "a key in a list": ("a:\n  - {{ .Manifests.description }}", "'x:'"),
    "another key anywhere": ("spec: {a: {{ .Manifests.description }}, b: c}", "'x, prune: z'"),
    "a key that there is already": ("spec: {a: {{ .Manifests.description }}, b: c}", "'x, b: z'"),
    "a mapping in a list": ("a: [{{ .Manifests.description }}]", "'{b: c}'"),
    "a key that is a mapping": ("a: {{ .Manifests.description }}", "'{ {x: y}: z }'"),
    "a key that is a list": ("a: [{{ .Manifests.description }}]", "'{ [[x]]: z }'"),
    "an item that is cut off": ("a: [{{ .Manifests.description }}, b]", "'x] #'"),
    "an item that is cut off, with others in its place": (
        "a: [{{ .Manifests.description }}, b]",
        "'x, y] #'",
    ),
    "a list in a text's place": ("a: {{ .Manifests.description }}", "'[b, c]'"),
    "a comma alone": ("a: [{{ .Manifests.description }}, b]", "','"),
    "a space alone": ("a:\n  - {{ .Manifests.description }}\n  - b", "' '"),
    "a space that ends a block": ("a: |\n  {{ .Manifests.description }}\n  b: c", "' '"),
    "a comment in a text's place": ("a: {{ .Manifests.description }}", "'#x'"),
    "a question in a flow mapping": ("a: {b: {{ .Manifests.description }}, c: d}", "'x?y'"),
    "a question in a list": ("a: [{{ .Manifests.description }}]", "'why?'"),
    "a name that is not made of it": (
        "metadata: {a: {{ .Manifests.description }}, name: calm}",
        "'x, name: other, b: c'",
    ),
    "a script in a template": (
        'a: {{ .Manifests.description }}\n{{ if contains "\'" .Manifests.description }}---\nkind: '
        "Secret{{ end }}",
        '''"it's"''',
    ),
}


@breaks(
    "a plain question mark is read in flow mappings",
    turned(
        "kalypso_actions.rendering.outline._Documents._follow_flow",
        "'?' in event.value",
        "'??' in event.value",
    ),
)
@breaks(
    "the items of a Template may be cut off",
    turned(
        "kalypso_actions.rendering.outline._Documents._add_place",
        "self.places.append((self.file, item, ITEM))",
        "None",
    ),
)
@breaks(
    "special characters may change the documents",
    turned(
        "kalypso_actions.rendering.delivered.Trial.judged",
        "not fault",
        "not isinstance(outcome, Failure)",
    ),
)
@pytest.mark.parametrize(("line", "text"), ONE_LINE.values(), ids=ONE_LINE.keys())
def test_one_line_does_not_change_the_documents(
    fleet: FleetUnderAttack, line: str, text: str
) -> None:
    fleet.commit_main(f"apiVersion: v1\nkind: ConfigMap\n{line}\n")
    fleet.attack(description=text)
    fleet.refused(
        "registration-documents", "the text of manifests.description changes the documents", 12
    )


@breaks(
    "a source that is a number in YAML is not compared",
    turned("kalypso_actions.rendering.delivered._is_number", "key in _USUAL", "key == text"),
)
@pytest.mark.parametrize(
    ("key", "text", "fault"),
    [
        ("branch", "@x", "not YAML"),
        ("path", "@x", "not YAML"),
        ("repo", "https://git.test/evil:", "not YAML"),
        ("path", "null", "no text"),
        ("branch", "true", "no text"),
        ("branch", "1e3", "no text"),
        ("branch", "1.10", "no text"),
        ("branch", "2026-11-23", "no text"),
    ],
)
def test_plain_characters_leave_no_place(
    fleet: FleetUnderAttack, key: str, text: str, fault: str
) -> None:
    fleet.attack(**{key: f"'{text}'"})
    document, files = fleet.rendered()
    (warning,) = blamed(document)
    assert warning.code == "registration-documents"
    assert f"the text of manifests.{key} changes the documents" in warning.message
    assert fault in warning.message
    assert EVIL not in files
    assert CALM in files


@pytest.mark.parametrize("text", ["true", "1e3", "@x"])
def test_a_quoted_text_may_be_a_number(fleet: FleetUnderAttack, text: str) -> None:
    fleet.commit_main("kind: A\na: {{ .Manifests.branch | quote }}\nb: {{ .Manifests.replicas }}\n")
    for name in ("calm", "evil"):
        manifests = {**MANIFESTS, "branch": f"'{text}'", "replicas": "'3'"}
        fleet.deliver(name, workload(name, manifests))
    document = fleet.render()
    assert (document.problems, document.warnings) == ((), ())


SPLIT = '# {{ index (splitList "," .Manifests.hosts) 1 }}\n'


@pytest.mark.parametrize(
    ("line", "hosts"),
    [
        (
            'metadata: {labels: {h: "{{ .Manifests.hosts }}"}, name: a}',
            """'a,b,"}, namespace: kube-system, name: coredns, x: {y: "'""",
        ),
        ("metadata: {labels: {h: {{ .Manifests.hosts }}}, name: a}", "'a,b, namespace: team'"),
        ('a: {{ if hasPrefix "x" .Manifests.hosts }}{{ fail "x" }}{{ end }}', """'{"a": "x,y"}'"""),
    ],
    ids=["quotes", "a key", "nothing neutral renders"],
)
def test_no_text_is_unchecked_where_neutral_ones_fail(
    fleet: FleetUnderAttack, line: str, hosts: str
) -> None:
    fleet.commit_main(f"apiVersion: v1\nkind: ConfigMap\n{SPLIT}{line}\n")
    calm = (fleet.folder / "calm/workload.yaml").read_text()
    fleet.deliver("calm", f"{calm}        hosts: 'a,b'\n")
    fleet.attack(hosts=hosts)
    warning = blamed(fleet.render())[0]
    assert warning.code == "registration-documents"


def test_a_list_that_a_template_splits(fleet: FleetUnderAttack) -> None:
    fleet.commit_main(f"kind: A\n{SPLIT}a: [{{{{ .Manifests.hosts }}}}]\n")
    for name in ("calm", "evil"):
        fleet.deliver(name, workload(name, {**MANIFESTS, "hosts": "'a, b, c'"}))
    document = fleet.render()
    assert (document.problems, document.warnings) == ((), ())


ORDINARY = {
    "a description": (
        "'Boards, at halts: all of them (or most)'",
        "a: {{ .Manifests.description | quote }}",
    ),
    "a range of versions": ("'>=1.0.0 <2.0.0'", "a: {{ .Manifests.description | quote }}"),
    "a name made of it": (
        "'>=1.0 <2'",
        'metadata: {name: a-{{ .Manifests.description | replace ">" "" | sha256sum | trunc 8 }}}',
    ),
    "a list": ("'a, b, c'", "a: [{{ .Manifests.description }}]"),
    "a sentence in a comment": ("'it is: so'", "# {{ .Manifests.description }}"),
    "emoji of several parts": (
        "'Zug \U0001f469\u200d\U0001f4bb'",
        "a: {{ .Manifests.description }}",
    ),
    "Persian": (
        "'\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'",
        "# {{ .Manifests.description }}",
    ),
    "another language": ("'Fahrgäste über 60 – 日本'", "a: {{ .Manifests.description }}"),
}


@pytest.mark.parametrize(("text", "line"), ORDINARY.values(), ids=ORDINARY.keys())
def test_ordinary_texts_pass(fleet: FleetUnderAttack, text: str, line: str) -> None:
    fleet.commit_main(f"apiVersion: v1\nkind: ConfigMap\n{line}\n")
    fleet.attack(description=text)
    document, files = fleet.rendered()
    assert (document.problems, document.warnings) == ((), ())
    assert EVIL in files


def test_the_guilty_field_is_named(fleet: FleetUnderAttack) -> None:
    ordinary = {f"note{index}": f"'note {index}'" for index in range(20)}
    fleet.commit_main("kind: {{ range .Manifests }}{{ . }}{{ end }}\n".replace("kind", "a"))
    fleet.attack(**ordinary, evil="'a: b'", zz="'and more'")
    (warning,) = blamed(fleet.render())
    assert "the text of manifests.evil changes the documents" in warning.message


def test_a_text_whose_neutral_form_fails_hides_no_other(fleet: FleetUnderAttack) -> None:
    """`xx1.0.0` is no range of versions, but the description is compared all the same."""
    fleet.commit_main(
        'kind: A\na: {{ semverCompare .Manifests.range "1.2.3" }}\n'
        'b: "{{ .Manifests.description }}"\n'
    )
    calm = (fleet.folder / "calm/workload.yaml").read_text()
    fleet.deliver("calm", f"{calm}        range: '>=1.0.0'\n")
    fleet.attack(range="'>=1.0.0'", description="""'x", "kind": "Secret'""")
    (warning,) = blamed(fleet.render())
    assert "the text of manifests.description changes the documents" in warning.message


@pytest.mark.parametrize(
    ("quoted", "unquoted", "engine"),
    [
        (".Manifests.repo | quote", ".Manifests.branch", ""),
        (".Manifests.repo | hash", ".Manifests.hash", ""),
        ("Manifests.repo | tojson", "Manifests.branch", "jinja2"),
    ],
)
def test_a_template_that_quotes_nothing_is_noted(
    fleet: FleetUnderAttack, quoted: str, unquoted: str, engine: str
) -> None:
    fleet.commit_main(f"a: {{{{ {quoted} }}}}\nb: {{{{ {unquoted} }}}}\n", engine=engine)
    inputs = ValidateInputs(places=(str(fleet.folder / "main"), str(fleet.folder / "dev")))
    notes = validate(inputs, LocalContext(Programs(os.environ), no_progress)).notes
    (note,) = [item for item in notes if item.code == "template-unquoted"]
    assert (note.where and note.where.path, note.where and note.where.line) == ("flux.yaml", 9)


def test_two_texts_together(fleet: FleetUnderAttack) -> None:
    """Each text alone breaks the YAML, but both together hide the lines between them."""
    fleet.commit_main(
        "kind: ConfigMap\na: {{ .Manifests.description }}\nnamespace: team\n"
        "b: {{ .Manifests.branch }}\n"
    )
    fleet.attack(description="'\"'", branch="'\"'")
    (warning,) = blamed(fleet.render())
    assert "changes the documents" in warning.message


def test_two_texts_hide_an_item_between_them(fleet: FleetUnderAttack) -> None:
    fleet.commit_main(
        "kind: A\na: [{{ .Manifests.branch }}, --read-only, {{ .Manifests.description }}]\n"
    )
    fleet.attack(branch='"\'"', description='"\', x, y"')
    (warning,) = blamed(fleet.render())
    assert warning.code == "registration-documents"


def test_the_environment_keeps_the_last_good_commit(kept: FleetUnderAttack) -> None:
    kept.attack(branch=ADMIN)
    document, files = kept.rendered()
    assert "branch: dev" in files[EVIL]
    assert "ClusterRoleBinding" not in "".join(files.values())
    assert (document.problems, document.degraded) == ((), True)


def test_a_jinja_template_is_judged_as_well(fleet: FleetUnderAttack) -> None:
    fleet.commit_main("kind: ConfigMap\na: {{ Manifests.description }}\n", engine="jinja2")
    fleet.attack(description="'x #'")
    assert fleet.render().warnings == ()
    fleet.attack(description="'\"x'")
    (warning,) = blamed(fleet.render())
    assert warning.code == "registration-documents"


FORM = "[^A-Za-z]|^v?[0-9]"
BY_FORM = {
    "if and else": f"""\
  ref:
    {{{{- if regexMatch "{FORM}" .Manifests.branch }}}}
    semver: {{{{ .Manifests.branch | quote }}}}
    {{{{- else }}}}
    branch: {{{{ .Manifests.branch | quote }}}}
    {{{{- end }}}}
""",
    "a function": f"""\
  ref:
    {{{{ ternary "semver" "branch" (regexMatch "{FORM}" .Manifests.branch) }}}}: {{{{ .Manifests.branch | quote }}}}
""",
    "a value": f"""\
  ref: {{{{ "{{" }}}}{{{{ if regexMatch "{FORM}" .Manifests.branch }}}}semver{{{{ else }}}}branch{{{{ end }}}}: {{{{ .Manifests.branch | squote }}}}{{{{ "}}" }}}}
""",
    "with": """\
  ref:
    {{- with regexFind "^v?[0-9].*|[~^<>=*].*" .Manifests.branch }}
    semver: {{ . | quote }}
    {{- else }}
    branch: {{ .Manifests.branch | quote }}
    {{- end }}
""",
}
UNQUOTED = BY_FORM["if and else"].replace(" | quote", "").replace(".branch", ".description")
HEAD = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: a}\nspec:\n"


@breaks(
    "every dependence on a text is an injection",
    turned(
        "kalypso_actions.rendering.delivered.Trial.difference",
        "fault if self._difference_of_prints(actual, keys) else ''",
        "fault",
    ),
)
@pytest.mark.parametrize(
    "branch", [">=1.0.0 <2.0.0", "^1.2.3", "~1.2", "1.10", "*", "v1.*", "1 || 2"]
)
@pytest.mark.parametrize("spec", BY_FORM.values(), ids=BY_FORM)
def test_a_text_may_choose_between_fields_of_an_object(
    fleet: FleetUnderAttack, spec: str, branch: str
) -> None:
    fleet.commit_main(HEAD + spec)
    fleet.attack(branch=f"'{branch}'")
    document, files = fleet.rendered()
    assert (document.problems, document.warnings) == ((), ())
    assert "semver: " in files[EVIL]
    assert "branch: " in files[CALM]


BEGINS = 'Manifests.branch[0] in "0123456789v^~*<>="'
BY_FORM_IN_JINJA = {
    "if and else": f"""\
  ref:
    {{%- if {BEGINS} %}}
    semver: {{{{ Manifests.branch | tojson }}}}
    {{%- elif Manifests.branch == "none" %}}
    tag: none
    {{%- else %}}
    branch: {{{{ Manifests.branch | tojson }}}}
    {{%- endif %}}
""",
    "inline": f"""\
  ref:
    {{{{ "semver" if {BEGINS} else "branch" }}}}: {{{{ Manifests.branch | tojson }}}}
""",
}


@breaks(
    "a condition of Jinja2 is not followed",
    turned(_decided, "decisions.decide(bool(value))", "value"),
)
@pytest.mark.parametrize("branch", [">=1.0.0 <2.0.0", "^1.2.3", "v1.*", "1 || 2"])
@pytest.mark.parametrize("spec", BY_FORM_IN_JINJA.values(), ids=BY_FORM_IN_JINJA)
def test_a_text_may_choose_between_fields_in_jinja(
    fleet: FleetUnderAttack, spec: str, branch: str
) -> None:
    fleet.commit_main(HEAD + spec, engine="jinja2")
    fleet.attack(branch=f"'{branch}'")
    document, files = fleet.rendered()
    assert (document.problems, document.warnings) == ((), ())
    assert "semver: " in files[EVIL]
    assert "branch: " in files[CALM]


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (BY_FORM_IN_JINJA["if and else"].replace(" | tojson", ""), ">x, [z]: y"),
        (BY_FORM_IN_JINJA["inline"].replace(" | tojson", ""), "1: {a: b}"),
        ("  a: b\n{% if " + BEGINS + " %}---\n" + HEAD + "  a: c\n{% endif %}", ">1"),
    ],
)
def test_another_choice_in_jinja_is_an_injection(
    fleet: FleetUnderAttack, spec: str, text: str
) -> None:
    spec = spec.replace("Manifests.branch", "Manifests.description")
    fleet.commit_main(HEAD + spec, engine="jinja2")
    fleet.attack(description=f"'{text}'")
    (warning,) = blamed(fleet.render())
    assert warning.code == "registration-documents"


@breaks(
    "what a chosen field prints is not compared",
    turned(
        "kalypso_actions.rendering.delivered.Trial.difference",
        "fault if self._difference_of_prints(actual, keys) else ''",
        "''",
    ),
)
@breaks(
    "a text may choose between objects",
    turned(
        "kalypso_actions.rendering.delivered.Trial.difference",
        "not fault or object_difference(actual_outline, expected, other_outline)",
        "not fault",
    ),
)
@pytest.mark.parametrize(
    ("spec", "branch"),
    [
        (UNQUOTED, "[>x, z]"),
        (BY_FORM["if and else"].replace(" | quote", ""), "1"),
        (
            f'  a: {{{{ if regexMatch "{FORM}" .Manifests.branch }}}}b{{{{ else }}}}c\n---\nkind: Secret{{{{ end }}}}\n',
            ">x",
        ),
        (
            f'  kind: {{{{ if regexMatch "{FORM}" .Manifests.branch }}}}Bucket{{{{ else }}}}Git{{{{ end }}}}\n',
            ">x",
        ),
        (
            f'  targetNamespace: {{{{ if regexMatch "{FORM}" .Manifests.branch }}}}a{{{{ else }}}}b{{{{ end }}}}\n',
            ">x",
        ),
    ],
    ids=["unquoted", "a number", "another object", "another kind", "a namespace"],
)
def test_a_text_chooses_no_object_and_leaves_no_field(
    fleet: FleetUnderAttack, spec: str, branch: str
) -> None:
    fleet.commit_main(HEAD + spec)
    fleet.attack(**{"description" if spec == UNQUOTED else "branch": f"'{branch}'"})
    document, files = fleet.rendered()
    assert [warning.code for warning in blamed(document)] == ["registration-documents"]
    assert EVIL not in files
