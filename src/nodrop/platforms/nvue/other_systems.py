"""Systems with NVUE that are not Cumulus Linux, and that nodrop does not read: HBN and NVOS.

They are recognised by: `model: BLUEFIELD` and `version: HBN 2.4.0` in the header of HBN (NVIDIA/doca-platform, HBN's
startup.yaml) and its ports `p0_if`, `pf0hpf_if`, `pf0vf0_if` (NVIDIA DOCA HBN service guide, "Interfaces"); the
InfiniBand and NVLink switches Q3400, QM9700 and N5400 of NVOS (NVOS user manual, "nv show platform").
"""

import re
from collections.abc import Mapping

_HBN_PATTERN = re.compile(r"hbn|doca|bluefield", re.IGNORECASE)
_NVOS_PATTERN = re.compile(r"nvos|(?:qm?[0-9]{4}|n5[0-9]{3})", re.IGNORECASE)
_HBN_PORT_PATTERN = re.compile(r"p[0-9]_if|pf[0-9](?:hpf|vf[0-9]{1,4}|sf[0-9]{1,4})_if")


def other_system_name(header: Mapping[str, object], root: Mapping[str, object]) -> str:
    """Return the name of the system that a file is of; nothing where it may be Cumulus Linux."""
    header_texts = [str(header.get(key) or "") for key in ("model", "version")]
    interfaces = root.get("interface")
    names = interfaces if isinstance(interfaces, dict) else {}
    if any(map(_HBN_PATTERN.match, header_texts)) or any(_HBN_PORT_PATTERN.fullmatch(str(name)) for name in names):
        return "HBN, the service on BlueField DPUs"
    if any(map(_NVOS_PATTERN.match, header_texts)):
        return "NVOS, the system of InfiniBand and NVLink switches"
    return ""
