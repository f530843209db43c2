"""ConfigMaps and schemas."""

from __future__ import annotations

from kalypso_actions.problem_codes.row import ProblemCode

CODES = (
    ProblemCode(
        "config-value-too-large",
        "error",
        "A value of platform configuration is too large or too deep to be read.",
        """\
data:
  TABLE: "[[[[[[[[…]]]]]]]]"
""",
        "Make it smaller, or put it in single quotes to keep it as text.",
    ),
    ProblemCode(
        "config-value-not-text",
        "warning",
        "A value of one line is read as a list or a mapping, not as text.",
        """\
data:
  MOTTO: "Note: mind the gap"
""",
        "Put it in single quotes inside the value.",
    ),
    ProblemCode(
        "config-key-boolean",
        "warning",
        "A key of a mapping is a boolean in YAML 1.1.",
        """\
data:
  SWITCHES: |
    on: 1
""",
        "Put the key in quotes.",
    ),
    ProblemCode(
        "config-list-nameless",
        "warning",
        "Lists of mappings merge by the elements' names; several elements have none.",
        """\
data:
  SERVERS: |
    - host: a
    - host: b
""",
        "Give every element a name.",
    ),
    ProblemCode(
        "config-label-wrong",
        "warning",
        'The label of this ConfigMap is not quite `platform-config: "true"`, so it is not '
        "platform configuration.",
        """\
kind: ConfigMap
metadata:
  labels:
    platform-config: "True"
""",
        'Write `platform-config: "true"`.',
    ),
    ProblemCode(
        "config-label-missing",
        "warning",
        "This ConfigMap has no label `platform-config`, so it configures nothing.",
        """\
kind: ConfigMap
metadata:
  name: region
""",
        'Add `platform-config: "true"`, or `"false"` if it has another purpose.',
    ),
    ProblemCode(
        "config-secret",
        "warning",
        "A value of platform configuration looks like a secret. Configuration is written to GitOps "
        "repositories in plain text.",
        """\
data:
  DATABASE_PASSWORD: hunter2-9fJ2kq
""",
        "Revoke the secret, store it elsewhere, such as in a vault, and write its name there.",
    ),
    ProblemCode(
        "config-unmatched",
        "warning",
        "No cluster type and target together can have the labels of this ConfigMap: it "
        "applies nowhere.",
        """\
kind: ConfigMap
metadata:
  labels:
    platform-config: "true"
    region: west-eu   # the cluster types have west-us
""",
        "Correct the label; the advice names the nearest one that exists.",
    ),
    ProblemCode(
        "config-refused",
        "error",
        "The merged configuration of an assignment violates a ConfigSchema.",
        """\
# the schema has {"properties": {"TIMEOUT": {"maximum": 45}}}
data:
  TIMEOUT: "60"
""",
        "Correct the value in its ConfigMap, or the schema.",
    ),
    ProblemCode(
        "schema-invalid",
        "error",
        "The text of a schema is not a JSON Schema.",
        """\
spec:
  schema: |
    {"type": "objekt"}
""",
        "Correct the schema.",
    ),
    ProblemCode(
        "schema-keyword-unknown",
        "warning",
        "A keyword of a schema has no effect: it is misspelled, or belongs to a draft of JSON "
        "Schema after draft 7.",
        """\
spec:
  schema: |
    {"requierd": ["TIMEOUT"]}
""",
        "Correct the keyword; the advice names the nearest one.",
    ),
    ProblemCode(
        "schema-unmatched",
        "warning",
        "No cluster type and target together can have the labels of this ConfigSchema: it "
        "checks nothing.",
        """\
kind: ConfigSchema
metadata:
  labels:
    cluster-type: lrage
""",
        "Correct the label; the advice names the nearest one that exists.",
    ),
)
