"""Of a single fault, the first finding of a report points at the line that the fault changed.

A row that a changed field is in counts, and of what was removed the lines around it and the other rows of its port.
The faults of tests/data/faults that are seen elsewhere are listed in seen_elsewhere.txt beside this module.
"""

import pytest

from support.changed_lines import first_place
from support.places import TESTS
from support.single_faults import faults

TABLE = TESTS / "report" / "seen_elsewhere.txt"


@pytest.mark.slow
def test_the_first_finding_is_at_the_changed_line_but_for_a_list(update_golden: bool) -> None:
    lines = []
    for fault in faults():
        first = first_place(fault)
        if not first.is_changed:
            located = first.finding.located if first.finding else None
            at = f"{located.file}:{located.span.line}" if located and located.span else "no line"
            lines.append(f"{fault.name}: {first.finding.rule if first.finding else 'nothing'} at {at}\n")
    if update_golden:
        TABLE.write_text("".join(lines))
    assert TABLE.read_text() == "".join(lines)
    assert len(lines) <= len(faults()) // 4
