"""Names in commands that state a number which these change: they are found, and no others."""

import pytest

from nodrop.model.change import Change
from nodrop.platforms.kit.outdated_names import find_names_with_outdated_numbers

GREEN = ("leaf1", "Ethernet0", "qos", "queues", "3", "wred", "green", "min_bytes")


def _names(line: str, old: object, new: object) -> tuple[str, ...]:
    return find_names_with_outdated_numbers([line], [Change(subject=GREEN, old=old, new=new)])


@pytest.mark.parametrize("name", ["WRED_150K_1500K", "wred-150000", "WRED_150KB", "ecn.min150000"])
def test_a_name_with_the_former_number_is_told(name: str) -> None:
    assert _names(f"sudo ecnconfig -p {name} -gmin 100000", 150_000, 100_000) == (name,)


def test_a_size_in_a_name_may_count_in_powers_of_two() -> None:
    assert _names('sudo sonic-db-cli CONFIG_DB HSET "WRED_PROFILE|min_1M" x 2', 2**20, 2**21) == ("min_1M",)


@pytest.mark.parametrize("name", ["AZURE_LOSSLESS", "WRED_100K", "WRED_1500K", "pg_lossless_400000_5m", "profile2"])
def test_other_names_are_not(name: str) -> None:
    assert _names(f"sudo ecnconfig -p {name} -gmin 100000", 150_000, 100_000) == ()


def test_a_file_that_a_comment_names_is_not_told() -> None:
    assert _names("# in ecn150000.sh in place of line 3:", 150_000, 100_000) == ()


def test_a_small_number_is_no_size() -> None:
    assert _names("sudo pfcwd start --action drop port_3", 3, 4) == ()
