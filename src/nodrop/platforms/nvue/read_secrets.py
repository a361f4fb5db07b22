"""Secrets in NVUE settings: each reported at its place, and none of them shown.

Sources: Cumulus Linux 5.14, User Accounts, TACACS, RADIUS, LDAP, SNMP and BGP (the settings); NVOS 25.02, NTP (`nv set
system ntp key 1 value`); exported configurations of 5.13 (`$nvsec$` in the place of secrets, `'*'` for a locked
account).
"""

from collections.abc import Iterator, Mapping

from nodrop.platforms.kit.secrets import build_secret_remark, exposure_of_secret
from nodrop.platforms.nvue.read_values import NvueConfigFile
from nodrop.platforms.nvue.tree import Path
from nodrop.syntax.shapes import mapping_at, mapping_or_empty, value_at

SECRET_LABEL_BY_KEY: Mapping[str, str] = {
    "password": "a password",
    "hashed-password": "the password of a user",
    "secret": "the key of a server",
    "bind-secret": "the password for LDAP",
    "community-password": "a community of SNMP",
    "readonly-community": "a community of SNMP",
    "readonly-community-v6": "a community of SNMP",
    "auth-md5": "a password of SNMP",
    "auth-sha": "a password of SNMP",
    "encrypt-aes": "a password of SNMP",
    "encrypt-des": "a password of SNMP",
}
"""The settings whose values, or the words right below them, are secrets."""
SECRET_LABELS_BY_SERVICE: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("aaa", "snmp-server", "tacacs", "radius"), SECRET_LABEL_BY_KEY),
    "ntp": {**SECRET_LABEL_BY_KEY, "value": "a key of NTP"},
}
"""Where they stand, below `system` or `service`."""
_SESSION_KEYS = ("neighbor", "peer-group")


def remark_secrets(config: NvueConfigFile) -> None:
    """Remark every secret of a file."""
    for path, secret_kind, text in _find_secrets(config):
        if (how := exposure_of_secret(text)) is not None:
            place = config.place(path)
            config.remarks.append(build_secret_remark(config.device, place, secret_kind, how))


def _find_secrets(config: NvueConfigFile) -> Iterator[tuple[Path, str, str]]:
    """Yield the path, the kind and the text of each secret."""
    root = config.tree.root if config.tree else {}
    for top in ("system", "service"):
        node = root.get(top)
        for name, words in SECRET_LABELS_BY_SERVICE.items():
            yield from _secret_settings(mapping_at(node, name), (top, name), words)
    for vrf in mapping_at(root, "vrf"):
        for kind in _SESSION_KEYS:
            path = ("vrf", vrf, "router", "bgp", kind)
            for session, inside in mapping_at(root, *path).items():
                yield from _secret_texts_of_value(
                    value_at(inside, "password"), (*path, session, "password"), "the password of a BGP session"
                )


def _secret_settings(node: object, path: Path, words: Mapping[str, str]) -> Iterator[tuple[Path, str, str]]:
    for key, inside in mapping_or_empty(node).items():
        if key in words:
            yield from _secret_texts_of_value(inside, (*path, key), words[key])
        yield from _secret_settings(inside, (*path, key), words)


def _secret_texts_of_value(value: object, path: Path, secret_kind: str) -> Iterator[tuple[Path, str, str]]:
    """Yield the value of a setting, or each of the words below it, which may be on separate lines."""
    if isinstance(value, str):
        yield path, secret_kind, value
    elif isinstance(value, dict):
        yield from (((*path, text), secret_kind, text) for text in value if isinstance(text, str))
    elif isinstance(value, list):
        yield from ((path, secret_kind, text) for text in value if isinstance(text, str))
