"""The meaning of a text about the far end of a port: the host that descriptions and neighbor tables name."""

import re

_HOST_NAME_PATTERN = re.compile(r"(?i)^(?:to[-_ :]+|link to +)?([a-z][a-z0-9_.-]{0,99}?[-_.]?)0{0,9}([0-9]{1,6})$")
"""A host's name: `gpu3`, `to_server01`, `su-02-node-07`."""
_HOST_PORT_PATTERN = re.compile(r"(?i)[-_.](?:eth|nic|port|p|en[ops]|mlx|bond|hca|rail|roce|if)[a-z0-9_.-]{0,99}$")
"""What of a description is a port of the host: `-eth0` of `gpu3-eth0`, as is what follows a colon, slash or space."""
_NON_HOST_NAME_PATTERN = re.compile(r"(?i)(leaf|spine|tor|swp|ethernet|eth|etp|port|uplink|router|sw|mlag|peer)[-_]?$")
_HOST_LABEL_PATTERN = re.compile(r"(?i)(?:to[-_ ]+)?([a-z][a-z0-9_.-]{0,62})")
DEFAULT_HOST_GROUP_NAME = "host"
"""What a group is called of which nothing says a name."""


def parse_host_name(text: object) -> tuple[str, int] | None:
    """Return the group and the number of the host that a description or a neighbor's name means; None for none."""
    if not isinstance(text, str):
        return None
    match = _HOST_NAME_PATTERN.match(_word_of_host(text))
    if not match or _NON_HOST_NAME_PATTERN.search(match[1]):
        return None
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", match[1]).strip("-_.") or DEFAULT_HOST_GROUP_NAME
    return (name, int(match[2])) if int(match[2]) else None


def parse_host_label(text: object, *, is_neighbor: bool = False) -> str:
    """Return the name of the host that a description or a neighbor's name means, as it is; empty for none.

    A description without a number names a host only if it names one of its ports too, as `db-east:eth0` does.
    """
    if not isinstance(text, str):
        return ""
    word = _word_of_host(text)
    match = _HOST_LABEL_PATTERN.fullmatch(word)
    if match is None or _NON_HOST_NAME_PATTERN.search(match[1].rstrip("0123456789")):
        return ""
    return match[1] if is_neighbor or parse_host_name(text) or word != text.strip() else ""


def _word_of_host(text: str) -> str:
    """Return the word of a text that may name a host, without its port."""
    words = re.sub(r"(?i)^(?:link )?to[ :]+", "", text.strip())
    return _HOST_PORT_PATTERN.sub("", re.split(r"[:/ ]", words)[0])
