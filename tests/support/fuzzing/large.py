"""Inputs of 10 MB, of each format and shape: wide, deep, long lines, many of each thing that a reader counts."""

import json
from collections.abc import Callable, Iterator

from nodrop.config import reading
from nodrop.context import profile
from nodrop.engine import rule_loader
from nodrop.intent import load
from nodrop.limits import MAX_TEXT_BYTES
from nodrop.platforms import hosts
from support.fuzzing.mutation import Files

BYTES = 10_000_000
_PORTED = '{"PORT": {"Ethernet0": {"speed": "400000", "lanes": "0,1,2,3", "admin_status": "up"}}'


def filled(bytes_: int, line: Callable[[int], str], head: str = "", tail: str = "") -> bytes:
    """Return a text of so many bytes, or a little more, of numbered lines."""
    parts, size, number = [head], len(head), 0
    while size < bytes_:
        part = line(number)
        parts.append(part)
        size += len(part)
        number += 1
    return "".join((*parts, tail)).encode()


def _tables(size: int, line: Callable[[int], str], table: str) -> bytes:
    return filled(size, lambda n: ("," if n else "") + line(n), f'{_PORTED}, "{table}": {{', "}}")


def _row(key: str, **cells: str) -> str:
    return f"{json.dumps(key)}: {json.dumps(cells)}"


def _sonic(size: int) -> Iterator[tuple[str, bytes]]:
    yield (
        "many ports",
        filled(
            size,
            lambda n: (
                ("," if n else "") + _row(f"Ethernet{n}", speed="400000", lanes=f"{n}", mtu="9100", admin_status="up")
            ),
            '{"PORT": {',
            "}}",
        ),
    )
    yield "many VLANs", _tables(size, lambda n: _row(f"Vlan{n}", vlanid=str(n)), "VLAN")
    yield "many members", _tables(size, lambda n: _row(f"Vlan{n}|Ethernet0", tagging_mode="tagged"), "VLAN_MEMBER")
    yield (
        "many neighbors",
        _tables(size, lambda n: _row(f"10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}", asn=str(n)), "BGP_NEIGHBOR"),
    )
    yield (
        "many routes",
        _tables(size, lambda n: _row(f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}/32", nexthop="1.1.1.1"), "STATIC_ROUTE"),
    )
    yield "many queues", _tables(size, lambda n: _row(f"Ethernet0|{n}", scheduler="x", wred_profile="y"), "QUEUE")
    yield "many profiles", _tables(size, lambda n: _row(f"p{n}", size="1", dynamic_th="0", pool="x"), "BUFFER_PROFILE")
    yield "many map rows", _tables(size, lambda n: _row(f"m{n}", **{"3": "3", "4": "4"}), "DSCP_TO_TC_MAP")
    yield (
        "many map cells",
        filled(size, lambda n: f', "{n}": "3"', f'{_PORTED}, "DSCP_TO_TC_MAP": {{"AZURE": {{"0": "0"', "}}}"),
    )
    yield (
        "many bindings",
        _tables(size, lambda n: _row(f"Ethernet{n}", pfc_enable="3,4", dscp_to_tc_map="A"), "PORT_QOS_MAP"),
    )
    yield "many watchdogs", _tables(size, lambda n: _row(f"Ethernet{n}", action="drop", detection_time="200"), "PFC_WD")
    yield "many unknown tables", filled(size, lambda n: f', "X_{n}": {{"a": {{"b": "c"}}}}', _PORTED, "}")
    yield (
        "many unknown cells",
        filled(size, lambda n: f', "x{n}": "1"', '{"PORT": {"Ethernet0": {"speed": "400000"', "}}}"),
    )
    yield "one key again and again", filled(size, lambda n: f', "PORT": {{"Ethernet{n % 7}": {{}}}}', _PORTED, "}")
    yield "long text", f'{_PORTED}, "VLAN": {{"Vlan1": {{"description": "{"a" * size}"}}}}}}'.encode()
    yield (
        "long list of priorities",
        f'{_PORTED}, "PORT_QOS_MAP": {{"Ethernet0": {{"pfc_enable": "{"3," * (size // 2)}3"}}}}}}'.encode(),
    )
    yield "deep", b'{"PORT": ' + b'{"a": ' * (size // 6) + b"1" + b"}" * (size // 6) + b"}"
    yield "long number", _PORTED.encode() + b', "X": ' + b"9" * size + b"}"


_HEAD = "- set:\n    interface:\n      swp1: {link: {mtu: 9216}}\n"


def _nvue(size: int) -> Iterator[tuple[str, bytes]]:
    yield (
        "many ports",
        filled(size, lambda n: f"      swp{n}:\n        link:\n          mtu: 9216\n", "- set:\n    interface:\n"),
    )
    yield "many unknown keys", filled(size, lambda n: f"    x{n}: {{a: 1}}\n", _HEAD)
    yield (
        "many VLANs",
        filled(
            size,
            lambda n: f"            '{n}': {{}}\n",
            _HEAD + "    bridge:\n      domain:\n        br_default:\n          vlan:\n",
        ),
    )
    yield (
        "many neighbors",
        filled(
            size,
            lambda n: f"                10.{n >> 16}.{n >> 8 & 255}.{n & 255}:\n                  remote-as: {n}\n",
            _HEAD + "    vrf:\n      default:\n        router:\n          bgp:\n            neighbor:\n",
        ),
    )
    yield (
        "ports by range",
        filled(size, lambda n: f"      swp{n}-{n + 9}: {{link: {{mtu: 9216}}}}\n", "- set:\n    interface:\n"),
    )
    yield (
        "anchors",
        filled(size, lambda n: f"      swp{n}: *a\n", "- set:\n    interface:\n      swp0: &a {link: {mtu: 9216}}\n"),
    )
    yield "deep", b"- set:\n    interface: " + b"[" * (size // 2) + b"]" * (size // 2)
    yield "long line", _HEAD.encode() + b"    x: " + b"a" * size + b"\n"
    yield "one key again and again", filled(size, lambda n: "    interface: {swp1: {link: {mtu: 9216}}}\n", "- set:\n")
    yield "many documents", filled(size, lambda n: "---\n- set: {interface: {swp1: {link: {mtu: 9216}}}}\n")


def _nv_set(size: int) -> Iterator[tuple[str, bytes]]:
    yield "many ports", filled(size, lambda n: f"nv set interface swp{n} link mtu 9216\n")
    yield "one line again and again", filled(size, lambda n: "nv set interface swp1 link mtu 9216\n")
    yield "many unknown lines", filled(size, lambda n: f"nv set x{n} y z\n")
    yield "long line", b"nv set interface swp1" + b" link" * (size // 5) + b" mtu 9216\n"
    yield "long word", b"nv set interface swp1 link mtu " + b"9" * size
    yield (
        "lists of ports",
        filled(size, lambda n: f"nv set interface swp{n}-{n + 15},swp1 qos pfc-watchdog state enabled\n"),
    )


def _frr(size: int) -> Iterator[tuple[str, bytes]]:
    bgp = "router bgp 65000\n"
    yield (
        "many neighbors",
        filled(size, lambda n: f" neighbor 10.{n >> 16}.{n >> 8 & 255}.{n & 255} remote-as external\n", bgp),
    )
    yield (
        "many networks",
        filled(
            size,
            lambda n: f"  network 10.{n >> 16}.{n >> 8 & 255}.{n & 255}/32\n",
            f"{bgp} address-family ipv4 unicast\n",
        ),
    )
    yield (
        "many prefixes",
        filled(size, lambda n: f"ip prefix-list P seq {n + 1} permit 10.{n >> 16}.{n >> 8 & 255}.{n & 255}/32\n", bgp),
    )
    yield "many lists", filled(size, lambda n: f"ip prefix-list P{n} permit any\n", bgp)
    yield "many route-maps", filled(size, lambda n: f"route-map M{n} permit 10\n match ip address prefix-list P\n", bgp)
    yield "many entries of a route-map", filled(size, lambda n: f"route-map M permit {n + 1}\n set metric {n}\n", bgp)
    yield "many AS-path lists", filled(size, lambda n: f"bgp as-path access-list A seq {n + 1} permit ^{n}_\n", bgp)
    yield (
        "many community lists",
        filled(size, lambda n: f"bgp community-list standard C seq {n + 1} permit 1:{n % 65536}\n", bgp),
    )
    yield (
        "many static routes",
        filled(size, lambda n: f"ip route 10.{n >> 16}.{n >> 8 & 255}.{n & 255}/32 1.1.1.1\n", bgp),
    )
    yield "many interfaces", filled(size, lambda n: f"interface swp{n}\n ip address 10.0.0.1/31\n", bgp)
    yield "many VRFs", filled(size, lambda n: f"router bgp {n + 1} vrf v{n}\n bgp router-id 1.1.1.1\n", bgp)
    yield "many unknown lines", filled(size, lambda n: f"x{n} y\n", bgp)
    yield "long line", bgp.encode() + b" neighbor 10.0.0.1 description " + b"a " * (size // 2)
    yield "long AS path", bgp.encode() + b"route-map M permit 10\n set as-path prepend" + b" 65000" * (size // 6)
    yield (
        "long AS-path expression",
        bgp.encode() + b"bgp as-path access-list A permit " + b"(" * (size // 2) + b")" * (size // 2),
    )


def _onyx(size: int) -> Iterator[tuple[str, bytes]]:
    yield (
        "many ports",
        filled(size, lambda n: f"interface ethernet 1/{n} mtu 9216 force\n", "## Running database\nhostname leaf1\n"),
    )
    yield "many VLANs", filled(size, lambda n: f"vlan {n}\n", "hostname leaf1\ninterface ethernet 1/1 mtu 9216 force\n")
    yield "many unknown lines", filled(size, lambda n: f"x{n} y\n", "interface ethernet 1/1 mtu 9216 force\n")
    yield (
        "a range of ports",
        filled(size, lambda n: "interface ethernet 1/1-1/32 dcb priority-flow-control mode on force\n"),
    )
    yield "long line", b"interface ethernet 1/1 description " + b"a " * (size // 2)
    yield (
        "many neighbors",
        filled(
            size,
            lambda n: (
                f"router bgp 65000 vrf default neighbor 10.{n >> 16}.{n >> 8 & 255}.{n & 255} remote-as {n + 1}\n"
            ),
        ),
    )


def _nclu(size: int) -> Iterator[tuple[str, bytes]]:
    yield "many ports", filled(size, lambda n: f"net add interface swp{n} mtu 9216\n")
    yield "ranges of ports", filled(size, lambda n: "net add interface swp1-64 mtu 9216\n")
    yield "wide ranges", filled(size, lambda n: f"net add interface swp1-{n + 99999} mtu 9216\n")
    yield "many unknown lines", filled(size, lambda n: f"net add x{n} y\n", "net add interface swp1 mtu 9216\n")
    yield "long list of ports", b"net add interface " + b"swp1," * (size // 5) + b"swp2 mtu 9216\n"


def _cumulus_interfaces(size: int) -> Iterator[tuple[str, bytes]]:
    yield "many ports", filled(size, lambda n: f"auto swp{n}\niface swp{n}\n    mtu 9216\n")
    yield "long bridge", b"auto bridge\niface bridge\n    bridge-ports" + b" swp1" * (size // 5) + b"\n"
    yield (
        "many VLANs",
        b"auto bridge\niface bridge\n    bridge-ports swp1\n    bridge-vids" + b" 1-4094" * (size // 7) + b"\n",
    )
    yield "glob", filled(size, lambda n: f"iface swp{n}\n    bridge-ports glob swp[1-9999999]\n")


def _cumulus_features(size: int) -> Iterator[tuple[str, bytes]]:
    yield "many groups", filled(size, lambda n: f"pfc.g{n}.port_set = swp1-swp64\n", "pfc.port_group_list = [g1]\n")
    yield "long list of ports", b"pfc.port_group_list = [a]\npfc.a.port_set = " + b"swp1," * (size // 5) + b"swp2\n"
    yield "wide range", filled(size, lambda n: f"pfc.a.port_set = swp1-swp{n + 99999}\n", "pfc.port_group_list = [a]\n")


def _hosts(size: int) -> Iterator[tuple[str, bytes]]:
    template = (
        "apiVersion: configuration.net.nvidia.com/v1alpha1\nkind: NicConfigurationTemplate\nmetadata:\n  name: n{0}\n"
        'spec:\n  nicSelector:\n    nicType: "1021"\n  template:\n    numVfs: 8\n    linkType: Ethernet\n---\n'
    )
    yield "many templates", filled(size, template.format)
    yield "many commands", filled(size, lambda n: f"mlnx_qos -i eth{n} --pfc 0,0,0,1,0,0,0,0\n", "#!/bin/sh\n")
    yield "many variables", filled(size, lambda n: f"export NCCL_IB_TC{n}=106\n", "export NCCL_IB_TC=106\n")
    yield "long line", b"#!/bin/sh\nmlnx_qos -i eth0 --pfc " + b"0," * (size // 2) + b"0\n"


def _of_yaml(head: str, listed: str, mapped: str) -> Callable[[int], Iterator[tuple[str, bytes]]]:
    """Return what yields shapes of a YAML file of nodrop's own: long lists, many keys, deep, anchors, a long text."""

    def made(size: int) -> Iterator[tuple[str, bytes]]:
        yield "long list", filled(size, lambda n: f"  - x{n}\n", f"{head}{listed}:\n")
        yield "many keys", filled(size, lambda n: f"  x{n}: y\n", f"{head}{mapped}:\n")
        yield "many keys at the top", filled(size, lambda n: f"x{n}: y\n", head)
        yield "deep", f"{head}{listed}: {'[' * (size // 2)}{']' * (size // 2)}\n".encode()
        yield "anchors", filled(size, lambda n: f"  x{n}: *a\n", f"{head}a: &a [1, 2, 3]\n{mapped}:\n")
        yield (
            "nested anchors",
            filled(
                size,
                lambda n: f"  a{n + 1}: &a{n + 1} [{', '.join(f'*a{n}' for _ in range(9))}]\n",
                f"{head}{mapped}:\n  a0: &a0 [x]\n",
            ),
        )
        yield "long text", f"{head}{listed}: {'a' * size}\n".encode()
        yield "long number", f"{head}{listed}: {'9' * size}\n".encode()

    return made


def _toml(size: int) -> Iterator[tuple[str, bytes]]:
    head = "[tool.nodrop]\n"
    yield "many keys", filled(size, lambda n: f"x{n} = 1\n", head)
    yield "many tables", filled(size, lambda n: f"[x{n}]\n", f'{head}strictness = "pedantic"\n')
    yield "many suppressions", filled(size, lambda n: '[[tool.nodrop.suppress]]\nrule = "x"\nreason = "y"\n', head)
    yield "deep", f"{head}exclude = {'[' * (size // 2)}{']' * (size // 2)}\n".encode()
    yield "long number", f"{head}strictness = {'9' * size}\n".encode()
    yield "long text", f'{head}strictness = "{"a" * size}"\n'.encode()


_LEAF = {"leaf1/config_db.json": f"{_PORTED}}}".encode()}
_LINT = ("lint", ".", "--no-config")
_FORMATS: dict[str, tuple[str, Callable[[int], Iterator[tuple[str, bytes]]], tuple[str, ...]]] = {
    "sonic": ("leaf1/config_db.json", _sonic, _LINT),
    "nvue": ("leaf1/startup.yaml", _nvue, _LINT),
    "nvue-set": ("leaf1.nv", _nv_set, ("lint", "leaf1.nv", "--no-config", "--platform", "nvue")),
    "frr": ("leaf1/frr.conf", _frr, _LINT),
    "onyx": ("leaf1.txt", _onyx, ("lint", "leaf1.txt", "--no-config", "--platform", "onyx")),
    "nclu": ("leaf1.txt", _nclu, ("lint", "leaf1.txt", "--no-config", "--platform", "nclu")),
    "cumulus": ("leaf1/interfaces", _cumulus_interfaces, (*_LINT, "--platform", "cumulus")),
    "cumulus-qos": ("leaf1/qos_features.conf", _cumulus_features, (*_LINT, "--platform", "cumulus")),
    "hosts": ("hosts/gpu1.sh", _hosts, _LINT),
    "intent": (
        "intent.yaml",
        _of_yaml("nodrop: 1\nname: x\n", "topology", "devices"),
        ("lint", "intent.yaml", "--no-config"),
    ),
    "config": ("nodrop.yaml", _of_yaml("strictness: pedantic\n", "exclude", "severity"), ("lint", "leaf1")),
    "rule": (
        "rules/pfc/own-rule.yaml",
        _of_yaml("severity: warning\nscope: interface\n", "references", "examples"),
        (*_LINT, "--rules", "rules"),
    ),
    "profile": ("profile.yaml", _of_yaml("about: x\n", "ecn", "watchdog"), (*_LINT, "--profile", "profile.yaml")),
    "stated": ("fabric.yaml", _of_yaml("mode: lossless\n", "links", "hosts"), _LINT),
    "baseline": ("base.yaml", _of_yaml("version: 1\n", "x", "findings"), (*_LINT, "--baseline", "base.yaml")),
    "pyproject": ("pyproject.toml", _toml, ("lint", "leaf1")),
}
NAMES = tuple(_FORMATS)
"""The formats."""


LIMITS = {
    **dict.fromkeys(("nvue", "nvue-set", "frr", "onyx", "nclu", "cumulus", "cumulus-qos"), MAX_TEXT_BYTES),
    "hosts": hosts.MAX_HOST_FILE_BYTES,
    "intent": load.MAX_INTENT_BYTES,
    "config": reading.MAX_CONFIG_BYTES,
    "pyproject": reading.MAX_CONFIG_BYTES,
    "profile": profile.MAX_PROFILE_BYTES,
    "rule": rule_loader.MAX_RULE_BYTES,
}
"""The most bytes that nodrop reads of a format, where that is less than 10 MB: such inputs are tried too."""


def shapes(name: str, size: int = BYTES) -> Iterator[tuple[str, Files, tuple[str, ...]]]:
    """Yield the large inputs of a format: what is large, the files, and the command that reads them."""
    path, made, words = _FORMATS[name]
    for shape, raw in made(size):
        assert len(raw) >= size, shape
        where = "hosts/gpu1.yaml" if shape == "many templates" else path
        yield shape, {**_LEAF, where: raw} if name not in ("sonic", "frr") else {where: raw}, words
