"""Tests that need something outside are skipped without it, and fail where the run requires it."""

import pytest

from support.requirements import require


def test_what_is_there_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODROP_REQUIRE", "frr")
    require("frr", True, "never said")


@pytest.mark.parametrize("required", ["", "twin", "frrr,twin"])
def test_what_is_not_there_is_skipped_with_the_reason(required: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODROP_REQUIRE", required)
    with pytest.raises(pytest.skip.Exception, match=r"^frr: there is no vtysh$"):
        require("frr", False, "there is no vtysh")


@pytest.mark.parametrize("required", ["frr", "twin,frr"])
def test_what_is_not_there_but_required_is_a_failure(required: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODROP_REQUIRE", required)
    with pytest.raises(pytest.fail.Exception, match="NODROP_REQUIRE has frr, but there is no vtysh"):
        require("frr", False, "there is no vtysh")
