"""JSON Schemas of OCM's kinds that people write in a control plane, for editors."""

from __future__ import annotations

from typing import Any, Final

from kalypso_placement.schemas import GROUP, SCHEMAS, Schema

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
