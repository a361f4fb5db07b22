"""Check the subject of a commit message: 72 characters at most, an imperative, no full stop, an empty line below.

Run as git's hook commit-msg, with the file of the message. Subjects that git writes itself are accepted.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

MAX_CHARACTERS = 72
_WRITTEN_BY_GIT = re.compile(r"(?:Merge|Revert|fixup!|squash!|amend!) ")


def faults(message: str) -> Iterator[str]:
    """Yield what is wrong with a commit message."""
    lines = [line for line in message.split("\n") if not line.startswith("#")]
    subject = lines[0].strip()
    if not subject:
        yield "the subject is empty"
        return
    if _WRITTEN_BY_GIT.match(subject):
        return
    if len(subject) > MAX_CHARACTERS:
        yield f"the subject has {len(subject)} characters; expected at most {MAX_CHARACTERS}"
    if subject.endswith("."):
        yield "the subject ends in a full stop"
    if not subject[0].isupper():
        yield "the subject does not begin with a capital letter"
    if ":" in subject.split(" ")[0] or not _is_imperative(subject):
        yield f"`{subject.split(' ')[0]}` is no imperative; write what the commit does, such as `Report …`, `Fix …`"
    if len(lines) > 1 and lines[1].strip():
        yield "the line below the subject is not empty"


def _is_imperative(subject: str) -> bool:
    """Whether ruff takes the subject for the first line of a docstring in the imperative mood (D401)."""
    text = f'def subject():\n    """{re.sub(r"[^A-Za-z0-9 ,-]", " ", subject)}."""\n'
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--select", "D401", "--quiet", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).returncode == 0


def main(path: str) -> int:
    """Print what is wrong with the message in a file; return 1 where something is."""
    wrong = list(faults(Path(path).read_text()))
    for one in wrong:
        print(f"commit message: {one}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
