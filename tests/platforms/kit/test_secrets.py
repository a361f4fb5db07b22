"""Secrets of configurations: each is told where it stands, by its kind, and no report repeats one."""

import json
from pathlib import Path

import pytest

from nodrop.platforms.kit.secrets import exposure_of_secret, find_frr_secrets
from support.command import nodrop

SECRET = "Tr0ub4dor and #3"
"""No value that SONiC's models take, so that the remarks about that are tried too."""

TABLES = {
    "TACPLUS": {"global": {"passkey": SECRET}},
    "TACPLUS_SERVER": {"192.0.2.1": {"passkey": SECRET, "priority": "1"}},
    "RADIUS": {"global": {"passkey": SECRET}},
    "LDAP": {"global": {"bind_password": SECRET}},
    "BGP_NEIGHBOR": {"default|10.0.0.1": {"auth_password": SECRET}},
    "MACSEC_PROFILE": {"links": {"primary_cak": SECRET, "primary_ckn": "6162"}},
    "NTP_KEY": {"1": {"value": SECRET, "type": "md5"}},
    "SNMP_COMMUNITY": {SECRET: {"TYPE": "RO"}},
    "SNMP_USER": {"me": {"SNMP_USER_TYPE": "Priv", "SNMP_USER_AUTH_PASSWORD": SECRET}},
}
FRR = f"""frr defaults datacenter
enable password {SECRET.split()[0]}
router bgp 65001
 neighbor 10.0.0.1 remote-as 65002
 neighbor 10.0.0.1 password {SECRET.split()[0]}
"""
NVUE = f"""- set:
    system:
      aaa:
        user: {{admin: {{password: '{SECRET}'}}}}
        tacacs: {{server: {{'1': {{secret: '{SECRET}'}}}}}}
      snmp-server:
        readonly-community: {{'{SECRET}': {{access: any}}}}
        username: {{me: {{auth-sha: {{'{SECRET}': {{}}}}}}}}
      ntp:
        key: {{'1': {{value: '{SECRET}', type: sha1, trusted: 'yes'}}}}
        server: {{192.0.2.9: {{key: 1}}}}
    vrf:
      default:
        router:
          bgp:
            peer-group: {{spines: {{password: '{SECRET}'}}}}
"""


def _told(path: Path) -> list[tuple[str, int]]:
    done = nodrop("lint", path, "--format", "json", "--strictness", "auditor")
    text = nodrop("lint", path, "--strictness", "auditor")
    assert "Tr0ub4dor" not in done.out + done.err + text.out + text.err
    found = json.loads(done.out)["findings"]
    return sorted((one["message"], one["line"]) for one in found if one["rule"] == "secret-in-configuration")


@pytest.mark.parametrize("table", TABLES)
def test_a_secret_of_a_table_is_told_and_not_shown(tmp_path: Path, table: str) -> None:
    file = tmp_path / "config_db.json"
    file.write_text(json.dumps({"PORT": {}, "DEVICE_METADATA": {"localhost": {}}, table: TABLES[table]}, indent=1))
    line = next(number for number, text in enumerate(file.read_text().split("\n"), 1) if SECRET in text)
    assert [where for _, where in _told(file)] == [line]


def test_secrets_of_frr_are_told_and_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "frr.conf"
    file.write_text(FRR)
    assert _told(file) == [
        ("the file contains a password of the daemon, which all its readers can use", 2),
        ("the file contains the password of a BGP session, which all its readers can use", 5),
    ]


def test_secrets_of_nvue_are_told_and_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "startup.yaml"
    file.write_text(NVUE)
    assert [line for _, line in _told(file)] == [7, 10, 8, 4, 5, 16]


def test_secrets_of_onyx_are_told_and_not_shown(tmp_path: Path) -> None:
    file = tmp_path / "running-config.txt"
    secret = SECRET.split()[0]
    lines = {
        f"   snmp-server community {secret} ro": "a community of SNMP",
        f"   tacacs-server host 192.0.2.1 key {secret}": "the key of TACACS+",
        f"   radius-server key {secret}": "the key of RADIUS",
        f"ldap bind-password {secret}": "the password for LDAP",
        f"username admin password 0 {secret}": "the password of a user",
        f"ntp authentication-key 1 md5 {secret}": "a key of NTP",
        f"router bgp 65001 vrf default neighbor 10.0.0.1 password {secret}": "the password of a BGP session",
        "username root password 7 $6$salt$hash": None,
        "username monitor password 7 0123456789abcdef": None,
        "snmp-server community public ro": None,
        f"no snmp-server community {secret}": "a community of SNMP",
        "tacacs-server host 192.0.2.2 timeout 3": None,
        "username guest disable": None,
    }
    file.write_text("\n".join(["hostname a", "interface ethernet 1/1 mtu 9216 force", *lines]))
    told = sorted(
        (f"the file contains {what}, which all its readers can use", line)
        for line, what in enumerate(lines.values(), 3)
        if what
    )
    assert _told(file) == told


def test_a_private_key_in_a_database_is_told(tmp_path: Path) -> None:
    file = tmp_path / "config_db.json"
    key = "-----BEGIN PRIVATE KEY-----\nTr0ub4dor\n-----END PRIVATE KEY-----"
    file.write_text(
        json.dumps({"PORT": {}, "DEVICE_METADATA": {"localhost": {}}, "CERTS": {"a": {"key": key}}}, indent=1)
    )
    assert _told(file) == [("the file contains a private key, which all its readers can use", 8)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("hunter2", "clear"),
        ("$ecret", None),
        ("pa$$word", "clear"),
        ("$6$salt$hash", "scrambled"),
        ("$y$j9T$salt$hash", "scrambled"),
        ("$nvsec$04176b", "scrambled"),
        ("*", None),
        ("!", None),
        ("********", None),
        ("<password>", None),
        ("{{ vault.key }}", None),
        ("${TACACS_KEY}", None),
        ("public", None),
        ("", None),
    ],
)
def test_what_is_a_secret(text: str, found: str | None) -> None:
    assert exposure_of_secret(text) == found


def test_the_constant_that_sonic_ships_is_no_secret_and_any_other_is() -> None:
    text = "password zebra\nenable password zebra\npassword Zebra1\nneighbor 10.0.0.1 password zebra\n"
    assert [(line, what) for line, _, _, what, _ in find_frr_secrets(text)] == [
        (3, "a password of the daemon"),
        (4, "the password of a BGP session"),
    ]
