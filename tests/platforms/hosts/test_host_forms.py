"""Each form of a host's files by itself: how it is recognised, for whom it is, and what it says of NICs."""

from pathlib import Path

import pytest

from nodrop.model.nics import Nic
from nodrop.model.reading import Source
from nodrop.platforms import hosts
from support.host_files import FIRMWARE, GOOD, QOS


def nics(text: str, name: str = "gpu1.txt") -> tuple[Nic, ...]:
    return hosts.read_host("gpu1", [(Source(name=name, display=name), text.encode())]).nics


@pytest.mark.parametrize("text", [GOOD, FIRMWARE, QOS])
def test_each_form_is_recognised_and_says_something_of_a_nic(text: str) -> None:
    assert hosts.has_nic_settings(text.encode())
    assert nics(text) != ()


@pytest.mark.parametrize("text", ["", "nodrop: 1\n", "frr version 10.0\n", '{"PORT": {}}', "mlnx", "echo done\n"])
def test_other_files_are_none_of_a_host(text: str) -> None:
    assert not hosts.has_nic_settings(text.encode())


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("hosts/gpu1.sh", "gpu1"),
        ("hosts/gpu1.site.example.yaml", "gpu1"),
        ("hosts/.gpu1.env", "gpu1"),
        ("gpu1/mlnx_qos.txt", "gpu1"),
        ("pod/gpu1/qos.out", "gpu1"),
    ],
)
def test_for_whom_a_file_is(path: str, name: str) -> None:
    assert hosts.host_name_of_path(Path(path)) == name


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("mlnx_qos -i eth0 --pfc 0,0,0,1,0,0,0,0 --trust dscp\n", "pfc_priorities", (3,)),
        ("mlnx_qos -i eth0 --pfc 0,0,0,0,0,0,0,0 --trust dscp\n", "pfc_priorities", ()),
        ("mlnx_qos -i eth0 --pfc=0,0,0,1,1,0,0,0\n", "pfc_priorities", (3, 4)),
        ("mlnx_qos -i eth0 --trust dscp\n", "trust", "dscp"),
        ("mlnx_qos -i eth0 --trust=pcp\n", "trust", "pcp"),
    ],
)
def test_what_a_command_sets(text: str, path: str, value: object) -> None:
    (nic,) = (one for one in nics(text, "gpu1.sh") if getattr(one, path, None) is not None)
    assert getattr(nic, path) == value
