"""Forms in which files lie in a folder, each with what `nodrop lint` of that folder has to say about it.

None may end with exit 0 unless the output has the name of the file. Every form is checked in a folder of its own, and
beside a switch without faults. `SAYS` explains the words of the second column.
"""

import gzip
import json
from codecs import BOM_UTF8, BOM_UTF16_LE
from dataclasses import dataclass

RULE = "pfc-without-watchdog"
"""The fault that every text with one has, on the one port that it names."""

SAYS = {
    "read": "the fault is found at the file, exit 1",
    "problem": "exit 2, with the name of the file",
    "unread": "named as not read, JSON too; exit 1 with --fail-on unknown",
    "nothing": "as unread, and exit 3 even beside a switch that was read: a device of which no file was read",
    "cut": "read, and its end named as not read; exit 1 with --fail-on unknown",
    "ignored": "named by -v and in JSON as known and ignored",
}


@dataclass(frozen=True)
class Form:
    """Files below the folder that is linted, the first of which this is about, and one of the words of `SAYS`."""

    says: str
    files: dict[str, bytes]
    links: tuple[tuple[str, str], ...] = ()
    """Links: where they lie, and what they state; the first is what this is about where there is any."""
    told: str = ""
    """What the output has to say, besides the name of the file."""
    name: str = ""
    """The file that this is about, if it is not the first."""

    @property
    def subject(self) -> str:
        """The path that the output has to name."""
        return self.name or (self.links[0][0] if self.links else next(iter(self.files)))


def _json(value: object) -> bytes:
    return json.dumps(value, indent=1).encode() + b"\n"


_PORT = {"lanes": "0,1,2,3", "speed": "400000", "mtu": "9100", "admin_status": "up"}
_SONIC = {
    "DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}},
    "PORT": {"Ethernet0": _PORT},
    "PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3"}},
}
SONIC = _json(_SONIC)
GOOD = _json({**_SONIC, "DEVICE_METADATA": {"localhost": {"hostname": "leaf2"}}, "PORT_QOS_MAP": {"Ethernet0": {}}})
"""A switch in whose ports nothing pauses."""
NVUE_SET = b"""\
nv set system hostname leaf1
nv set interface swp1 type swp
nv set interface swp1 qos pfc profile lossless
nv set qos pfc lossless switch-priority 3
"""
NVUE = b"""\
- header:
    model: MSN4700
    nvue-api-version: nvue_v1
    rev-id: 1.0
    version: Cumulus Linux 5.9.0
- set:
    interface:
      swp1:
        qos:
          pfc:
            profile: lossless
        type: swp
    qos:
      pfc:
        lossless:
          switch-priority: '3'
    system:
      hostname: leaf1
"""
NVUE_JSON = _json(
    [
        {"header": {"model": "MSN4700", "nvue-api-version": "nvue_v1", "version": "Cumulus Linux 5.9.0"}},
        {
            "set": {
                "interface": {"swp1": {"type": "swp", "qos": {"pfc": {"profile": "lossless"}}}},
                "qos": {"pfc": {"lossless": {"switch-priority": "3"}}},
                "system": {"hostname": "leaf1"},
            }
        },
    ]
)
ONYX = b"""\
##
## Running database "initial"
##
   hostname leaf1
   interface ethernet 1/1 speed 100G
   dcb priority-flow-control enable force
   dcb priority-flow-control priority 3 enable
   interface ethernet 1/1 dcb priority-flow-control mode on force
"""
NCLU = b"""\
net add hostname leaf1
net add interface swp1 mtu 9216
net add interface swp1 storage-optimized pfc
"""
FRR = b"frr version 10.0\nhostname leaf1\nrouter bgp 65001\n neighbor 10.0.0.1 remote-as 65002\n"
INTENT = b"nodrop: 1\nfabric: pod1\nnonsense: true\n"
NXOS = b"""\
!Command: show running-config
version 9.3(8) Bios:version 07.67
hostname leaf1
feature bgp
policy-map type network-qos RDMA
  class type network-qos c-8q-nq3
    pause pfc-cos 3
"""
IOS = b"!\nversion 15.2\nservice timestamps debug datetime msec\nhostname leaf1\ninterface GigabitEthernet0/1\n"
EOS = b"""\
! Command: show running-config
! device: leaf1 (DCS-7060DX4-32, EOS-4.30.1F)
transceiver qsfp default-mode 4x10G
"""
JUNOS = b"system {\n    host-name leaf1;\n}\nclass-of-service {\n    congestion-notification-profile cnp {\n    }\n}\n"
JUNOS_SET = b"set version 22.2R1\nset system host-name leaf1\nset class-of-service interfaces et-0/0/0\n"
SROS = b'# TiMOS-C-22.10.R1 cpm/x86_64 Nokia 7750 SR\nexit all\nconfigure\n    system\n        name "leaf1"\n'
HBN = NVUE.replace(b"MSN4700", b"BLUEFIELD").replace(b"Cumulus Linux 5.9.0", b"HBN 2.4.0").replace(b"swp1", b"p0_if")
NVOS = NVUE.replace(b"MSN4700", b"q3400").replace(b"Cumulus Linux 5.9.0", b"NVOS 25.02.2002")
ROCE = b"""\
DCBX mode: OS controlled
Priority trust state: dscp
dscp2prio mapping:
	prio:0 dscp:07,06,05,04,03,02,01,00,
"""
TOPOLOGY = _json({"edges": [{"node1": {"hostname": "a", "interfaceName": "e1"}, "node2": {"hostname": "b"}}]})
HOSTS = _json({"hostname": "gpu1", "hostInterfaces": {"eth0": {"prefix": "10.0.0.1/31"}}})
PATCHES = b"Patches of nodrop: in each folder, what takes the switch of its name to what is wanted.\n"


def _utf16(raw: bytes) -> bytes:
    return BOM_UTF16_LE + raw.decode().encode("utf-16-le")


def _one(says: str, path: str, raw: bytes, told: str = "") -> Form:
    return Form(says, {path: raw}, told=told)


_READ: dict[str, tuple[tuple[str, ...], bytes]] = {
    "sonic": (
        (
            "leaf1/config_db.json",
            "leaf1.json",
            "leaf1.JSON",
            "leaf1/CONFIG_DB.JSON",
            "leaf1.txt",
            "leaf1.cfg",
            "leaf1.conf",
            "leaf1.log",
            "leaf1.config",
            "leaf1",
            "leaf1/Config_DB.json",
            "leaf1/running.json5",
        ),
        SONIC,
    ),
    "nvue": (
        (
            "leaf1/startup.yaml",
            "leaf1/STARTUP.YAML",
            "leaf1.yaml",
            "leaf1.YAML",
            "leaf1.yml",
            "leaf1.YML",
            "leaf1.txt",
            "leaf1.cfg",
            "leaf1.conf",
            "leaf1.log",
            "leaf1",
        ),
        NVUE,
    ),
    "nvue-json": (("leaf1.json", "leaf1.txt", "leaf1.JSON"), NVUE_JSON),
    "nvue-set": (
        (
            "leaf1.nv",
            "leaf1/config.nv",
            "leaf1.NV",
            "leaf1.txt",
            "leaf1.sh",
            "leaf1.cfg",
            "leaf1.log",
            "leaf1.yaml",
            "leaf1",
        ),
        NVUE_SET,
    ),
    "onyx": (
        (
            "leaf1/running-config.txt",
            "leaf1.txt",
            "leaf1.TXT",
            "leaf1.cfg",
            "leaf1.onyx",
            "leaf1.log",
            "leaf1.out",
            "leaf1",
        ),
        ONYX,
    ),
    "nclu": (("leaf1/nclu.txt", "leaf1.txt", "leaf1.sh", "leaf1.nclu", "leaf1.log", "leaf1.NCLU"), NCLU),
}

_OTHER = {
    "crlf": _one("read", "leaf1.nv", NVUE_SET.replace(b"\n", b"\r\n")),
    "bom": _one("read", "leaf1.cfg", BOM_UTF8 + ONYX),
    "session-before-json": _one("read", "leaf1.txt", b"admin@leaf1:~$ show runningconfiguration all\n" + SONIC),
    "session-of-nv-set": _one(
        "read", "leaf1.log", b"cumulus@leaf1:mgmt:~$ " + NVUE_SET.replace(b"\nn", b"\ncumulus@leaf1:mgmt:~$ n")
    ),
    "hidden-folder": _one("read", ".leaf1/config_db.json", SONIC),
    "hidden-file": _one("read", ".leaf1.json", SONIC),
    "folder-apply": _one("read", "apply/config_db.json", SONIC),
    "folder-apply-of-nv": _one("read", "leaf1/apply/10-all.nv", NVUE_SET),
    "folder-plan": _one("read", "pod1/plan/leaf1/config_db.json", SONIC),
    "folder-plan-of-nv": _one("read", "plan/leaf1.nv", NVUE_SET),
    "empty-patches-txt": Form("read", {"leaf1/config_db.json": SONIC, "leaf1/PATCHES.txt": b""}),
    "patches-txt-above": Form("read", {"pod/leaf1/config_db.json": SONIC, "pod/PATCHES.txt": b"hello\n"}),
    "link-to-file": Form("read", {"store/x.dat": SONIC}, (("leaf1/config_db.json", "../store/x.dat"),)),
    "deep": _one("read", "a/b/c/d/e/f/g/leaf1.cfg", SONIC),
    "intent": _one("problem", "i.yaml", INTENT),
    "intent-upper": _one("problem", "i.YAML", INTENT),
    "intent-yml": _one("problem", "i.YML", INTENT),
    "intent-txt": _one("problem", "i.txt", INTENT),
    "intent-utf16": _one("problem", "i.yaml", _utf16(INTENT), "UTF-16"),
    "intent-indented": _one("problem", "i.yaml", b" nodrop: 1\n fabric: pod1\n nonsense: true\n"),
    "nvue-utf16": _one("problem", "leaf1.yaml", _utf16(NVUE), "UTF-16"),
    "nv-set-utf16": _one("problem", "leaf1.nv", _utf16(NVUE_SET), "UTF-16"),
    "onyx-utf16": _one("problem", "leaf1.txt", _utf16(ONYX), "UTF-16"),
    "sonic-utf16": _one("problem", "leaf1.json", _utf16(SONIC), "UTF-16"),
    "sonic-utf16-txt": _one("problem", "leaf1.txt", _utf16(SONIC), "UTF-16"),
    "onyx-cr": _one("read", "leaf1.txt", ONYX.replace(b"\n", b"\r")),
    "nvue-mapping": _one("nothing", "leaf1.yaml", b"set:\n  interface:\n    swp1:\n      type: swp\n", "NVUE"),
    "sonic-cut": _one("problem", "leaf1/config_db.json", SONIC[:200]),
    "sonic-cut-elsewhere": _one("problem", "leaf1.json", SONIC[:200]),
    "sonic-cut-txt": _one("problem", "leaf1.txt", SONIC[:200]),
    "json-cut-to-nothing": _one("nothing", "leaf1.json", b'{\n "DEVICE_ME'),
    "two-yaml-documents": _one("problem", "leaf1/startup.yaml", NVUE + b"---\na: 1\n"),
    "hbn": _one("problem", "leaf1/startup.yaml", HBN, "HBN"),
    "hbn-elsewhere": _one("problem", "dpu.yaml", HBN, "HBN"),
    "nvos": _one("problem", "leaf1/startup.yaml", NVOS, "NVOS"),
    "nvos-elsewhere": _one("problem", "nvl.yaml", NVOS, "NVOS"),
    "gzip": _one("nothing", "leaf1/config_db.json.gz", gzip.compress(SONIC, mtime=0), "gzip"),
    "gzip-of-no-name": _one("nothing", "leaf1.dat", gzip.compress(SONIC, mtime=0), "gzip"),
    "zip": _one("unread", "backup.zip", b"PK\x03\x04" + bytes(40), "archive"),
    "tar": _one(
        "unread", "backup.tar", b"leaf1/config_db.json".ljust(257, b"\0") + b"ustar\x0000" + bytes(248), "archive"
    ),
    "xz": _one("unread", "backup.tar.xz", b"\xfd7zXZ\x00" + bytes(20), "archive"),
    "binary": _one("unread", "core.bin", b"\x7fELF" + bytes(range(256)), "no text"),
    "backup-number": _one("nothing", "leaf1/config_db.json.1", SONIC, "copy"),
    "backup-bak": _one("nothing", "leaf1/config_db.json.bak", SONIC, "copy"),
    "backup-orig": _one("nothing", "leaf1/startup.yaml.orig", NVUE, "copy"),
    "backup-tilde": _one("nothing", "leaf1/config_db.json~", SONIC, "copy"),
    "backup-old": _one("nothing", "leaf1.nv.old", NVUE_SET, "copy"),
    "template-j2": _one("nothing", "leaf1/config_db.json.j2", SONIC, "template"),
    "template-jinja2": _one("nothing", "leaf1.yaml.jinja2", NVUE, "template"),
    "template-tmpl": _one("nothing", "leaf1.tmpl", NVUE_SET, "template"),
    "template-inside": _one(
        "unread",
        "leaf1.cfg",
        b"hostname {{ inventory_hostname }}\n{% for port in ports %}\ninterface {{ port }}\n{% endfor %}\n",
        "template",
    ),
    "nxos": _one("nothing", "leaf1.cfg", NXOS, "NX-OS"),
    "nxos-txt": _one("nothing", "old/leaf1.txt", NXOS, "NX-OS"),
    "ios": _one("nothing", "leaf1.cfg", IOS, "IOS"),
    "eos": _one("nothing", "leaf1.conf", EOS, "EOS"),
    "junos": _one("nothing", "leaf1.conf", JUNOS, "Junos"),
    "junos-set": _one("nothing", "leaf1.set", JUNOS_SET, "Junos"),
    "sros": _one("nothing", "leaf1.cfg", SROS, "SR OS"),
    "unknown-text": _one("unread", "notes.txt", b"replace the optics on tuesday\n"),
    "unknown-text-cfg": _one("unread", "leaf1.cfg", b"this is nothing that anybody knows\n"),
    "unknown-yaml": _one("unread", "compose.yaml", b"services:\n  nodrop: {image: x}\n", "YAML"),
    "unknown-json": _one("unread", "package.json", b'{"name": "x"}\n', "JSON"),
    "unknown-xml": _one("unread", "minigraph.xml", b'<?xml version="1.0"?>\n<x/>\n', "XML"),
    "unknown-suffix": _one("unread", "leaf1.weird", b"hello world\n"),
    "unknown-dotted": _one("unread", ".weird", b"hello world\n"),
    "json-list": _one("unread", "list.json", b"[1, 2, 3]\n", "JSON"),
    "json-scalar": _one("unread", "scalar.json", b"17\n", "JSON"),
    "topology-json": _one("unread", "layer1_topology.json", TOPOLOGY, "topology"),
    "hosts-json": _one("unread", "gpu1.json", HOSTS, "host"),
    "patch-json": _one("unread", "patch.json", b'[{"op": "add", "path": "/PORT/Ethernet0", "value": {}}]\n', "patch"),
    "patches-folder": Form(
        "unread", {"patches/leaf1/changes.nv": NVUE_SET, "patches/PATCHES.txt": PATCHES}, told="patch"
    ),
    "patches-folder-json": Form(
        "unread", {"patches/leaf1/config_db.json": SONIC, "patches/PATCHES.txt": PATCHES}, told="patch"
    ),
    "interrupted-build": _one("unread", ".build.nodrop-old/leaf1/config_db.json", SONIC, "build"),
    "empty-json": _one("nothing", "leaf1/config_db.json", b"{}\n", "empty"),
    "empty-json-elsewhere": _one("nothing", "leaf1.json", b"{}", "empty"),
    "empty-file": _one("problem", "leaf1/config_db.json", b""),
    "empty-yaml": _one("nothing", "leaf1/startup.yaml", b"[]\n", "empty"),
    "header-only": _one("nothing", "leaf1/startup.yaml", NVUE.partition(b"- set")[0], "empty"),
    "empty-frr": _one("nothing", "leaf1/frr.conf", b"", "empty"),
    "blank-frr": _one("nothing", "leaf1/frr.conf", b"\n  \n! comment\n", "empty"),
    "empty-onyx": _one("nothing", "leaf1/running-config.txt", b"", "empty"),
    "empty-nclu": _one("nothing", "leaf1/nclu.txt", b"# none\n", "empty"),
    "empty-other": _one("nothing", "leaf1.txt", b"", "empty"),
    "empty-nv": _one("nothing", "leaf1.nv", b"", "empty"),
    "blank-other": _one("nothing", "leaf1.cfg", b" \n\n", "empty"),
    "link-to-folder": Form("nothing", {".venv/leaf1/config_db.json": SONIC}, (("leaf1", ".venv/leaf1"),), "link"),
    "link-out-of-the-tree": Form("unread", {}, (("leaf1.dat", "/etc/hostname"),), "link"),
    "link-out-of-the-tree-canonical": Form("problem", {}, (("leaf1/config_db.json", "/etc/hostname"),), "link"),
    "dangling-link": Form("unread", {}, (("leaf1.json", "nowhere.json"),), "link"),
    "dangling-link-yaml": Form("unread", {}, (("l.yaml", "nowhere"),), "link"),
    "dangling-link-canonical": Form("problem", {}, (("leaf1/config_db.json", "nowhere"),)),
    "link-to-itself": Form("unread", {}, (("loop.json", "loop.json"),), "link"),
    "excluded": Form(
        "ignored", {"leaf1/config_db.json": SONIC, "nodrop.yaml": b"version: 1\nexclude: [leaf1]\n"}, told="exclude"
    ),
    "onyx-cut": _one("cut", "leaf1.txt", ONYX[:185], "cut"),
    "onyx-cut-elsewhere": _one("cut", "leaf1/running-config.txt", ONYX[:205], "cut"),
    "nv-set-cut": _one("cut", "leaf1.nv", NVUE_SET[:45], "cut"),
    "frr-cut": Form("cut", {"leaf1/frr.conf": FRR[:60], "leaf1/config_db.json": GOOD}, told="cut"),
    "host-cut": _one("cut", "hosts/gpu1/mlnx_qos_eth0.txt", ROCE[:-20], "cut"),
    "readme": _one("ignored", "README.md", b"# nv set interface swp1\n"),
    "license": _one("ignored", "LICENSE", b"MIT\n"),
    "picture": _one("ignored", "rack.png", b"\x89PNG\r\n\x1a\n"),
    "csv": _one("ignored", "cabling.csv", b"a,b\n"),
    "git": _one("ignored", ".git/config", b"[core]\n"),
    "gitignore": _one("ignored", ".gitignore", b"build/\n"),
    "github": _one("ignored", ".github/workflows/ci.yml", b"on: push\n"),
    "virtual-environment": _one("ignored", ".venv/lib/x.json", SONIC),
    "python": _one("ignored", "scripts/collect.py", b"print('nv set interface swp1')\n"),
    "settings": _one("ignored", "nodrop.yaml", b"version: 1\n"),
    "loading-script": _one("ignored", "leaf1/apply/apply.sh", b"#!/bin/sh\n# Made by nodrop.\nexit 0\n"),
    "unit": _one("ignored", "web.service", b"[Unit]\nDescription=a web server\n[Service]\nExecStart=/usr/sbin/web\n"),
    "checksum": _one("ignored", "SHA256SUMS", b"00  x\n"),
    "python-of-another-kind": _one("unread", "leaf1.py.txt", b"print(1)\n"),
}

FORMS: dict[str, Form] = {
    **{f"{kind}-as-{path}": _one("read", path, raw) for kind, (paths, raw) in _READ.items() for path in paths},
    **_OTHER,
}
"""By a name of its own."""
