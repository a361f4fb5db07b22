"""The fields and keys of a SONiC configuration that are secrets, and those whose names may be slips of theirs."""

from collections.abc import Mapping
from functools import cache

from nodrop.platforms.kit.near_words import find_near_word
from nodrop.platforms.kit.secrets import looks_like_secret
from nodrop.platforms.sonic.schema import schema_of_release

SNMP_COMMUNITY_TABLE = "SNMP_COMMUNITY"
"""The table whose keys are secrets: a row is named by its community."""
SECRET_FIELDS_BY_TABLE: Mapping[str, Mapping[str, str]] = {
    "TACPLUS": {"passkey": "the key of TACACS+"},
    "TACPLUS_SERVER": {"passkey": "the key of TACACS+"},
    "RADIUS": {"passkey": "the key of RADIUS"},
    "RADIUS_SERVER": {"passkey": "the key of RADIUS"},
    "LDAP": {"bind_password": "the password for LDAP"},
    "BGP_NEIGHBOR": {"auth_password": "the password of a BGP session"},
    "BGP_PEER_GROUP": {"auth_password": "the password of BGP sessions"},
    "MACSEC_PROFILE": {"primary_cak": "a key of MACsec", "fallback_cak": "a key of MACsec"},
    "NTP_KEY": {"value": "a key of NTP"},
    "SNMP_USER": {
        "SNMP_USER_AUTH_PASSWORD": "a password of SNMP",
        "SNMP_USER_ENCRYPTION_PASSWORD": "a password of SNMP",
    },
}
"""The fields that are secrets, by table, and what they are."""


def is_secret_field(table: str, key: str, field: str) -> bool:
    """Whether the value of a field is a secret, or may be one: the field's name may be a slip of a secret's.

    Where a table has secrets, so may be the values of all fields that no release has in it.
    """
    if looks_like_secret(field):
        return True
    meant = _table_with_secrets(table)
    return meant is not None and (
        field in SECRET_FIELDS_BY_TABLE[meant] or not _is_field_in_any_release(meant, key, field)
    )


def are_keys_secret(table: str) -> bool:
    """Whether the keys of a table are secrets, or its name may be a slip of that of a table with such keys."""
    return table == SNMP_COMMUNITY_TABLE or looks_like_secret(table)


def may_hold_secret(keys: tuple[str, ...]) -> bool:
    """Whether a secret may be in the text at a path: in its key, its value, or a row or table that it begins."""
    if are_keys_secret(keys[0]):
        return True
    if len(keys) < len(("table", "row", "field")):
        return _table_with_secrets(keys[0]) is not None or looks_like_secret(" ".join(keys))
    return is_secret_field(*keys[:3])


@cache
def _table_with_secrets(table: str) -> str | None:
    """Return the table with secrets that a name is, or may be a slip of; None where it is another's."""
    return table if table in SECRET_FIELDS_BY_TABLE else find_near_word(table, SECRET_FIELDS_BY_TABLE)


@cache
def _is_field_in_any_release(table: str, key: str, field: str) -> bool:
    """Whether the rows of a table with that key have a field in any release."""
    compiled = schema_of_release(None).table(table)
    row = compiled.row_schema_of_key(key) if compiled is not None else None
    return row is not None and field in row.fields
