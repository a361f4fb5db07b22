"""What the Kubernetes API refuses of a NicConfigurationTemplate, row by row, and what it accepts."""

from copy import deepcopy
from typing import Any

import pytest

from nodrop.platforms.hosts.template_schema import find_refused_parts

ABSENT = object()
BASE = {
    "nicSelector": {"nicType": "1023", "pciAddresses": ["0000:04:00.0", "0000:AF:00.1"]},
    "template": {
        "numVfs": "1",
        "linkType": "Ethernet",
        "pciPerformanceOptimized": {"enabled": True, "maxReadRequest": "4096"},
        "gpuDirectOptimized": {"enabled": True, "env": "Baremetal"},
        "runtimePerformanceOptimized": {
            "enabled": True,
            "rxRingSize": "1",
            "txRingSize": "8192",
            "combinedChannels": "16",
        },
        "roceOptimized": {
            "enabled": True,
            "roceMode": "2",
            "qos": {
                "trust": "dscp",
                "pfc": "0,0,0,1,0,0,0,0",
                "ecn": {"enabled": True, "priority": "7"},
                "pauseFrames": {"enabled": False},
            },
        },
        "rawNvConfig": [{"name": "CNP_DSCP_P1[0]", "value": "48"}],
    },
}
PLANES = {
    "enabled": True,
    "version": "RA2.3",
    "platformType": "gb200",
    "multiplaneMode": "hwplb",
    "numberOfPlanes": "2",
}
SPECTRUM_X = {"template.roceOptimized.enabled": False, "template.spectrumXOptimized": PLANES}
BAY = {"template.networkBay": {"conf": "one"}, "template.linkType": ABSENT, "nicSelector.nicType": "1025"}


def changed(**changes: Any) -> dict[str, Any]:
    """Return the accepted template with values at paths."""
    spec: dict[str, Any] = deepcopy(BASE)
    for path, value in changes.items():
        *parents, key = path.split(".")
        part: Any = spec
        for parent in parents:
            part = part[int(parent)] if isinstance(part, list) else part.setdefault(parent, {})
        at: Any = int(key) if isinstance(part, list) else key
        if value is ABSENT:
            part.pop(at, None)
        else:
            part[at] = deepcopy(value)
    return {"spec": spec}


def found(*changes: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return what is refused after changes, one after the other: by path, what is found and what is expected."""
    merged = {path: value for each in changes for path, value in each.items()}
    return {
        ".".join(map(str, one.keys[1:])): (one.found, one.expected) for one in find_refused_parts(changed(**merged))
    }


@pytest.mark.parametrize(
    "changes",
    [
        {},
        SPECTRUM_X,
        BAY,
        SPECTRUM_X | BAY,
        {"template.rawNvConfig": ABSENT, "nicSelector.pciAddresses": ABSENT},
        {"template.roceOptimized": ABSENT, "template.linkType": "Infiniband"},
        {"template.roceOptimized.enabled": False, "template.linkType": "Infiniband"},
        SPECTRUM_X | {"template.spectrumXOptimized": {"enabled": True, "version": "RA2.1", "platformType": "gb200"}},
        {"template.spectrumXOptimized": {"enabled": False, "version": "RA2.1"}, "template.numVfs": "8"},
        {"template.numVfs": "0"},
    ],
)
def test_what_is_accepted(changes: dict[str, Any]) -> None:
    assert found(changes) == {}


T, S, R = "template", "template.spectrumXOptimized", "template.roceOptimized"
NO_VFS = "a number of virtual functions, which may be 0"


@pytest.mark.parametrize(
    ("changes", "path", "value", "says", "expected"),
    [
        ({}, "nicSelector.nicType", ABSENT, "not there", 'a device id such as "1021" (ConnectX-7)'),
        ({}, "nicSelector.pciAddresses.1", "0000:AF:00.8", "0000:AF:00.8", 'hexadecimal digits such as "0000:04:00.0"'),
        ({}, f"{T}.numVfs", ABSENT, "not there", NO_VFS),
        ({}, f"{T}.numVfs", "many", "many", NO_VFS),
        ({}, f"{T}.linkType", "IB", "IB", "Ethernet or Infiniband"),
        ({}, f"{T}.linkType", ABSENT, "not there", "Ethernet or Infiniband"),
        (BAY, f"{T}.networkBay.conf", ABSENT, "not there", "conf, which networkBay needs"),
        (BAY, f"{T}.linkType", "Ethernet", "set beside networkBay", "one of the two"),
        (BAY, "nicSelector.nicType", "1023", "1023, with networkBay", "1025 (ConnectX-9)"),
        ({}, f"{T}.gpuDirectOptimized.enabled", ABSENT, "not there", "true or false"),
        ({}, f"{T}.gpuDirectOptimized.env", ABSENT, "not there", "env, which gpuDirectOptimized needs"),
        (
            {},
            f"{T}.pciPerformanceOptimized.enabled",
            False,
            "false with gpuDirectOptimized",
            "both, since gpuDirectOptimized needs it",
        ),
        (
            {f"{T}.pciPerformanceOptimized": ABSENT},
            f"{T}.pciPerformanceOptimized.enabled",
            ABSENT,
            "not there",
            "true or false",
        ),
        ({}, f"{T}.pciPerformanceOptimized.maxReadRequest", "4097", "4097", "128, 256, 512, 1024, 2048 or 4096"),
        ({}, f"{T}.runtimePerformanceOptimized.enabled", ABSENT, "not there", "true or false"),
        ({}, f"{T}.runtimePerformanceOptimized.combinedChannels", "0", "0", "a number from 1"),
        ({}, f"{T}.runtimePerformanceOptimized.rxRingSize", "0", "0", "a number from 1"),
        ({}, f"{T}.runtimePerformanceOptimized.txRingSize", "x", "x", "a number from 1"),
        ({}, f"{R}.enabled", ABSENT, "not there", "true or false"),
        ({}, f"{R}.roceMode", "3", "3", "1 or 2"),
        ({}, f"{R}.qos.trust", ABSENT, "not there", "trust, which qos needs"),
        ({}, f"{R}.qos.pfc", ABSENT, "not there", 'eight switches: "0,0,0,1,0,0,0,0"'),
        ({}, f"{R}.qos.pfc", "0,0,0,1,0,0,0", "0,0,0,1,0,0,0", 'eight switches: "0,0,0,1,0,0,0,0"'),
        ({}, f"{R}.qos.ecn.enabled", ABSENT, "not there", "true or false"),
        ({}, f"{R}.qos.ecn.priority", ABSENT, "not there", "a priority, 0 to 7"),
        ({}, f"{R}.qos.ecn.priority", "8", "8", "a priority, 0 to 7"),
        ({}, f"{R}.qos.pauseFrames.enabled", ABSENT, "not there", "true or false"),
        ({}, f"{T}.rawNvConfig.0.name", ABSENT, "not there", "a name of at most 64 characters"),
        ({}, f"{T}.rawNvConfig.0.name", "A" * 65, "A" * 40 + "…", "a name of at most 64 characters"),
        ({}, f"{T}.rawNvConfig.0.name", "A[0..3]", "the range A[0..3]", "each index by itself"),
        ({}, f"{T}.rawNvConfig.0.value", "1" * 129, "1" * 40 + "…", "a value of at most 128 characters"),
        (SPECTRUM_X, f"{S}.enabled", ABSENT, "not there", "true or false"),
        (SPECTRUM_X, f"{S}.version", ABSENT, "not there", "version, which spectrumXOptimized needs"),
        (SPECTRUM_X, f"{S}.overlay", "l2", "l2", "none or l3"),
        (SPECTRUM_X, f"{S}.multiplaneMode", "uniplane", "uniplane", "none, swplb or hwplb"),
        (SPECTRUM_X, f"{S}.numberOfPlanes", "3", "3", "1, 2 or 4"),
        (SPECTRUM_X, f"{S}.numberOfPlanes", ABSENT, "1 with a multiplaneMode", "2 or 4"),
        (
            SPECTRUM_X | {f"{S}.multiplaneMode": ABSENT},
            f"{S}.numberOfPlanes",
            "2",
            "2 in mode none",
            "1, or a multiplaneMode",
        ),
        (SPECTRUM_X, f"{S}.platformType", ABSENT, "not there", "the type of the platform"),
        (SPECTRUM_X, f"{T}.numVfs", "8", "8 with spectrumXOptimized", "1"),
        (SPECTRUM_X, f"{T}.linkType", "Infiniband", "Infiniband with spectrumXOptimized", "Ethernet"),
        (
            SPECTRUM_X,
            f"{R}.enabled",
            True,
            "true together with spectrumXOptimized",
            "one of the two, which sets RoCE itself",
        ),
        (SPECTRUM_X, "nicSelector.nicType", "1021", "1021 with spectrumXOptimized", "1023, 1025 or a2dc"),
        (SPECTRUM_X, "nicSelector.nicType", "a2dc", "a2dc with multiplaneMode hwplb", "1023 or 1025"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], path: str, value: Any, says: str, expected: str) -> None:
    assert found(changes, {path: value}) == {path: (says, expected)}


def test_roce_on_infiniband_is_refused_by_the_operator() -> None:
    assert found({f"{T}.linkType": "Infiniband"}) == {f"{R}.enabled": ("true for Infiniband", "linkType: Ethernet")}


@pytest.mark.parametrize(
    "document", [None, "text", [], {}, {"spec": None}, {"spec": {"template": [1], "nicSelector": "x"}}]
)
def test_a_template_of_another_shape_is_refused_without_a_fault_of_the_reader(document: Any) -> None:
    assert all(one.found == "not there" for one in find_refused_parts(document))
