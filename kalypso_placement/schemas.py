"""The schemas of OCM's kinds, from its CustomResourceDefinitions, and as JSON Schemas for editors.

https://github.com/open-cluster-management-io/api (cluster/v1, v1alpha1, v1beta1, v1beta2)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

GROUP: Final = "cluster.open-cluster-management.io"

KEY: Final = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)
QUANTITY: Final = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
EFFECTS: Final = ("NoSelect", "PreferNoSelect", "NoSelectIfNew")


@dataclass(frozen=True, slots=True)
class Schema:
    """A structural schema with the fields of OpenAPI.

    An "object" with neither `properties` nor `values` is free-form; "any" is not checked. `unique`
    are the keys of a list of type map.
    """

    type: str
    properties: Mapping[str, Schema] | None = None
    required: tuple[str, ...] = ()
    values: Schema | None = None
    items: Schema | None = None
    default: object = None
    enum: tuple[str, ...] = ()
    pattern: str = ""
    minimum: int | None = None
    maximum: int | None = None
    min_length: int = 0
    max_length: int | None = None
    max_items: int | None = None
    format: str = ""
    nullable: bool = False
    unique: tuple[str, ...] = ()


def _object(required: tuple[str, ...] = (), /, **properties: Schema) -> Schema:
    return Schema("object", properties=properties, required=required)


def _list(items: Schema, max_items: int | None = None, unique: tuple[str, ...] = ()) -> Schema:
    return Schema("array", items=items, max_items=max_items, unique=unique)


TEXT: Final = Schema("string")
INT32: Final = Schema("integer", format="int32")
FREE: Final = Schema("object")
TEXTS: Final = Schema("array", items=TEXT)

_REQUIREMENTS = _list(_object(("key", "operator"), key=TEXT, operator=TEXT, values=_list(TEXT)))
_LABELS = _object(matchExpressions=_REQUIREMENTS, matchLabels=Schema("object", values=TEXT))
_CLAIMS = _object(matchExpressions=_REQUIREMENTS)
_CONDITIONS = _list(
    _object(
        ("lastTransitionTime", "message", "reason", "status", "type"),
        lastTransitionTime=Schema("string", format="date-time"),
        message=Schema("string", max_length=32768),
        observedGeneration=Schema("integer", format="int64", minimum=0),
        reason=Schema(
            "string",
            min_length=1,
            max_length=1024,
            pattern="^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        ),
        status=Schema("string", enum=("True", "False", "Unknown")),
        type=Schema("string", max_length=316, pattern=KEY),
    )
)

_PREDICATE = _object(
    requiredClusterSelector=_object(
        celSelector=_object(celExpressions=_list(TEXT)),
        claimSelector=_CLAIMS,
        labelSelector=_LABELS,
    )
)
_PRIORITIZER = _object(
    ("scoreCoordinate",),
    scoreCoordinate=_object(
        ("type",),
        addOn=_object(("resourceName", "scoreName"), resourceName=TEXT, scoreName=TEXT),
        builtIn=TEXT,
        type=Schema("string", default="BuiltIn", enum=("BuiltIn", "AddOn")),
    ),
    weight=Schema("integer", format="int32", default=1, minimum=-10, maximum=10),
)
_TOLERATION = _object(
    effect=Schema("string", enum=EFFECTS),
    key=Schema("string", max_length=316, pattern=KEY),
    operator=Schema("string", default="Equal"),
    tolerationSeconds=Schema("integer", format="int64"),
    value=Schema("string", max_length=1024),
)
_GROUPS = _object(
    clustersPerDecisionGroup=Schema(
        "int-or-string", default="100%", pattern="^((100|[1-9][0-9]{0,1})%|[1-9][0-9]*)$"
    ),
    decisionGroups=_list(
        _object(
            ("groupClusterSelector", "groupName"),
            groupClusterSelector=_object(claimSelector=_CLAIMS, labelSelector=_LABELS),
            groupName=Schema("string", pattern="^[a-zA-Z0-9][-A-Za-z0-9_.]{0,61}[a-zA-Z0-9]$"),
        )
    ),
)
_SPREAD = _object(
    ("topologyKey", "topologyKeyType"),
    maxSkew=Schema("integer", format="int32", default=1, minimum=1),
    topologyKey=Schema("string", max_length=316, pattern=KEY),
    topologyKeyType=Schema("string", enum=("Label", "Claim")),
    whenUnsatisfiable=Schema(
        "string", default="ScheduleAnyway", enum=("DoNotSchedule", "ScheduleAnyway")
    ),
)
PLACEMENT: Final = _object(
    spec=_object(
        clusterSets=_list(TEXT),
        decisionStrategy=_object(groupStrategy=_GROUPS),
        numberOfClusters=INT32,
        predicates=_list(_PREDICATE),
        prioritizerPolicy=_object(
            configurations=_list(_PRIORITIZER), mode=Schema("string", default="Additive")
        ),
        scoreRateLimit=Schema("string", default="1m", pattern="^[0-9]+[hms]$"),
        sortBy=Schema("string", default="ClusterName", enum=("ClusterName", "Score")),
        spreadPolicy=_object(spreadConstraints=_list(_SPREAD, max_items=8)),
        tolerations=_list(_TOLERATION),
    ),
    status=FREE,
)

TAINTS: Final = _list(
    _object(
        ("effect", "key"),
        effect=Schema("string", enum=EFFECTS),
        key=Schema("string", max_length=316, pattern=KEY),
        timeAdded=Schema("string", format="date-time", nullable=True),
        value=Schema("string", max_length=1024),
    )
)
RESOURCES: Final = Schema(
    "object", values=Schema("int-or-string", format="quantity", pattern=QUANTITY)
)
_CLUSTER = _object(
    spec=_object(
        hubAcceptsClient=Schema("boolean"),
        leaseDurationSeconds=Schema("integer", format="int32", default=60),
        managedClusterClientConfigs=_list(_object(("url",), caBundle=TEXT, url=TEXT)),
        taints=TAINTS,
    ),
    status=_object(
        allocatable=RESOURCES,
        capacity=RESOURCES,
        clusterClaims=_list(
            _object(
                name=Schema("string", min_length=1, max_length=253),
                value=Schema("string", min_length=1, max_length=1024),
            )
        ),
        conditions=_CONDITIONS,
        managedNamespaces=_list(FREE),
        version=_object(kubernetes=TEXT),
    ),
)


def _set_schema(by_label: str) -> Schema:
    selector = _object(
        labelSelector=_LABELS,
        selectorType=Schema("string", default=by_label, enum=(by_label, "LabelSelector")),
    )
    default = {"selectorType": by_label}
    spec = _object(
        clusterSelector=Schema("object", properties=selector.properties, default=default),
        managedNamespaces=_list(FREE),
    )
    return _object(
        spec=Schema("object", properties=spec.properties, default={"clusterSelector": default}),
        status=FREE,
    )


_SCORE = _object(
    status=_object(
        conditions=_CONDITIONS,
        scores=_list(
            _object(
                ("name", "value"),
                name=TEXT,
                value=Schema("integer", format="int32", minimum=-100, maximum=100),
            ),
            unique=("name",),
        ),
        validUntil=Schema("string", format="date-time"),
    ),
)

SCHEMAS: Final[Mapping[tuple[str, str], Schema]] = {
    ("v1beta1", "Placement"): PLACEMENT,
    ("v1", "ManagedCluster"): _CLUSTER,
    ("v1beta1", "ManagedClusterSet"): _set_schema("LegacyClusterSetLabel"),
    ("v1beta2", "ManagedClusterSet"): _set_schema("ExclusiveClusterSetLabel"),
    ("v1beta1", "ManagedClusterSetBinding"): _object(spec=_object(clusterSet=TEXT), status=FREE),
    ("v1beta2", "ManagedClusterSetBinding"): _object(spec=_object(clusterSet=TEXT), status=FREE),
    ("v1beta1", "PlacementDecision"): _object(
        status=_object(
            decisions=_list(_object(("clusterName", "reason"), clusterName=TEXT, reason=TEXT))
        ),
    ),
    ("v1alpha1", "AddOnPlacementScore"): _SCORE,
}
"""The schemas by API version and kind."""


WRITTEN: Final = {"Placement": "v1beta1", "AddOnPlacementScore": "v1alpha1"}
"""The version of each kind that people write."""

DESCRIPTIONS: Final = {
    "addOn": "A score that AddOnPlacementScore objects give.",
    "builtIn": "Balance, Steady, ResourceAllocatableCPU or ResourceAllocatableMemory.",
    "celExpressions": "Conditions in CEL about `managedCluster`; all must hold.",
    "celSelector": "Selects cluster types by CEL.",
    "claimSelector": "Selects cluster types by claims: spec fields, and claim annotations.",
    "clusterSets": "The sets whose cluster types are considered; all if absent.",
    "configurations": "The prioritizers, with their weights.",
    "decisionStrategy": "How `kalypso placement` divides the decisions into groups.",
    "labelSelector": "Selects cluster types by labels.",
    "maxSkew": "How many more cluster types one value of the key may have than another.",
    "mode": "Additive: prioritizers that are not named keep their default weight; or Exact.",
    "numberOfClusters": "How many cluster types are selected; all if absent.",
    "predicates": "Conditions on cluster types; a cluster type must match one of them.",
    "prioritizerPolicy": "How the cluster types are ranked.",
    "requiredClusterSelector": "All selectors in it must hold.",
    "resourceName": "The name of the AddOnPlacementScore objects.",
    "scoreCoordinate": "The prioritizer.",
    "scoreName": "The name of the score in these objects.",
    "scores": "The scores of the cluster type that the namespace names.",
    "spreadPolicy": "How the decisions are spread over the values of a label or claim.",
    "tolerationSeconds": "For how long after `timeAdded` the taint is tolerated.",
    "tolerations": "The taints that are tolerated.",
    "topologyKey": "The label or claim over whose values the decisions are spread.",
    "topologyKeyType": "Label or Claim.",
    "validUntil": "When the scores expire.",
    "weight": "From -10 to 10.",
    "whenUnsatisfiable": "Whether cluster types that exceed maxSkew may still be selected.",
}

_METADATA: Final = {
    "type": "object",
    "required": ["name"],
    "properties": {
        **{name: {"type": "string"} for name in ("name", "namespace")},
        **{
            name: {"type": "object", "additionalProperties": {"type": "string"}}
            for name in ("labels", "annotations")
        },
    },
}


def json_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each kind, which refuses unknown fields."""
    return {kind: _of_kind(kind, version) for kind, version in WRITTEN.items()}


def _of_kind(kind: str, version: str) -> dict[str, Any]:
    schema = _json_schema(SCHEMAS[version, kind])
    schema["title"] = kind
    schema["required"] = ["apiVersion", "kind", "metadata"]
    schema["properties"] |= {
        "apiVersion": {"enum": [f"{GROUP}/{version}"]},
        "kind": {"const": kind},
        "metadata": _METADATA,
    }
    return schema


def _json_schema(schema: Schema) -> dict[str, Any]:
    types = ["integer", "string"] if schema.type == "int-or-string" else [schema.type]
    if schema.nullable:
        types.append("null")
    properties = schema.properties or {}
    # The API server fills in defaults before it checks for required fields.
    required = [name for name in schema.required if properties[name].default is None]
    limits = {
        "enum": list(schema.enum) or None,
        "pattern": schema.pattern or None,
        "minimum": schema.minimum,
        "maximum": schema.maximum,
        "minLength": schema.min_length or None,
        "maxLength": schema.max_length,
        "maxItems": schema.max_items,
        "required": required or None,
        "format": schema.format if schema.format == "date-time" else None,
    }
    written: dict[str, Any] = {"type": types if len(types) > 1 else types[0]}
    written |= {key: value for key, value in limits.items() if value is not None}
    if schema.items is not None:
        written["items"] = _json_schema(schema.items)
    if schema.values is not None:
        written["additionalProperties"] = _json_schema(schema.values)
    if schema.properties is not None:
        written["additionalProperties"] = False
        written["properties"] = {name: _described(name, part) for name, part in properties.items()}
    return written


def _described(name: str, schema: Schema) -> dict[str, Any]:
    text = DESCRIPTIONS.get(name)
    return {**({"description": text} if text else {}), **_json_schema(schema)}
