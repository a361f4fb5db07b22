"""Print the findings of each fault of tests/data/faults and what its fix does; words select faults by name."""

import sys

from support.repaired_faults import repair
from support.single_faults import Fault, Outcome, faults, outcome, table


def _told(chosen: list[Fault]) -> list[Outcome]:
    found = []
    for fault in chosen:
        try:
            found.append(outcome(fault))
        except Exception as error:  # noqa: BLE001 -- a fault that cannot be put anywhere is told beside the others
            print("BROKEN", fault.name, repr(error)[:300])
    return found


if __name__ == "__main__":
    found = _told([fault for fault in faults() if all(word in fault.name for word in sys.argv[1:])])
    words = {id(one): repair(one).word for one in found}
    print(table(found, lambda one: words[id(one)]), end="")
    for kind in dict.fromkeys(one.fault.row["of"].split()[0] for one in found):
        of_kind = [one for one in found if one.fault.row["of"].split()[0] == kind]
        seen = sum(not one.missed for one in of_kind)
        print(f"{kind}: {seen} of {len(of_kind)} found by the rules that must find them")
    print(f"repaired by their fixes: {sum(word == 'repaired' for word in words.values())} of {len(words)}")
