"""Kubernetes: NicConfigurationTemplate, with the NIC configuration operator's defaults for missing settings.

Settings that the Kubernetes API refuses are in `template_schema.py`. Defaults: Mellanox/nic-configuration-operator
pkg/configuration/configvalidation.go (raw settings win over all others).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nodrop import hardware
from nodrop.errors import InputProblems, Problem
from nodrop.limits import MAX_NIC_TEMPLATES_PER_FILE
from nodrop.platforms.hosts import firmware
from nodrop.platforms.hosts.facts import (
    APPLY_TO_CLUSTER,
    HostFileContent,
    HostFileKind,
    HostFileRemark,
    parse_byte,
    parse_number,
    parse_priority_on_off_list,
)
from nodrop.platforms.hosts.template_schema import find_refused_parts
from nodrop.syntax.places import Span
from nodrop.syntax.yaml import DocumentWithPlaces, parse_yaml

_NIC_TEMPLATE_KIND_LINE = re.compile(r"""(?m)^(?:- )?["']?kind["']?\s*:\s*["']?NicConfigurationTemplate\b""")
_YAML_DOCUMENT_SEPARATOR = re.compile(r"(?m)^---[^\n]*\n")
_PRIORITY_MASK_SETTING = "ROCE_CC_PRIO_MASK"
_ROCE_OPTIMIZED_PATH = ("spec", "template", "roceOptimized")
_SPECTRUM_X_PATH = ("spec", "template", "spectrumXOptimized")
_OPERATOR_DEFAULT_REASON = "default of the NIC configuration operator"
_SPECTRUM_X_PROFILE_REASON = "profile of Spectrum-X, which the NIC configuration operator applies"
_DEFAULT_PFC, _DEFAULT_TOS, _DEFAULT_CNP_DSCP, _DEFAULT_CNP_PRIORITY = (3,), 0, 4, 6


def _is_nic_template(head: str) -> bool:
    return bool(_NIC_TEMPLATE_KIND_LINE.search(head))


def split_documents_of_kind(file_text: str, shows: Callable[[str], bool]) -> list[str]:
    """Return the documents of one kind in a file, with their line numbers. InputProblems where there are too many."""
    found_documents: list[str] = []
    before = 0
    for piece in _YAML_DOCUMENT_SEPARATOR.split(file_text):
        if shows(piece):
            if len(found_documents) == MAX_NIC_TEMPLATES_PER_FILE:
                excess = f"more than {MAX_NIC_TEMPLATES_PER_FILE} templates"
                raise InputProblems([Problem(path="", line=before + 1, found=excess, expected="fewer in one file")])
            found_documents.append("\n" * before + piece)
        before += piece.count("\n") + 1
    return found_documents


def _parse_nic_templates(file_text: str) -> tuple[HostFileContent, ...]:
    """Read every template of a file."""
    templates = [_NicTemplateReader(document) for document in split_documents_of_kind(file_text, _is_nic_template)]
    return tuple(template.parse_template(template.name if len(templates) > 1 else "") for template in templates)


class _NicTemplateReader:
    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._document: DocumentWithPlaces = parse_yaml(text, "template")
        self._part = ""

    @property
    def name(self) -> str:
        """The template's own name."""
        return str(self._document_value("metadata", "name") or "")

    def parse_template(self, nic_part: str) -> HostFileContent:
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
        template = HostFileContent(models=models, pci_addresses=pci_addresses, node_selector=nodes)
        for refusal in find_refused_parts(self._document.data):
            facts = {"path": ".".join(map(str, refusal.keys)), "found": refusal.found, "expected": refusal.expected}
            template.noticed.append(HostFileRemark("nic-template", facts, self._key_span(*refusal.keys)))
        link_type = self._document_value("spec", "template", "linkType")
        if link_type == "Infiniband":
            template.record_fact(nic_part, "link_layer", "infiniband", self._key_span("spec", "template", "linkType"))
            template.notes.append(firmware.note_infiniband(self._key_span("spec", "template", "linkType")))
        elif self._is_enabled(_SPECTRUM_X_PATH):
            template.record_fact(nic_part, "spectrum_x", True, self._key_span(*_SPECTRUM_X_PATH))
            template.record_fact(
                nic_part, "adaptive_routing", True, self._key_span(*_SPECTRUM_X_PATH), _SPECTRUM_X_PROFILE_REASON
            )
        elif self._is_enabled(_ROCE_OPTIMIZED_PATH):
            self._read_roce_settings(template)
        self._read_raw_settings(template)
        template.record_fact(nic_part, "template", self.name, self._key_span("spec", "nicSelector"))
        return template

    def _read_roce_settings(self, facts: HostFileContent) -> None:
        where = self._key_span(*_ROCE_OPTIMIZED_PATH, of="key")
        qos = self._document_value(*_ROCE_OPTIMIZED_PATH, "qos")
        qos = qos if isinstance(qos, Mapping) else {}
        trust = "pcp" if qos.get("trust") == "pcp" else "dscp"
        facts.record_fact(
            self._part,
            "trust",
            trust,
            self._qos_key_span("trust", qos),
            "" if "trust" in qos else _OPERATOR_DEFAULT_REASON,
        )
        pfc = parse_priority_on_off_list(str(qos["pfc"])) if "pfc" in qos else None
        reason = "" if pfc is not None else _OPERATOR_DEFAULT_REASON
        facts.record_fact(
            self._part, "pfc_priorities", _DEFAULT_PFC if pfc is None else pfc, self._qos_key_span("pfc", qos), reason
        )
        tos = _parse_number(qos.get("tos", _DEFAULT_TOS))
        facts.record_fact(
            self._part, "tos", tos, self._qos_key_span("tos", qos), "" if "tos" in qos else _OPERATOR_DEFAULT_REASON
        )
        if (length_m := _parse_number(qos.get("cableLen"))) is not None:
            facts.record_fact(self._part, "cable_length_m", length_m, self._qos_key_span("cableLen", qos))
        if isinstance(ecn := qos.get("ecn"), Mapping):
            priority = _parse_number(ecn.get("priority", 3))
            dcqcn_priorities = (priority,) if ecn.get("enabled") is True and priority is not None else ()
            facts.record_fact(self._part, "dcqcn_priorities", dcqcn_priorities, self._qos_key_span("ecn", qos))
        if isinstance(pause := qos.get("pauseFrames"), Mapping):
            facts.record_fact(
                self._part, "link_pause", pause.get("enabled") is True, self._qos_key_span("pauseFrames", qos)
            )
        if (mode := _parse_number(self._document_value(*_ROCE_OPTIMIZED_PATH, "roceMode"))) in (1, 2):
            facts.record_fact(self._part, "roce_version", mode, self._key_span(*_ROCE_OPTIMIZED_PATH, "roceMode"))
        facts.record_fact(self._part, "cnp_dscp", _DEFAULT_CNP_DSCP, where, _OPERATOR_DEFAULT_REASON)
        facts.record_fact(self._part, "cnp_priority", _DEFAULT_CNP_PRIORITY, where, _OPERATOR_DEFAULT_REASON)

    def _qos_key_span(self, key: str, qos: Mapping[str, object]) -> Span:
        keys = (
            (*_ROCE_OPTIMIZED_PATH, "qos", key)
            if key in qos
            else (*_ROCE_OPTIMIZED_PATH, "qos")
            if qos
            else _ROCE_OPTIMIZED_PATH
        )
        return self._key_span(*keys, of="key")

    def _read_raw_settings(self, facts: HostFileContent) -> None:
        """Say what raw settings of the firmware set, port by port; they win over all else."""
        for at, entry in enumerate(self._raw_settings()):
            setting = firmware.PORT_SETTING_PATTERN.fullmatch(str(entry.get("name")))
            value = parse_byte(str(entry.get("value")))
            if setting is not None and value is not None:
                port = "" if setting[2] in (None, "1") else f"P{setting[2]}"
                nic_part = ".".join(filter(None, (self._part, port)))
                span = self._key_span("spec", "template", "rawNvConfig", at)
                if setting[1] == _PRIORITY_MASK_SETTING:
                    self._add_masked_priorities(facts, nic_part, firmware.priorities_of_mask(value), span)
                else:
                    firmware.record_firmware_setting(facts, nic_part, setting[1], value, span)

    def _add_masked_priorities(
        self, facts: HostFileContent, nic_part: str, masked: tuple[int, ...], span: Span
    ) -> None:
        """Add the priorities with DCQCN of a raw setting to those of `ecn`, unless `ecn` turns DCQCN off."""
        ecn = facts.parts.get(nic_part, {}).get("dcqcn_priorities")
        if ecn is None or ecn.value:
            facts.record_fact(nic_part, "dcqcn_priorities", tuple(sorted({*masked, *(ecn.value if ecn else ())})), span)

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
        line, column = self._document.line_and_column(keys, of=of)
        return Span(line, column, line, max(len(self._lines[line - 1].rstrip()), column) + 1)


def _parse_number(value: object) -> int | None:
    """Return a whole number as YAML has it, typed or as text; None where it is none."""
    return parse_number(str(value))


FILE_KIND = HostFileKind(_is_nic_template, _parse_nic_templates, then=APPLY_TO_CLUSTER)
