"""The JSON Schemas of the output of `nodrop prove`, and of certificates (docs/certificates.md)."""

from nodrop.proofs import certificate
from nodrop.report import proof, storm
from nodrop.report.schema_parts import (
    COUNT_SCHEMA,
    FLAG_SCHEMA,
    TEXT_LIST_SCHEMA,
    TEXT_SCHEMA,
    JsonSchema,
    described_text_schema,
    list_schema,
    nullable_schema,
    object_schema,
)

_COUNT_LIST_SCHEMA: JsonSchema = list_schema(COUNT_SCHEMA)


def proof_schema() -> JsonSchema:
    """Return a new copy of the schema of a proof."""
    turn = object_schema(**{"switch": TEXT_SCHEMA, "from": TEXT_SCHEMA, "to": TEXT_SCHEMA})
    return {
        "title": "What nodrop proved",
        **object_schema(
            version={"const": proof.FORMAT_VERSION},
            claim={"const": "deadlock"},
            fabric=TEXT_SCHEMA,
            verdict={"enum": ["free", "unknown", "possible", "possible-after-failures"]},
            any_failures={"type": "boolean", "description": "Whether no number of failures makes a deadlock possible."},
            missing=list_schema(object_schema(part=TEXT_SCHEMA, fact=TEXT_SCHEMA)),
            assumptions=TEXT_LIST_SCHEMA,
            switches=COUNT_SCHEMA,
            dscps=list_schema(_number_schema(63)),
            buffers=COUNT_SCHEMA,
            steps=COUNT_SCHEMA,
            session_kinds=COUNT_SCHEMA,
            obstacles=TEXT_LIST_SCHEMA,
            search=nullable_schema(
                object_schema(
                    most=COUNT_SCHEMA,
                    states=COUNT_SCHEMA,
                    complete=FLAG_SCHEMA,
                    single=COUNT_SCHEMA,
                    classes=COUNT_SCHEMA,
                    failed=TEXT_LIST_SCHEMA,
                )
            ),
            circles=COUNT_SCHEMA,
            buffers_on_circles=COUNT_SCHEMA,
            circle=list_schema(
                object_schema(
                    switch=TEXT_SCHEMA,
                    port=TEXT_SCHEMA,
                    group=_number_schema(7),
                    dscp=_number_schema(63),
                    destination=TEXT_SCHEMA,
                    source=TEXT_SCHEMA,
                    receiver=TEXT_SCHEMA,
                    packets=described_text_schema("The packets that the buffer holds and that wait, in words."),
                )
            ),
            change=nullable_schema(
                object_schema(
                    shared_asn=TEXT_LIST_SCHEMA,
                    vlans=list_schema(object_schema(switch=TEXT_SCHEMA, vlan=COUNT_SCHEMA)),
                    turns=list_schema(turn),
                    classes={"type": ["integer", "null"], "minimum": 1},
                )
            ),
        ),
    }


def pause_storm_schema() -> JsonSchema:
    """Return a new copy of the schema of the reach of pauses."""
    port = _fixed_columns_schema(TEXT_SCHEMA, TEXT_SCHEMA)
    time: JsonSchema = {"type": ["number", "null"], "minimum": 0}
    step = object_schema(
        step=COUNT_SCHEMA,
        to_hosts=FLAG_SCHEMA,
        ports=COUNT_SCHEMA,
        example=port,
        over=nullable_schema(port),
        least_us=time,
        most_us=time,
    )
    freeze = object_schema(
        ends={"type": ["boolean", "null"], "description": "Whether the watchdog of the port ends it; null is unknown."},
        least_ms=time,
        most_ms=time,
        action={"enum": ["drop", "forward", "alert", None]},
    )
    row = object_schema(
        ports=list_schema(port),
        host_ports=COUNT_SCHEMA,
        hosts=COUNT_SCHEMA,
        gpus=COUNT_SCHEMA,
        fabric_ports=COUNT_SCHEMA,
        steps=list_schema(step),
        freeze=freeze,
        next_watchdog=nullable_schema(object_schema(port=port, least_ms=time)),
    )
    return {
        "title": "What each NIC stops that pauses for ever",
        **object_schema(
            version={"const": storm.FORMAT_VERSION},
            claim={"const": "storm"},
            fabric=TEXT_SCHEMA,
            missing=list_schema(object_schema(part=TEXT_SCHEMA, fact=TEXT_SCHEMA)),
            storms=list_schema(row),
        ),
    }


def certificate_schema() -> JsonSchema:
    """Return a new copy of the schema of a certificate."""
    return {
        "title": "A certificate about deadlock",
        "description": "docs/certificates.md explains each key, and how to check the claim.",
        **object_schema(
            version={"const": certificate.FORMAT_VERSION},
            claim={"enum": ["deadlock-free", "deadlock-possible"]},
            failures={"enum": ["none", "any", "listed"]},
            failed=list_schema(_fixed_columns_schema(TEXT_SCHEMA, TEXT_SCHEMA)),
            fabric=TEXT_SCHEMA,
            files=list_schema(object_schema(path=TEXT_SCHEMA, blake2b=_hex_schema(32))),
            rests_on=list_schema(object_schema(part=TEXT_SCHEMA, missing=TEXT_SCHEMA)),
            assumptions=TEXT_LIST_SCHEMA,
            premises=_premises_schema(),
            witness=_witness_schema(),
            seal=_hex_schema(64),
        ),
    }


def _premises_schema() -> JsonSchema:
    one_map = object_schema(
        tc=_number_list_schema(64, 15),
        group=_number_list_schema(16, 7),
        queue=_number_list_schema(16, 63),
        dscp=_number_or_null_list_schema(16, 63),
        pauses=_number_keyed_schema(list_schema(_number_schema(7))),
        stops=_number_keyed_schema(COUNT_SCHEMA),
    )
    channel = _fixed_columns_schema(TEXT_SCHEMA, TEXT_SCHEMA, TEXT_SCHEMA, TEXT_SCHEMA, COUNT_SCHEMA, COUNT_SCHEMA)
    kind = object_schema(passes=nullable_schema(COUNT_SCHEMA), keeps_path=FLAG_SCHEMA, own_as=COUNT_SCHEMA)
    tunnel = object_schema(
        at=TEXT_SCHEMA,
        servers=COUNT_SCHEMA,
        to=COUNT_SCHEMA,
        outside=_number_or_null_list_schema(16, 63),
        queue=_number_or_null_list_schema(16, 63),
    )
    member = object_schema(
        **{
            "out": list_schema(_fixed_columns_schema(COUNT_SCHEMA, nullable_schema(COUNT_SCHEMA))),
            "in": _COUNT_LIST_SCHEMA,
        }
    )
    flood = object_schema(at=TEXT_SCHEMA, vlan=COUNT_SCHEMA, to=COUNT_SCHEMA, members=list_schema(member))
    return object_schema(
        maps=list_schema(one_map),
        channels=list_schema(channel),
        tunnels=list_schema(tunnel),
        floods=list_schema(flood),
        destinations=list_schema(TEXT_LIST_SCHEMA),
        entries=_mapping_schema(_COUNT_LIST_SCHEMA),
        ends=_mapping_schema(COUNT_SCHEMA),
        next_hops=_mapping_schema(list_schema(object_schema(to=COUNT_SCHEMA, over=_COUNT_LIST_SCHEMA))),
        outer=COUNT_SCHEMA,
        as_numbers=_mapping_schema(COUNT_SCHEMA),
        sessions=list_schema(_fixed_columns_schema(TEXT_SCHEMA, TEXT_SCHEMA, COUNT_SCHEMA)),
        session_kinds=list_schema(kind),
        sets=list_schema(list_schema(_fixed_columns_schema(COUNT_SCHEMA, COUNT_SCHEMA))),
    )


def _witness_schema() -> JsonSchema:
    entry = object_schema(
        channel=COUNT_SCHEMA,
        group=_number_schema(7),
        destination=COUNT_SCHEMA,
        dscp=_number_schema(63),
        source=TEXT_SCHEMA,
        source_dscp=_number_schema(63),
        tunnel=nullable_schema(COUNT_SCHEMA),
        flood=nullable_schema(COUNT_SCHEMA),
    )
    return object_schema(
        positions=list_schema(_fixed_columns_schema(COUNT_SCHEMA, _number_schema(7), COUNT_SCHEMA)),
        cycle=list_schema(entry),
        levels=_mapping_schema(COUNT_SCHEMA),
    )


def _number_schema(most: int) -> JsonSchema:
    return {"type": "integer", "minimum": 0, "maximum": most}


def _number_list_schema(length: int, most: int) -> JsonSchema:
    return {"type": "array", "minItems": length, "maxItems": length, "items": _number_schema(most)}


def _number_or_null_list_schema(length: int, most: int) -> JsonSchema:
    return {
        "type": "array",
        "minItems": length,
        "maxItems": length,
        "items": nullable_schema(_number_schema(most)),
    }


def _fixed_columns_schema(*columns: JsonSchema) -> JsonSchema:
    return {"type": "array", "prefixItems": list(columns), "items": False, "minItems": len(columns)}


def _mapping_schema(values: JsonSchema) -> JsonSchema:
    return {"type": "object", "additionalProperties": values}


def _number_keyed_schema(values: JsonSchema) -> JsonSchema:
    return {"type": "object", "propertyNames": {"pattern": "^[0-9]$"}, "additionalProperties": values}


def _hex_schema(length: int) -> JsonSchema:
    return {"type": "string", "pattern": f"^[0-9a-f]{{{length}}}$"}
