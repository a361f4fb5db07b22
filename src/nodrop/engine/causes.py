"""The part of a message that states the cause of a finding, used to group findings: not the words that only name it."""

from nodrop.model.subject import FABRIC_HEAD, Subject, ends_of_cable_key


def pointed_part_names(subject: Subject, subject_path: Subject) -> frozenset[str]:
    """Return the names of the part that a finding points at, and of the ends of a link."""
    names = {name for name in subject_path[:2] if not name.startswith("@")}
    if subject[:2] == (FABRIC_HEAD, "links"):
        names |= {name for end in ends_of_cable_key(subject[2]) for name in end}
    return frozenset(names)


def consists_only_of_names(piece: str, subject: Subject, names: frozenset[str]) -> bool:
    """Whether a piece of a message is a part of the subject, or made of names of its ends or of the part pointed at.

    So `leaf1 Ethernet0` and `leaf1:Ethernet0` are.
    """
    return piece in subject or names.issuperset(piece.replace(":", " ").split(" "))


def replace_row_names_by_star(piece: str, row_names: tuple[str, ...]) -> str:
    """Return a piece of a message with `*` for each of `row_names` where it stands as a whole; the longest go first."""
    for name in row_names:
        if name in piece:
            piece = replace_name_by_star(piece, name)
    return piece


def replace_name_by_star(message_text: str, name: str) -> str:
    """Return a text with `*` for a name where no letter, digit or one of `_.:-` is directly before or after it.

    A pattern for each name would cost as much as the rest of a finding: many remarks have many names.
    """
    pieces, last, at = [], 0, message_text.find(name)
    while at >= 0:
        end = at + len(name)
        if _is_name_boundary(message_text[at - 1 : at]) and _is_name_boundary(message_text[end : end + 1]):
            pieces += [message_text[last:at], "*"]
            last = end
        else:
            end = at + 1
        at = message_text.find(name, end)
    return "".join((*pieces, message_text[last:]))


def _is_name_boundary(char: str) -> bool:
    """Whether a character, or none, ends a name."""
    return not (char.isalnum() or (char and char in "_.:-"))
