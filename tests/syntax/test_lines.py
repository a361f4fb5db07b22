"""Lines that a reader does not understand are kept; what goes wrong in the reader itself is not one of them."""

import pytest

from nodrop.syntax.lines import CommandNotUnderstood, read_or_keep_line


def test_a_line_that_is_not_understood_is_kept() -> None:
    def refuse(_line: str) -> None:
        raise CommandNotUnderstood

    others: list[str] = []
    read_or_keep_line("a line", refuse, others)
    assert others == ["a line"]


@pytest.mark.parametrize("fault", [KeyError, IndexError, ValueError])
def test_a_fault_of_a_reader_is_not_taken_for_an_unknown_line(fault: type[Exception]) -> None:
    def fail(_line: str) -> None:
        raise fault

    others: list[str] = []
    with pytest.raises(fault):
        read_or_keep_line("a line", fail, others)
    assert others == []
