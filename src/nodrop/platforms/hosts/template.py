"""Kubernetes: NicConfigurationTemplate, with what the NIC configuration operator does where a template does not say it.

Defaults: Mellanox/nic-configuration-operator pkg/configuration/configvalidation.go (raw settings win over all others).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nodrop import hardware
from nodrop.errors import InputProblems, Problem
from nodrop.formats.places import Span, shown
from nodrop.formats.yaml import Document, parse
from nodrop.limits import MAX_TEMPLATES
from nodrop.platforms.hosts import firmware
from nodrop.platforms.hosts.facts import Form, Noticed, Parsed, byte, number, switches

_KIND = re.compile(r"""(?m)^(?:- )?["']?kind["']?\s*:\s*["']?NicConfigurationTemplate\b""")
_BREAK = re.compile(r"(?m)^---[^\n]*\n")
_PCI_ADDRESS = re.compile(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]")
_MASK = "ROCE_CC_PRIO_MASK"
_ROCE = ("spec", "template", "roceOptimized")
_SPECTRUM_X = ("spec", "template", "spectrumXOptimized")
_DEFAULT = "default of the NIC configuration operator"
_BY_PROFILE = "profile of Spectrum-X, which the NIC configuration operator applies"
_DEFAULT_PFC, _DEFAULT_TOS, _DEFAULT_CNP_DSCP, _DEFAULT_CNP_PRIORITY = (3,), 0, 4, 6


def _shows(head: str) -> bool:
    return bool(_KIND.search(head))


def documents(text: str, shows: Callable[[str], bool]) -> list[str]:
    """Return the documents of one kind in a file, with their line numbers. InputProblems where there are too many."""
    found: list[str] = []
    before = 0
    for piece in _BREAK.split(text):
        if shows(piece):
            if len(found) == MAX_TEMPLATES:
                excess = f"more than {MAX_TEMPLATES} templates"
                raise InputProblems([Problem(path="", line=before + 1, found=excess, expected="fewer in one file")])
            found.append("\n" * before + piece)
        before += piece.count("\n") + 1
    return found


def _parse(text: str) -> tuple[Parsed, ...]:
    """Read every template of a file."""
    templates = [_Template(document) for document in documents(text, _shows)]
    return tuple(one.read(one.name if len(templates) > 1 else "") for one in templates)


class _Refused(NamedTuple):
    """What the operator does not take: where, and what it wants."""

    keys: tuple[str | int, ...]
    found: str
    expected: str


class _Template:
    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._document: Document = parse(text, "template")
        self._part = ""

    @property
    def name(self) -> str:
        """The template's own name."""
        return str(self._at("metadata", "name") or "")

    def read(self, part: str) -> Parsed:
        """Return what it says; `part` tells it apart from others in the same file."""
        self._part = part
        nic_type = str(self._at("spec", "nicSelector", "nicType") or "")
        models = tuple(name for name in hardware.nics() if hardware.nic(name).operator_type == nic_type != "")
        addresses = self._at("spec", "nicSelector", "pciAddresses")
        held = tuple(map(str, addresses)) if isinstance(addresses, list) else ()
        if nic_type and not models:
            models = (f"nicType {nic_type}",)
        selector = self._at("spec", "nodeSelector")
        nodes = tuple(sorted(f"{key}={value}" for key, value in selector.items())) if isinstance(selector, dict) else ()
        found = Parsed(models=models, pci_addresses=held, node_selector=nodes)
        for refused in self._refused(nic_type):
            facts = {"path": ".".join(map(str, refused.keys)), "found": refused.found, "expected": refused.expected}
            found.noticed.append(Noticed("nic-template", facts, self._span(*refused.keys)))
        link_type = self._at("spec", "template", "linkType")
        if link_type == "Infiniband":
            found.say(part, "link_layer", "infiniband", self._span("spec", "template", "linkType"))
            found.notes.append(firmware.infiniband(self._span("spec", "template", "linkType")))
        elif self._on(_SPECTRUM_X):
            found.say(part, "spectrum_x", True, self._span(*_SPECTRUM_X))
            found.say(part, "adaptive_routing", True, self._span(*_SPECTRUM_X), _BY_PROFILE)
        elif self._on(_ROCE):
            self._roce(found)
        self._settings(found)
        found.say(part, "template", self.name, self._span("spec", "nicSelector"))
        return found

    def _roce(self, found: Parsed) -> None:
        where = self._span(*_ROCE, of="key")
        qos = self._at(*_ROCE, "qos")
        qos = qos if isinstance(qos, Mapping) else {}
        trust = "pcp" if qos.get("trust") == "pcp" else "dscp"
        found.say(self._part, "trust", trust, self._qos("trust", qos), "" if "trust" in qos else _DEFAULT)
        pfc = switches(str(qos["pfc"])) if "pfc" in qos else None
        reason = "" if pfc is not None else _DEFAULT
        found.say(self._part, "pfc_priorities", _DEFAULT_PFC if pfc is None else pfc, self._qos("pfc", qos), reason)
        tos = _number(qos.get("tos", _DEFAULT_TOS))
        found.say(self._part, "tos", tos, self._qos("tos", qos), "" if "tos" in qos else _DEFAULT)
        if (length_m := _number(qos.get("cableLen"))) is not None:
            found.say(self._part, "cable_length_m", length_m, self._qos("cableLen", qos))
        if isinstance(ecn := qos.get("ecn"), Mapping):
            priority = _number(ecn.get("priority", 3))
            held = (priority,) if ecn.get("enabled") is True and priority is not None else ()
            found.say(self._part, "dcqcn_priorities", held, self._qos("ecn", qos))
        if isinstance(pause := qos.get("pauseFrames"), Mapping):
            found.say(self._part, "link_pause", pause.get("enabled") is True, self._qos("pauseFrames", qos))
        if (mode := _number(self._at(*_ROCE, "roceMode"))) in (1, 2):
            found.say(self._part, "roce_version", mode, self._span(*_ROCE, "roceMode"))
        found.say(self._part, "cnp_dscp", _DEFAULT_CNP_DSCP, where, _DEFAULT)
        found.say(self._part, "cnp_priority", _DEFAULT_CNP_PRIORITY, where, _DEFAULT)

    def _qos(self, key: str, qos: Mapping[str, Any]) -> Span:
        keys = (*_ROCE, "qos", key) if key in qos else (*_ROCE, "qos") if qos else _ROCE
        return self._span(*keys, of="key")

    def _settings(self, found: Parsed) -> None:
        """Say what raw settings of the firmware set, port by port; they win over all else."""
        for at, entry in enumerate(self._raw()):
            setting = firmware.PORT.fullmatch(str(entry.get("name")))
            value = byte(str(entry.get("value")))
            if setting is not None and value is not None:
                port = "" if setting[2] in (None, "1") else f"P{setting[2]}"
                part = ".".join(filter(None, (self._part, port)))
                span = self._span("spec", "template", "rawNvConfig", at)
                if setting[1] == _MASK:
                    self._mask(found, part, firmware.priorities(value), span)
                else:
                    firmware.say(found, part, setting[1], value, span)

    def _mask(self, found: Parsed, part: str, masked: tuple[int, ...], span: Span) -> None:
        """Add the priorities with DCQCN of a raw setting to those of `ecn`, unless `ecn` turns DCQCN off."""
        ecn = found.parts.get(part, {}).get("dcqcn_priorities")
        if ecn is None or ecn.value:
            found.say(part, "dcqcn_priorities", tuple(sorted({*masked, *(ecn.value if ecn else ())})), span)

    def _raw(self) -> Sequence[Mapping[str, Any]]:
        raw = self._at("spec", "template", "rawNvConfig")
        return [entry for entry in raw if isinstance(entry, Mapping)] if isinstance(raw, list) else []

    def _refused(self, nic_type: str) -> Iterator[_Refused]:
        """Yield what the custom resource's validation refuses (config/crd/bases of the operator)."""
        template = ("spec", "template")
        link, bay = self._at(*template, "linkType"), self._at(*template, "networkBay")
        if not nic_type:
            yield _Refused(("spec", "nicSelector", "nicType"), "not there", 'a device id such as "1021" (ConnectX-7)')
        addresses = self._at("spec", "nicSelector", "pciAddresses")
        for at, address in enumerate(addresses if isinstance(addresses, list) else ()):
            if not _PCI_ADDRESS.fullmatch(str(address)):
                found, expected = shown(str(address))[:60], 'hexadecimal digits such as "0000:04:00.0"'
                yield _Refused(("spec", "nicSelector", "pciAddresses", at), found, expected)
        if self._at(*template, "numVfs") is None:
            yield _Refused((*template, "numVfs"), "not there", "a number of virtual functions, which may be 0")
        if link is None and bay is None:
            yield _Refused((*template, "linkType"), "not there", "Ethernet or Infiniband")
        if link is not None and bay is not None:
            yield _Refused((*template, "linkType"), "set beside networkBay", "one of the two")
        if bay is not None and nic_type != "1025":
            yield _Refused((*template, "networkBay"), f"set for nicType {nic_type}", "nicType 1025 (ConnectX-9)")
        if self._on(_ROCE) and link == "Infiniband":
            yield _Refused(_ROCE, "enabled for Infiniband", "linkType: Ethernet")
        if isinstance(qos := self._at(*_ROCE, "qos"), Mapping):
            for key in ("trust", "pfc"):
                if key not in qos:
                    yield _Refused((*_ROCE, "qos", key), "not there", f"{key}, which qos needs")
            if "pfc" in qos and switches(str(qos["pfc"])) is None:
                yield _Refused((*_ROCE, "qos", "pfc"), str(qos["pfc"])[:60], 'eight switches: "0,0,0,1,0,0,0,0"')
        direct, pci = (*template, "gpuDirectOptimized"), (*template, "pciPerformanceOptimized")
        if self._on(direct) and not self._on(pci):
            yield _Refused(direct, "enabled without pciPerformanceOptimized", "both, for the one needs the other")
        for entry in self._raw():
            if re.search(r"\[[0-9]+\.\.[0-9]+\]", str(entry.get("name"))):
                yield _Refused((*template, "rawNvConfig"), f"the range {entry['name']}", "each index by itself")
        if self._on(_SPECTRUM_X):
            yield from self._spectrum_x(nic_type)

    def _spectrum_x(self, nic_type: str) -> Iterator[_Refused]:
        template = ("spec", "template")
        if self._on(_ROCE):
            yield _Refused(_ROCE, "enabled together with spectrumXOptimized", "one of the two, which sets RoCE itself")
        if (count := _number(self._at(*template, "numVfs"))) != 1:
            yield _Refused((*template, "numVfs"), f"{count} with spectrumXOptimized", "1")
        if self._at(*template, "linkType") == "Infiniband":
            yield _Refused((*template, "linkType"), "Infiniband with spectrumXOptimized", "Ethernet")
        if nic_type not in ("1023", "1025", "a2dc"):
            found = f"{nic_type} with spectrumXOptimized"
            yield _Refused(("spec", "nicSelector", "nicType"), found, "1023, 1025 or a2dc")
        if self._at(*_SPECTRUM_X, "platformType") is None:
            yield _Refused((*_SPECTRUM_X, "platformType"), "not there", "the type of the platform")
        planes, mode = _number(self._at(*_SPECTRUM_X, "numberOfPlanes")), self._at(*_SPECTRUM_X, "multiplaneMode")
        if planes is not None and mode is not None and (mode == "none") != (planes == 1):
            yield _Refused((*_SPECTRUM_X, "numberOfPlanes"), f"{planes} in mode {mode}", "1 in mode none, else more")
        if mode not in (None, "none", "swplb", "hwplb"):
            yield _Refused((*_SPECTRUM_X, "multiplaneMode"), str(mode)[:60], "none, swplb or hwplb")
        if mode == "hwplb" and nic_type not in ("1023", "1025"):
            yield _Refused((*_SPECTRUM_X, "multiplaneMode"), f"hwplb on nicType {nic_type}", "nicType 1023 or 1025")

    def _at(self, *keys: str) -> Any:
        data = self._document.data
        for key in keys:
            data = data.get(key) if isinstance(data, Mapping) else None
        return data

    def _on(self, keys: tuple[str, ...]) -> bool:
        return self._at(*keys, "enabled") is True

    def _span(self, *keys: str | int, of: Any = "key") -> Span:
        line, column = self._document.place(keys, of=of)
        return Span(line, column, line, max(len(self._lines[line - 1].rstrip()), column) + 1)


def _number(value: object) -> int | None:
    """Return a whole number as YAML has it, typed or as text; None where it is none."""
    return number(str(value))


FORM = Form(_shows, _parse)
