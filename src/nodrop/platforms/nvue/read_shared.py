"""Headroom that ports share: the part that a switch reserves for each port, and the ports that take none of it.

Source: Cumulus Linux 5.18 and the draft of 5.19, Quality of Service (Lossless Shared Headroom Pool): ports set to
share have exclusive headroom, and borrow the rest of the required headroom, with `qos roce` in a lossless mode.
"""

from collections.abc import Iterator

from nodrop.platforms.nvue.effects import StatedHeadroom
from nodrop.platforms.nvue.read_values import ConfigNodeView, NvueConfigFile

_HEADROOM_RANGE_BYTES = (19_456, 2_621_440)
_REQUIRED, _EXCLUSIVE = "required-headroom-per-pg", "exclusive-headroom-per-pg"
_PORT_SHARED_HEADROOM_KEY = "shared-headroom-pool"


class SharedHeadroom:
    """Shared headroom settings of the whole switch."""

    def __init__(self, qos: ConfigNodeView) -> None:
        """Take the node `qos`."""
        node = self.node = qos.below("advance-buffer-config", "default-global", "shared-headroom")
        self.required_bytes = node.integer(_REQUIRED, *_HEADROOM_RANGE_BYTES, "bytes")
        self.exclusive_bytes = node.integer(_EXCLUSIVE, *_HEADROOM_RANGE_BYTES, "bytes")
        node.integer("oversubscription-ratio", 1, 256)

    def headroom_of_sharing_port(self) -> StatedHeadroom:
        """Return the headroom of a port that shares: its exclusive part, and thresholds that the switch computes."""
        return StatedHeadroom(
            port_buffer_bytes=self.exclusive_bytes, xoff_threshold_bytes=None, xon_threshold_bytes=None
        )


def remark_unused_shared_headroom(config: NvueConfigFile, shared: SharedHeadroom, macro: str) -> None:
    """Remark shared headroom that nothing is shared by: no port takes any, or there is none to borrow.

    `macro` is the mode of `qos roce`, empty where that is off.
    """
    node = shared.node
    interfaces = config.top.below("interface")
    sharing = [
        port
        for port in interface_qos_with_key(interfaces, _PORT_SHARED_HEADROOM_KEY)
        if port.flag(_PORT_SHARED_HEADROOM_KEY)
    ]
    if node and not sharing and interfaces:
        found, expected = (
            "shared-headroom is set, but no port takes part",
            f"{_PORT_SHARED_HEADROOM_KEY} enabled on the lossless ports",
        )
        _remark_contradiction(
            config,
            node,
            "",
            found,
            expected,
            f"on each lossless port: `nv set interface swpN qos {_PORT_SHARED_HEADROOM_KEY} enabled`",
        )
    required, exclusive = shared.required_bytes, shared.exclusive_bytes
    if required is not None and exclusive is not None and exclusive >= required:
        found, expected = f"{_EXCLUSIVE} is {exclusive} bytes", f"less than {_REQUIRED}, {required} bytes"
        _remark_contradiction(
            config, node, _EXCLUSIVE, found, expected, f"lower {_EXCLUSIVE} below {required}: the rest is shared"
        )
    if sharing and not macro.startswith("lossless"):
        state = f"is in mode {macro}" if macro else "is off"
        found, expected = f"{_PORT_SHARED_HEADROOM_KEY} is enabled, but `qos roce` {state}", "a lossless mode"
        command = "nv set qos roce mode lossless" if macro else "nv set qos roce"
        remedy = f"`{command}`, or unset {_PORT_SHARED_HEADROOM_KEY} on the ports"
        _remark_contradiction(config, sharing[0], _PORT_SHARED_HEADROOM_KEY, found, expected, remedy)


def interface_qos_with_key(interfaces: ConfigNodeView, word: str) -> Iterator[ConfigNodeView]:
    """Yield the QoS of the interfaces that use a given word."""
    for key, node in interfaces.node.items():
        qos = node.get("qos") if type(node) is dict else None
        if qos == word or (type(qos) is dict and word in qos):
            yield interfaces.below(key, "qos")


def _remark_contradiction(
    config: NvueConfigFile, node: ConfigNodeView, key: str, found: str, expected: str, remedy: str
) -> None:
    path = (*node.path, *([key] if key else []))
    config.remark("shared-headroom-contradicted", (), path, found=found, expected=expected, remedy=remedy)
