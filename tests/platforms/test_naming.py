"""Names of ports: what each network OS calls a panel port or a part of it, and what a name means."""

import pytest

from nodrop import platforms
from nodrop.hardware import switch, switches
from nodrop.model.fabric import Port
from nodrop.platforms import port_name
from nodrop.platforms.nvue.naming import ParsedPortName, nvue_port
from nodrop.platforms.sonic.naming import model_port


@pytest.mark.parametrize(
    ("platform", "port", "splits", "name"),
    [
        ("sonic", Port(1), 1, "Ethernet0"),
        ("sonic", Port(2), 1, "Ethernet8"),
        ("sonic", Port(2, 0), 2, "Ethernet8"),
        ("sonic", Port(2, 1), 2, "Ethernet12"),
        ("sonic", Port(64, 3), 4, "Ethernet510"),
        ("sonic", Port(65), 1, "Ethernet512"),
        ("nvue", Port(1), 1, "swp1"),
        ("nvue", Port(2, 0), 2, "swp2s0"),
        ("nvue", Port(2, 1), 2, "swp2s1"),
        ("nvue", Port(63, 7), 8, "swp63s7"),
        ("nvue", Port(65), 1, "swp65"),
    ],
)
def test_a_port_has_a_name_on_each_platform(platform: str, port: Port, splits: int, name: str) -> None:
    assert port_name(platform, "SN5600", port, splits) == name


@pytest.mark.parametrize("model", switches())
@pytest.mark.parametrize("splits", [1, 2, 4, 8])
def test_a_name_means_its_port(model: str, splits: int) -> None:
    groups = [group for group in switch(model).ports if group.find_breakout(splits)]
    ports = [Port(panel, part) for group in groups for panel in group.panels for part in range(splits)]
    nvue = [port_name("nvue", model, port, splits) for port in ports]
    assert [nvue_port(name) for name in nvue] == [ParsedPortName(port, splits > 1) for port in ports]
    known = [port for port in ports if port.panel in switch(model).sonic_ports]
    sonic = [port_name("sonic", model, port, splits) for port in known]
    assert [model_port(model, name, splits) for name in sonic] == known
    assert len({*sonic, *nvue}) == len(ports) + len(known)


@pytest.mark.parametrize(
    "name", ["swp", "swp0", "swp01", "swp1s", "swp1s100", "swp1-2", "swp1s0.10", "eth0", "bond1", ""]
)
def test_other_names_mean_no_port(name: str) -> None:
    assert nvue_port(name) is None


def test_an_unknown_platform_names_nothing() -> None:
    with pytest.raises(KeyError):
        port_name("onyx", "SN5600", Port(1))


def test_names_of_ports_tell_models_apart_on_one_platform() -> None:
    assert platforms.find_port_parser_by_model("sonic") is model_port
    assert platforms.find_port_parser_by_model("nvue") is None
    with pytest.raises(KeyError):
        platforms.find_port_parser_by_model("onyx")
