"""Secrets in a SONiC configuration: each remarked where it stands, and none of them shown.

Sources: sonic-buildimage src/sonic-yang-models/yang-models (sonic-system-tacacs, -radius, -ldap, -snmp, -macsec, -ntp,
sonic-bgp-common); `key_encrypt` is the HLD of TACACS+ passkey encryption.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from nodrop.model.change import CommandsForCase
from nodrop.model.reading import FilePlace, Remedy
from nodrop.platforms.kit.secrets import SecretExposure, build_secret_remark, exposure_of_secret, find_frr_secrets
from nodrop.platforms.sonic.config import DeviceTables
from nodrop.platforms.sonic.frr_text import FrrText
from nodrop.platforms.sonic.secret_fields import (
    SECRET_FIELDS_BY_TABLE,
    SNMP_COMMUNITY_TABLE,
    are_keys_secret,
    is_secret_field,
    may_hold_secret,
)
from nodrop.syntax.places import Span
from nodrop.syntax.shapes import mapping_or_empty

_PRIVATE_KEY_MARKER = b"PRIVATE KEY-----"


def remark_secrets(config: DeviceTables, frr: FrrText | None) -> None:
    """Remark every secret of a switch's files."""
    for table in SECRET_FIELDS_BY_TABLE.keys() & config.data.keys():
        for key, row in config.rows(table).items():
            for field, secret_kind in SECRET_FIELDS_BY_TABLE[table].items():
                if (how := exposure_of_secret(row.get(field, ""))) is not None:
                    encrypted = row.get("key_encrypt") == "true"
                    _remark_secret_at_keys(config, (table, key, field), secret_kind, "scrambled" if encrypted else how)
    for name in config.rows(SNMP_COMMUNITY_TABLE) if SNMP_COMMUNITY_TABLE in config.data else ():
        if (how := exposure_of_secret(name)) is not None:
            _remark_secret_at_keys(config, (SNMP_COMMUNITY_TABLE, name), "a community of SNMP", how)
    for document in config.documents:
        if _PRIVATE_KEY_MARKER in document.raw:
            line = document.raw.count(b"\n", 0, document.raw.index(_PRIVATE_KEY_MARKER)) + 1
            _remark_secret(config, FilePlace(document.name, Span(line, 1, line, 1)), "a private key", "clear")
    for text in (frr, frr.lost) if frr is not None else ():
        for line, first_column, last, secret_kind, how in find_frr_secrets(text.text) if text is not None else ():
            assert text is not None
            _remark_secret(config, text.place(Span(line, first_column, line, last)), secret_kind, how)


def _remark_secret_at_keys(config: DeviceTables, keys: tuple[str, ...], secret_kind: str, how: SecretExposure) -> None:
    _remark_secret(config, config.place(keys), secret_kind, how)


def _remark_secret(config: DeviceTables, place: FilePlace | None, secret_kind: str, how: SecretExposure) -> None:
    config.remarks.append(build_secret_remark(config.device, place, secret_kind, how))


def mask_secrets_in_facts(config: DeviceTables, table_name: str, facts: Mapping[str, str]) -> Mapping[str, str]:
    """Return the facts of a remark about a table, dots in the place of each text that is a secret or looks like one."""
    if table_name not in config.secrets:
        config.secrets[table_name] = sorted(
            set(_secret_texts(config.data.get(table_name), table_name)), key=lambda word: (-len(word), word)
        )
    masked_facts = dict(facts)
    for secret in config.secrets[table_name]:
        masked_facts = {name: text.replace(secret, "…") for name, text in masked_facts.items()}
    return masked_facts


def build_remedy_without_secrets(config: DeviceTables, table_name: str, choices: Iterable[CommandsForCase]) -> Remedy:
    """Return the remedy of those choices about a table whose lines repeat no secret of it."""
    return Remedy(choices=tuple(choice for choice in choices if not _repeats_secret(config, table_name, choice.lines)))


def _repeats_secret(config: DeviceTables, table_name: str, lines: Sequence[str]) -> bool:
    facts = {str(number): line for number, line in enumerate(lines)}
    return mask_secrets_in_facts(config, table_name, facts) != facts


def _secret_texts(rows: object, table: str) -> Iterator[str]:
    if isinstance(rows, str | list) and may_hold_secret((table,)):
        yield from _texts_of_value(rows)
    keys_are_secret = are_keys_secret(table)
    for key, row in mapping_or_empty(rows).items():
        if keys_are_secret:
            yield key
        if isinstance(row, dict) and table != SNMP_COMMUNITY_TABLE:
            for field, value in row.items():
                if keys_are_secret or is_secret_field(table, key, field):
                    yield from _texts_of_value(value)
        elif may_hold_secret((table, key)):
            yield from _texts_of_value(row)


def _texts_of_value(value: object) -> Iterator[str]:
    """Yield a value, or the members of a list, as far as they are texts and not empty."""
    members = value if isinstance(value, list) else [value]
    yield from (member for member in members if isinstance(member, str) and member)
