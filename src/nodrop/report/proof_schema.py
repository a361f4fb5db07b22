"""The JSON Schemas of the output of `nodrop prove`, and of certificates (docs/certificates.md)."""

from nodrop.proofs import certificate
from nodrop.report import proof, storm
from nodrop.report.schema_parts import (
    COUNT_SCHEMA,
    FLAG_SCHEMA,
    TEXT_LIST_SCHEMA,
    TEXT_SCHEMA,
    Schema,
    described_text_schema,
    list_schema,
    nullable_schema,
    object_schema,
)

_COUNTS: Schema = list_schema(COUNT_SCHEMA)


def proof_schema() -> Schema:
    """Return a new copy of the schema of a proof."""
    turn = object_schema(**{"switch": TEXT_SCHEMA, "from": TEXT_SCHEMA, "to": TEXT_SCHEMA})
    return {
        "title": "What nodrop proved",
        **object_schema(
            version={"const": proof.VERSION},
            claim={"const": "deadlock"},
            fabric=TEXT_SCHEMA,
            verdict={"enum": ["free", "unknown", "possible", "possible-after-failures"]},
            any_failures={"type": "boolean", "description": "Whether no number of failures makes a deadlock possible."},
            missing=list_schema(object_schema(part=TEXT_SCHEMA, fact=TEXT_SCHEMA)),
            assumptions=TEXT_LIST_SCHEMA,
            switches=COUNT_SCHEMA,
            dscps=list_schema(_number(63)),
            buffers=COUNT_SCHEMA,
            steps=COUNT_SCHEMA,
            session_kinds=COUNT_SCHEMA,
            obstacles=TEXT_LIST_SCHEMA,
            search=nullable_schema(
                object_schema(most=COUNT_SCHEMA, states=COUNT_SCHEMA, complete=FLAG_SCHEMA, failed=TEXT_LIST_SCHEMA)
            ),
            circles=COUNT_SCHEMA,
            buffers_on_circles=COUNT_SCHEMA,
            circle=list_schema(
                object_schema(
                    switch=TEXT_SCHEMA,
                    port=TEXT_SCHEMA,
                    group=_number(7),
                    dscp=_number(63),
                    destination=TEXT_SCHEMA,
                    source=TEXT_SCHEMA,
                    receiver=TEXT_SCHEMA,
                    packets=described_text_schema("The packets that the buffer holds and that wait, in words."),
                )
            ),
            change=nullable_schema(
                object_schema(
                    shared_asn=TEXT_LIST_SCHEMA,
                    turns=list_schema(turn),
                    classes={"type": ["integer", "null"], "minimum": 1},
                )
            ),
        ),
    }


def storm_schema() -> Schema:
    """Return a new copy of the schema of the reach of pauses."""
    port = _row(TEXT_SCHEMA, TEXT_SCHEMA)
    time: Schema = {"type": ["number", "null"], "minimum": 0}
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
            version={"const": storm.VERSION},
            claim={"const": "storm"},
            fabric=TEXT_SCHEMA,
            missing=list_schema(object_schema(part=TEXT_SCHEMA, fact=TEXT_SCHEMA)),
            storms=list_schema(row),
        ),
    }


def certificate_schema() -> Schema:
    """Return a new copy of the schema of a certificate."""
    return {
        "title": "A certificate about deadlock",
        "description": "docs/certificates.md explains each key, and how to check the claim.",
        **object_schema(
            version={"const": certificate.VERSION},
            claim={"enum": ["deadlock-free", "deadlock-possible"]},
            failures={"enum": ["none", "any", "listed"]},
            failed=list_schema(_row(TEXT_SCHEMA, TEXT_SCHEMA)),
            fabric=TEXT_SCHEMA,
            files=list_schema(object_schema(path=TEXT_SCHEMA, blake2b=_hex(32))),
            rests_on=list_schema(object_schema(part=TEXT_SCHEMA, missing=TEXT_SCHEMA)),
            assumptions=TEXT_LIST_SCHEMA,
            premises=_premises_schema(),
            witness=_witness_schema(),
            seal=_hex(64),
        ),
    }


def _premises_schema() -> Schema:
    one_map = object_schema(
        tc=_numbers(64, 15),
        group=_numbers(16, 7),
        queue=_numbers(16, 63),
        dscp={"type": "array", "minItems": 16, "maxItems": 16, "items": nullable_schema(_number(63))},
        pauses=_by_number(list_schema(_number(7))),
        stops=_by_number(COUNT_SCHEMA),
    )
    channel = _row(TEXT_SCHEMA, TEXT_SCHEMA, TEXT_SCHEMA, TEXT_SCHEMA, COUNT_SCHEMA, COUNT_SCHEMA)
    kind = object_schema(passes=nullable_schema(COUNT_SCHEMA), keeps_path=FLAG_SCHEMA, own_as=COUNT_SCHEMA)
    return object_schema(
        maps=list_schema(one_map),
        channels=list_schema(channel),
        destinations=list_schema(TEXT_LIST_SCHEMA),
        entries=_by_name(_COUNTS),
        ends=_by_name(COUNT_SCHEMA),
        next_hops=_by_name(list_schema(object_schema(to=COUNT_SCHEMA, over=_COUNTS))),
        outer=COUNT_SCHEMA,
        as_numbers=_by_name(COUNT_SCHEMA),
        sessions=list_schema(_row(TEXT_SCHEMA, TEXT_SCHEMA, COUNT_SCHEMA)),
        session_kinds=list_schema(kind),
        sets=list_schema(list_schema(_row(COUNT_SCHEMA, COUNT_SCHEMA))),
    )


def _witness_schema() -> Schema:
    entry = object_schema(
        channel=COUNT_SCHEMA,
        group=_number(7),
        destination=COUNT_SCHEMA,
        dscp=_number(63),
        source=TEXT_SCHEMA,
        source_dscp=_number(63),
    )
    return object_schema(
        positions=list_schema(_row(COUNT_SCHEMA, _number(7), COUNT_SCHEMA)),
        cycle=list_schema(entry),
        levels=_by_name(COUNT_SCHEMA),
    )


def _number(most: int) -> Schema:
    return {"type": "integer", "minimum": 0, "maximum": most}


def _numbers(length: int, most: int) -> Schema:
    return {"type": "array", "minItems": length, "maxItems": length, "items": _number(most)}


def _row(*columns: Schema) -> Schema:
    return {"type": "array", "prefixItems": list(columns), "items": False, "minItems": len(columns)}


def _by_name(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _by_number(values: Schema) -> Schema:
    return {"type": "object", "propertyNames": {"pattern": "^[0-9]$"}, "additionalProperties": values}


def _hex(length: int) -> Schema:
    return {"type": "string", "pattern": f"^[0-9a-f]{{{length}}}$"}
