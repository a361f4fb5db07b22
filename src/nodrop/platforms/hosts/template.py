"""Kubernetes: NicConfigurationTemplate, with the NIC configuration operator's defaults for missing settings.

Settings that the Kubernetes API refuses are in `template_schema.py`. Defaults: Mellanox/nic-configuration-operator
pkg/configuration/configvalidation.go (raw settings win over all others).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nodrop import hardware
from nodrop.errors import InputProblems, Problem
from nodrop.limits import MAX_TEMPLATES
from nodrop.platforms.hosts import firmware
from nodrop.platforms.hosts.facts import Form, Noticed, Parsed, byte, number, switches
from nodrop.platforms.hosts.template_schema import find_refusals
from nodrop.syntax.places import Span
from nodrop.syntax.yaml import Document, parse

_KIND = re.compile(r"""(?m)^(?:- )?["']?kind["']?\s*:\s*["']?NicConfigurationTemplate\b""")
_BREAK = re.compile(r"(?m)^---[^\n]*\n")
_MASK = "ROCE_CC_PRIO_MASK"
_ROCE = ("spec", "template", "roceOptimized")
_SPECTRUM_X = ("spec", "template", "spectrumXOptimized")
_DEFAULT = "default of the NIC configuration operator"
_BY_PROFILE = "profile of Spectrum-X, which the NIC configuration operator applies"
_DEFAULT_PFC, _DEFAULT_TOS, _DEFAULT_CNP_DSCP, _DEFAULT_CNP_PRIORITY = (3,), 0, 4, 6


def _is_nic_template(head: str) -> bool:
    return bool(_KIND.search(head))


def documents(file_text: str, shows: Callable[[str], bool]) -> list[str]:
    """Return the documents of one kind in a file, with their line numbers. InputProblems where there are too many."""
    found_documents: list[str] = []
    before = 0
    for piece in _BREAK.split(file_text):
        if shows(piece):
            if len(found_documents) == MAX_TEMPLATES:
                excess = f"more than {MAX_TEMPLATES} templates"
                raise InputProblems([Problem(path="", line=before + 1, found=excess, expected="fewer in one file")])
            found_documents.append("\n" * before + piece)
        before += piece.count("\n") + 1
    return found_documents


def _parse(file_text: str) -> tuple[Parsed, ...]:
    """Read every template of a file."""
    templates = [_Template(document) for document in documents(file_text, _is_nic_template)]
    return tuple(template.parse_template(template.name if len(templates) > 1 else "") for template in templates)


class _Template:
    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._document: Document = parse(text, "template")
        self._part = ""

    @property
    def name(self) -> str:
        """The template's own name."""
        return str(self._document_value("metadata", "name") or "")

    def parse_template(self, nic_part: str) -> Parsed:
        """Return the settings of the template; `nic_part` distinguishes it from others in the same file."""
        self._part = nic_part
        nic_type = str(self._document_value("spec", "nicSelector", "nicType") or "")
        models = tuple(name for name in hardware.nics() if hardware.nic(name).operator_type == nic_type != "")
        addresses = self._document_value("spec", "nicSelector", "pciAddresses")
        pci_addresses = tuple(map(str, addresses)) if isinstance(addresses, list) else ()
        if nic_type and not models:
            models = (f"nicType {nic_type}",)
        selector = self._document_value("spec", "nodeSelector")
        nodes = tuple(sorted(f"{key}={value}" for key, value in selector.items())) if isinstance(selector, dict) else ()
        template = Parsed(models=models, pci_addresses=pci_addresses, node_selector=nodes)
        for refusal in find_refusals(self._document.data):
            facts = {"path": ".".join(map(str, refusal.keys)), "found": refusal.found, "expected": refusal.expected}
            template.noticed.append(Noticed("nic-template", facts, self._key_span(*refusal.keys)))
        link_type = self._document_value("spec", "template", "linkType")
        if link_type == "Infiniband":
            template.say(nic_part, "link_layer", "infiniband", self._key_span("spec", "template", "linkType"))
            template.notes.append(firmware.infiniband(self._key_span("spec", "template", "linkType")))
        elif self._is_enabled(_SPECTRUM_X):
            template.say(nic_part, "spectrum_x", True, self._key_span(*_SPECTRUM_X))
            template.say(nic_part, "adaptive_routing", True, self._key_span(*_SPECTRUM_X), _BY_PROFILE)
        elif self._is_enabled(_ROCE):
            self._read_roce_settings(template)
        self._read_raw_settings(template)
        template.say(nic_part, "template", self.name, self._key_span("spec", "nicSelector"))
        return template

    def _read_roce_settings(self, facts: Parsed) -> None:
        where = self._key_span(*_ROCE, of="key")
        qos = self._document_value(*_ROCE, "qos")
        qos = qos if isinstance(qos, Mapping) else {}
        trust = "pcp" if qos.get("trust") == "pcp" else "dscp"
        facts.say(self._part, "trust", trust, self._qos_key_span("trust", qos), "" if "trust" in qos else _DEFAULT)
        pfc = switches(str(qos["pfc"])) if "pfc" in qos else None
        reason = "" if pfc is not None else _DEFAULT
        facts.say(
            self._part, "pfc_priorities", _DEFAULT_PFC if pfc is None else pfc, self._qos_key_span("pfc", qos), reason
        )
        tos = _parse_number(qos.get("tos", _DEFAULT_TOS))
        facts.say(self._part, "tos", tos, self._qos_key_span("tos", qos), "" if "tos" in qos else _DEFAULT)
        if (length_m := _parse_number(qos.get("cableLen"))) is not None:
            facts.say(self._part, "cable_length_m", length_m, self._qos_key_span("cableLen", qos))
        if isinstance(ecn := qos.get("ecn"), Mapping):
            priority = _parse_number(ecn.get("priority", 3))
            dcqcn_priorities = (priority,) if ecn.get("enabled") is True and priority is not None else ()
            facts.say(self._part, "dcqcn_priorities", dcqcn_priorities, self._qos_key_span("ecn", qos))
        if isinstance(pause := qos.get("pauseFrames"), Mapping):
            facts.say(self._part, "link_pause", pause.get("enabled") is True, self._qos_key_span("pauseFrames", qos))
        if (mode := _parse_number(self._document_value(*_ROCE, "roceMode"))) in (1, 2):
            facts.say(self._part, "roce_version", mode, self._key_span(*_ROCE, "roceMode"))
        facts.say(self._part, "cnp_dscp", _DEFAULT_CNP_DSCP, where, _DEFAULT)
        facts.say(self._part, "cnp_priority", _DEFAULT_CNP_PRIORITY, where, _DEFAULT)

    def _qos_key_span(self, key: str, qos: Mapping[str, object]) -> Span:
        keys = (*_ROCE, "qos", key) if key in qos else (*_ROCE, "qos") if qos else _ROCE
        return self._key_span(*keys, of="key")

    def _read_raw_settings(self, facts: Parsed) -> None:
        """Say what raw settings of the firmware set, port by port; they win over all else."""
        for at, entry in enumerate(self._raw_settings()):
            setting = firmware.PORT.fullmatch(str(entry.get("name")))
            value = byte(str(entry.get("value")))
            if setting is not None and value is not None:
                port = "" if setting[2] in (None, "1") else f"P{setting[2]}"
                nic_part = ".".join(filter(None, (self._part, port)))
                span = self._key_span("spec", "template", "rawNvConfig", at)
                if setting[1] == _MASK:
                    self._add_masked_priorities(facts, nic_part, firmware.priorities(value), span)
                else:
                    firmware.say(facts, nic_part, setting[1], value, span)

    def _add_masked_priorities(self, facts: Parsed, nic_part: str, masked: tuple[int, ...], span: Span) -> None:
        """Add the priorities with DCQCN of a raw setting to those of `ecn`, unless `ecn` turns DCQCN off."""
        ecn = facts.parts.get(nic_part, {}).get("dcqcn_priorities")
        if ecn is None or ecn.value:
            facts.say(nic_part, "dcqcn_priorities", tuple(sorted({*masked, *(ecn.value if ecn else ())})), span)

    def _raw_settings(self) -> Sequence[Mapping[str, object]]:
        raw = self._document_value("spec", "template", "rawNvConfig")
        return [entry for entry in raw if isinstance(entry, Mapping)] if isinstance(raw, list) else []

    def _document_value(self, *keys: str) -> object:
        data = self._document.data
        for key in keys:
            data = data.get(key) if isinstance(data, Mapping) else None
        return data

    def _is_enabled(self, keys: tuple[str, ...]) -> bool:
        return self._document_value(*keys, "enabled") is True

    def _key_span(self, *keys: str | int, of: Any = "key") -> Span:
        line, column = self._document.place(keys, of=of)
        return Span(line, column, line, max(len(self._lines[line - 1].rstrip()), column) + 1)


def _parse_number(value: object) -> int | None:
    """Return a whole number as YAML has it, typed or as text; None where it is none."""
    return number(str(value))


FORM = Form(_is_nic_template, _parse)
