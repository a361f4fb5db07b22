"""Tables, rows and fields that users add to config_db.json, and lines that they add to frr.conf."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby

from nodrop.errors import InputProblems
from nodrop.model.fabric import Device, Extra
from nodrop.model.reading import Source
from nodrop.model.routing import Bgp
from nodrop.model.states import Unknown, known_rows
from nodrop.model.values import replace_fields
from nodrop.platforms import frr
from nodrop.platforms.frr.refused import explain_refused_command, is_session_start
from nodrop.platforms.kit import extras
from nodrop.platforms.kit.expressible import unsupported_error
from nodrop.platforms.sonic import reader
from nodrop.platforms.sonic.config import CONFIG_DB_FILE
from nodrop.syntax.frr import FrrStatement, parse_frr, walk_statements
from nodrop.syntax.json import parse_json_text

_TABLE_NAME_PATTERN = re.compile(r"[A-Z][A-Z0-9_]{0,62}")
_ROW, _FIELD = 2, 3
ADDED_LINES_FILE = "frr.conf"
_OWN_PROCESS_WORDS = ["router", "bgp"]


def add_to_config_db(value_text: str, device: Device) -> str:
    """Return config_db.json with the owner's additions; UnsupportedByPlatform if one changes the model's data."""
    if device.bgp is None and isinstance(device.extra_lines, tuple) and device.extra_lines:
        raise unsupported_error(["extra_lines"], "are written into frr.conf, which a device without BGP does not have")
    for addition in extras.additions_of_device(device):
        path = ("extra", addition.key)
        if not _TABLE_NAME_PATTERN.fullmatch(addition.path[0]):
            raise unsupported_error(path, f"{addition.path[0]} is no table: those have names in capitals")
        if len(addition.path) != (_ROW if addition.value is None else _FIELD):
            raise unsupported_error(path, "is not table, row and field, or table and a row without fields")
    if not extras.additions_of_device(device):
        return value_text
    return extras.merge_extras(
        device, json.loads(value_text), _spell_tables, lambda written: _read_device_without_additions(device, written)
    )


def add_to_frr_conf(text: str, device: Device) -> str:
    """Return frr.conf with the lines that its owner adds; UnsupportedByPlatform where one changes the routing."""
    lines = [_open_own_process(line, device.bgp) for line in known_rows(device.extra_lines)]
    return extras.merge_routing_lines(text, lines, _read_routing_and_faults)


def _open_own_process(line: str, bgp: Bgp | None | Unknown) -> str:
    """Return a line of an intent as frr.conf has it: `router bgp` alone opens the switch's own BGP process."""
    return f"{line.rstrip()} {bgp.asn}" if isinstance(bgp, Bgp) and line.split() == _OWN_PROCESS_WORDS else line


def _read_routing_and_faults(written_text: str) -> tuple[object, Sequence[str]]:
    """Return the facts of frr.conf that no addition decides, and why each command is wrong that is."""
    found = frr.read_frr(written_text)
    reasons = [
        (each.statement.line, f"names the {each.kind} {each.name}, which is not defined") for each in found.undefined
    ]
    if found.not_understood:
        statements = [*walk_statements(parse_frr(written_text))]
        sessions = {each.words[1] for _, each in statements if is_session_start(each.words)}
        around = {each.line: tuple(block.text for block in blocks) for blocks, each in statements}
        reasons += [
            (each.line, explain_refused_command(around[each.line], each.text, frozenset(sessions)))
            for each in found.not_understood
        ]
    return _routing_facts(found), [reason for _, reason in sorted(reasons) if reason]


def _routing_facts(found: frr.FrrRouting) -> object:
    """Return the facts of frr.conf that no addition decides."""
    vrfs = tuple(map(extras.without_session_additions, found.vrf_bgp))
    addresses = [(name, statement.words) for name, statement in found.addresses]
    interfaces = (found.shut.keys(), found.raised.keys(), len(found.forwards_not), addresses)
    return (extras.without_session_additions(found.bgp), vrfs, found.static_routes, found.hostname, interfaces)


def _read_device_without_additions(device: Device, value_text: str) -> Device:
    source = Source(name=CONFIG_DB_FILE, display=CONFIG_DB_FILE)
    return replace_fields(
        reader.read_device(device.name, [(source, value_text.encode())]).device,
        extra=(),
        extra_lines=(),
        **extras.DEVICE_FIELDS_SET_ONLY_BY_ADDITIONS,
    )


def _spell_tables(tables: extras.SettingsTree) -> str:
    """Spell tables as the templates do: a list on one line, all else a line each."""
    return "{\n" + ",\n".join(spell_table(name, rows) for name, rows in tables.items()) + "\n}\n"


def spell_table(name: str, table_rows: object) -> str:
    """Return a table as the templates write it, without a comma behind it."""
    return _format_rows(name, table_rows, "    ")


def _format_rows(name: str, value: object, indent: str) -> str:
    key = f"{indent}{json.dumps(name, ensure_ascii=False)}: "
    if not isinstance(value, dict) or not value:
        return key + json.dumps(value, ensure_ascii=False)
    inside = ",\n".join(_format_rows(child_name, child, f"{indent}    ") for child_name, child in value.items())
    return f"{key}{{\n{inside}\n{indent}}}"


def read_file_settings(config_files: Mapping[str, bytes]) -> Iterator[Extra]:
    """Yield every field of a device's tables as it would be added, and every row without fields; none of no tables."""
    try:
        tables = parse_json_text(config_files.get(CONFIG_DB_FILE, b"{}"), CONFIG_DB_FILE)
    except InputProblems:
        return
    for name, rows in tables.items() if isinstance(tables, dict) else ():
        for row, fields in rows.items() if isinstance(rows, dict) else ():
            if fields == {}:
                yield Extra(path=(name, row))
            for field, value in fields.items() if isinstance(fields, dict) else ():
                if isinstance(value, str):
                    yield Extra(path=(name, row, field), value=value)
                elif isinstance(value, list) and value and all(isinstance(text, str) for text in value):
                    yield Extra(path=(name, row, field), value=tuple(value))


def routing_daemon_lines(bundle: Mapping[str, bytes]) -> tuple[extras.RoutingLine, ...]:
    """Return the commands of a device's frr.conf that open no block, each with the blocks that it is in."""
    return tuple(line for _, line in _numbered_routing_lines(_frr_text_of(bundle)))


def select_lines_beside_model(
    bundle: Mapping[str, bytes], lines: Collection[extras.RoutingLine]
) -> tuple[extras.RoutingLine, ...]:
    """Return those of a device's lines of frr.conf without which its file says the same of the model."""
    text = _frr_text_of(bundle)
    texts = text.split("\n")
    facts = _routing_facts(frr.read_frr(text))
    return tuple(
        line
        for number, line in _numbered_routing_lines(text)
        if line in lines
        and _routing_facts(frr.read_frr("\n".join([*texts[: number - 1], "", *texts[number:]]))) == facts
    )


def format_routing_lines(
    lines: Sequence[extras.RoutingLine],
) -> tuple[tuple[str, frozenset[extras.RoutingLine]], ...]:
    """Return lines as they can be added behind others: in their blocks, which are closed again.

    Beside each is what of `lines` goes with it: itself, or those in the block that it opens or closes.
    """
    formatted: list[tuple[str, frozenset[extras.RoutingLine]]] = []
    for blocks, own in groupby(lines, key=lambda line: line.blocks):
        inside = tuple(own)
        whole = frozenset(inside)
        formatted += [(" " * depth + block, whole) for depth, block in enumerate(blocks)]
        formatted += [(" " * len(blocks) + line.text, frozenset((line,))) for line in inside]
        formatted += [(" " * depth + "exit", whole) for depth in reversed(range(len(blocks)))]
    return tuple(formatted)


def _frr_text_of(bundle: Mapping[str, bytes]) -> str:
    return bundle.get(ADDED_LINES_FILE, b"").decode(errors="replace")


def _numbered_routing_lines(text: str) -> Iterator[tuple[int, extras.RoutingLine]]:
    for blocks, statement in walk_statements(parse_frr(text)):
        if not statement.children:
            yield statement.line, extras.RoutingLine(tuple(map(_command_of_block, blocks)), statement.text)


def _command_of_block(block: FrrStatement) -> str:
    """Return the command that opens a block as an intent has it: `router bgp` for the process of the default VRF."""
    *words, number = block.words
    return " ".join(words) if words == _OWN_PROCESS_WORDS and number.isdecimal() else block.text
