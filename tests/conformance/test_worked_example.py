"""Merging, Azure App Configuration, a shell config and schemas in one example, computed by Go."""

from __future__ import annotations

import pytest

from kalypso_actions.model.kinds import Template
from kalypso_actions.planning.plan import Plan
from tests.builders import cluster_type, config_map, config_schema, fleet, policy, target, template
from tests.plans import plan, reading

SHELL = template(
    "envcfg",
    '{{- range $k, $v := .ConfigData }}\n{{- if kindIs "string" $v }}\n'
    "export {{ $k }}={{ $v | quote }}\n{{- end }}\n{{- end }}\n",
    '{{ if eq .Manifests.branch "prod" }}x{{ end }}',
    content_type="sh",
)

MERGED = """\
HOSTS:
    - a.local
    - b.local
LOG:
    level: debug
    sinks:
        - name: file
          path: /var/log
        - name: otlp
          port: 4318
        - name: stdout
MAX_CONN: "20"
REGION: EU-North
ZIP: "00501"
"""


def factory(config: Template, *schemas: str, own: tuple[str, ...] = ()) -> Plan:
    """Plan a paint line in a factory: two policies select the same pair."""
    common = config_map(
        "a-common",
        {
            "LOG": "level: info\nsinks:\n- name: file\n  path: /var/log\n- name: otlp\n  port: 4317\n",
            "REGION": "EU",
            "MAX_CONN": "10",
            "ZIP": "'00501'",
        },
    )
    line = config_map(
        "b-line",
        {
            "LOG": "level: debug\nsinks:\n- name: otlp\n  port: 4318\n- name: stdout\n",
            "HOSTS": "[a.local, b.local]",
        },
        line="body",
    )
    azure = config_map(
        "azure-app-config-1",
        {
            "MAX_CONN": "20",
            "cluster-type.factory.REGION": "EU-North",
            "cluster-type.other.REGION": "US",
        },
        platform_config="no",
    )
    return plan(
        fleet(
            environment="qa",
            cluster_types=[
                cluster_type(
                    "factory",
                    reconciler="plain",
                    namespace_service="plain",
                    config_type="envcfg",
                    site="north",
                )
            ],
            policies=[policy("one"), policy("two")],
            config_maps=[common, line, azure],
            config_schemas=[config_schema(f"schema-{n}", text) for n, text in enumerate(schemas)],
            templates=[template("plain", "{{ .Namespace }}\n"), config],
        ),
        reading(
            target(
                "line1",
                workload="paint",
                workspace="shop",
                environment="qa",
                line="body",
                config_schemas=own,
                manifests={
                    "repo": "https://github.com/acme/paint-gitops",
                    "branch": "qa",
                    "path": "./line1",
                },
            )
        ),
    )


def test_the_tree() -> None:
    result = factory(SHELL)
    assert not result.problems
    assert [item.assignment.policies for item in result.assignments] == [("one", "two")]
    folder = {
        path: text for path, text in result.changes.files.items() if path.startswith("factory/")
    }
    assert folder == {
        "factory/README.md": b"This folder contains deployment targets scheduled on the cluster type",
        "factory/paint-line1/reconciler.yaml": b"qa-factory-paint-line1\n",
        "factory/paint-line1/namespace.yaml": b"qa-factory-paint-line1\n",
        "factory/paint-line1/platform-config.sh": b'\nexport MAX_CONN="20"\nexport REGION="EU-North"\nexport ZIP="00501"\n',
    }


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        ("{{ toYaml .ConfigData }}\n", MERGED),
        ("{{ hash .ConfigData }}", "9909393411366284633"),
        ("{{ .ConfigData.NOPE }} {{ .Manifests.nope }}", "<no value> <no value>"),
    ],
)
def test_what_templates_see(manifest: str, expected: str) -> None:
    result = factory(template("envcfg", manifest))
    assert result.changes.content("factory/paint-line1/platform-config.yaml").decode() == expected


def test_both_schemas_fail() -> None:
    result = factory(
        SHELL,
        '{"type":"object","required":["REGION","MAX_CONN"],"properties":{"MAX_CONN":'
        '{"type":"integer","maximum":15}}}',
        own=('{"type":"object","required":["DB_URL"]}',),
    )
    (item,) = result.assignments
    assert item.failure is not None
    assert item.failure.message == (
        "Config data validation failed: \n - MAX_CONN: Must be less than or equal to 15\n\n"
        "- DB_URL is required\n"
    )


def test_a_text_of_digits_is_a_number_to_schemas() -> None:
    result = factory(SHELL, '{"properties": {"ZIP": {"type": "string"}}}')
    assert result.problems[0].message == (
        "paint-line1 on factory: Config data validation failed: "
        "ZIP: Invalid type. Expected: string, given: integer"
    )
