"""Scalars of an intent: text that the YAML loader left as it stood, typed by the schema."""

import re
from typing import Annotated, Any

import netaddr
from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, WithJsonSchema

from nodrop import units

NAME_PATTERN = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
MAX_ASN = 4294967294


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("expected text")
    return value


def _reader(read: Any) -> BeforeValidator:
    def convert(value: Any) -> Any:
        return read(_text(value)) if not isinstance(value, int | float | tuple) or isinstance(value, bool) else value

    return BeforeValidator(convert)


def _integer(text: str) -> int:
    if not re.fullmatch(r"\d{1,18}", text):
        raise ValueError("expected a whole number")
    return int(text)


def _name(text: str) -> str:
    if not re.fullmatch(NAME_PATTERN, text):
        raise ValueError("expected a name of letters, digits, dots, dashes and underscores, 63 at most")
    return text


def _plain_text(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("expected text without control characters")
    return text


def _number(text: str) -> float:
    if not re.fullmatch(r"\d{1,6}(\.\d{1,6})?", text):
        raise ValueError("expected a number such as 1 or 3.5")
    return float(text)


def _on_off(text: str) -> bool:
    if text not in ("on", "off"):
        raise ValueError("expected on or off")
    return text == "on"


def _network(text: str) -> str:
    try:
        network = netaddr.IPNetwork(text)
    except (netaddr.AddrFormatError, ValueError):
        raise ValueError("expected a network such as 10.0.0.0/16") from None
    if "/" not in text:
        raise ValueError("expected a network with its prefix length, such as 10.0.0.0/16")
    if network.version != 4:
        raise ValueError("expected an IPv4 network; IPv6 is not built by this release")
    if network.ip != network.network:
        raise ValueError(f"has host bits set; expected {network.cidr}")
    return str(network.cidr)


def _address(text: str) -> str:
    try:
        address = netaddr.IPAddress(text, flags=netaddr.INET_PTON)
    except (netaddr.AddrFormatError, ValueError):
        raise ValueError("expected an address such as 192.0.2.10") from None
    return str(address)


def _asn_rule(text: str) -> tuple[int, bool]:
    found = re.fullmatch(r"(\d{1,10})(\+?)", text)
    if not found or not 1 <= int(found[1]) <= MAX_ASN:
        raise ValueError("expected an AS number, or one with + to which each device's id is added")
    return int(found[1]), bool(found[2])


def _dscps(value: Any) -> Any:
    if value == "rest":
        return value
    parts = value if isinstance(value, list) else [value]
    numbers = tuple(sorted(number for part in parts for number in units.ids(_text(part))))
    if any(number > 63 for number in numbers):
        raise ValueError("expected DSCPs from 0 to 63")
    return numbers


def _one_or_more(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


def _json(pattern: str) -> WithJsonSchema:
    return WithJsonSchema({"type": ["string", "integer", "number"], "pattern": pattern})


Name = Annotated[
    str,
    BeforeValidator(_text),
    AfterValidator(_name),
    WithJsonSchema({"type": "string", "pattern": f"^{NAME_PATTERN}$"}),
]
Text = Annotated[str, BeforeValidator(_text), AfterValidator(_plain_text)]
Integer = Annotated[int, _reader(_integer), _json(r"^\d+$")]
Number = Annotated[float, _reader(_number), _json(r"^\d+(\.\d+)?$")]
Bool = StrictBool
OnOff = Annotated[
    bool,
    BeforeValidator(lambda v: v if isinstance(v, bool) else _on_off(_text(v))),
    WithJsonSchema({"enum": ["on", "off"]}),
]
Speed = Annotated[int, _reader(units.speed_mbps), WithJsonSchema({"type": "string", "pattern": r"^\d+(\.\d+)?[GM]$"})]
Bytes = Annotated[
    int, _reader(units.size_bytes), WithJsonSchema({"type": "string", "pattern": r"^\d+(\.\d+)?(B|kB|MB|KiB|MiB)$"})
]
Time = Annotated[int, _reader(units.time_ms), WithJsonSchema({"type": "string", "pattern": r"^\d+(ms|s)$"})]
Length = Annotated[int, _reader(units.length_m), WithJsonSchema({"type": "string", "pattern": r"^\d+m$"})]
Percent = Annotated[int, _reader(units.percent), WithJsonSchema({"type": "string", "pattern": r"^\d{1,3}%$"})]
Ids = Annotated[tuple[int, ...], _reader(units.ids), _json(r"^\d+(-\d+)?(,\s*\d+(-\d+)?)*$")]
Dscps = Annotated[
    Any,
    BeforeValidator(_dscps),
    WithJsonSchema(
        {
            "anyOf": [
                {"const": "rest"},
                {"type": ["integer", "string"]},
                {"type": "array", "items": {"type": ["integer", "string"]}},
            ]
        }
    ),
]
Network = Annotated[str, BeforeValidator(_text), AfterValidator(_network)]
Networks = Annotated[
    tuple[Network, ...],
    BeforeValidator(_one_or_more),
    Field(min_length=1),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
Address = Annotated[str, BeforeValidator(_text), AfterValidator(_address)]
AsnRule = Annotated[tuple[int, bool], _reader(_asn_rule), _json(r"^\d+\+?$")]
Priorities = Annotated[
    tuple[int, ...],
    BeforeValidator(lambda v: tuple(sorted(_integer(_text(p)) for p in _one_or_more(v)))),
    WithJsonSchema({"type": "array", "items": {"type": "integer"}}),
]
