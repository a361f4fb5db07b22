"""Kubernetes: SriovNetworkNodePolicy of the SR-IOV network operator, which sets the MTU and hands out RDMA.

Source: k8snetworkplumbingwg/sriov-network-operator, api/v1/sriovnetworknodepolicy_types.go and pkg/webhook/validate.go.
"""

import re
from collections.abc import Mapping

from nodrop import hardware
from nodrop.platforms.hosts.facts import (
    APPLY_TO_CLUSTER,
    HostFileContent,
    HostFileKind,
    HostFileRemark,
    parse_number,
)
from nodrop.platforms.hosts.firmware import note_infiniband
from nodrop.platforms.hosts.template import split_documents_of_kind
from nodrop.syntax.places import Span
from nodrop.syntax.yaml import DocumentWithPlaces, parse_yaml

_SRIOV_POLICY_KIND_LINE = re.compile(r"""(?m)^(?:- )?["']?kind["']?\s*:\s*["']?SriovNetworkNodePolicy\b""")
_MELLANOX_VENDOR_ID = "15b3"


def _is_sriov_policy(head: str) -> bool:
    return bool(_SRIOV_POLICY_KIND_LINE.search(head))


def _parse_sriov_policies(file_text: str) -> tuple[HostFileContent, ...]:
    """Read every policy of a file. InputProblems where there are too many."""
    policies = [_SriovPolicyReader(document) for document in split_documents_of_kind(file_text, _is_sriov_policy)]
    return tuple(policy.parse_policy(policy.name if len(policies) > 1 else "") for policy in policies)


class _SriovPolicyReader:
    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._document: DocumentWithPlaces = parse_yaml(text, "policy")

    @property
    def name(self) -> str:
        """The policy's own name."""
        return str(self._document_value("metadata", "name") or "")

    def parse_policy(self, nic_part: str) -> HostFileContent:
        """Return the policy's settings of physical functions; `nic_part` distinguishes it within the file."""
        nodes = self._document_value("spec", "nodeSelector")
        addresses = self._document_value("spec", "nicSelector", "rootDevices")
        policy = HostFileContent(
            models=self._selected_nic_models(),
            pci_addresses=tuple(map(str, addresses)) if isinstance(addresses, list) else (),
            node_selector=tuple(sorted(f"{key}={node}" for key, node in nodes.items()))
            if isinstance(nodes, Mapping)
            else (),
        )
        link_type = str(self._document_value("spec", "linkType") or "").lower()
        if link_type in ("ib", "eth"):
            link_layer = "infiniband" if link_type == "ib" else "ethernet"
            policy.record_fact(nic_part, "link_layer", link_layer, self._key_span("linkType"))
            if link_layer == "infiniband":
                policy.notes.append(note_infiniband(self._key_span("linkType")))
        if (mtu := parse_number(str(self._document_value("spec", "mtu")))) is not None:
            policy.record_fact(nic_part, "mtu_bytes", mtu, self._key_span("mtu"))
        if isinstance(rdma := self._document_value("spec", "isRdma"), bool):
            policy.record_fact(nic_part, "rdma", rdma, self._key_span("isRdma"))
            if rdma and self._document_value("spec", "deviceType") == "vfio-pci":
                facts = {"path": "spec.deviceType", "found": "vfio-pci with isRdma", "expected": "netdevice"}
                policy.noticed.append(HostFileRemark("nic-template", facts, self._key_span("deviceType")))
        return policy

    def _selected_nic_models(self) -> tuple[str, ...]:
        """Return the NICs that the policy selects, by catalogue name; none where it selects by other criteria."""
        vendor, device = (
            self._document_value("spec", "nicSelector", "vendor"),
            self._document_value("spec", "nicSelector", "deviceID"),
        )
        if device is None:
            return ()
        known_nics = [
            name
            for name in hardware.nics()
            if vendor in (None, _MELLANOX_VENDOR_ID) and hardware.nic(name).pci_device == device
        ]
        return tuple(known_nics) or (f"deviceID {device}",)

    def _document_value(self, *keys: str) -> object:
        data = self._document.data
        for key in keys:
            data = data.get(key) if isinstance(data, Mapping) else None
        return data

    def _key_span(self, key: str) -> Span:
        line, column = self._document.line_and_column(("spec", key), of="key")
        return Span(line, column, line, max(len(self._lines[line - 1].rstrip()), column) + 1)


FILE_KIND = HostFileKind(_is_sriov_policy, _parse_sriov_policies, then=APPLY_TO_CLUSTER)
