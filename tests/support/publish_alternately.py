"""Publish tree A, then B, then A … into a folder until killed: `alternate.py DIR exchange|renames`."""

import itertools
import sys
from pathlib import Path

from nodrop.publish import publish
from support.stopping_disk import StoppingDisk


def anything(_: str) -> bool:
    """Take every name for one that the command gives."""
    return True


TREES = {
    letter: {
        "fabric.yaml": b"mode: lossless\n",
        **{f"leaf{number}/config_db.json": letter.encode() * 2000 for number in range(8)},
        **{f"leaf{number}/frr.conf": b"router bgp\n" for number in range(8)},
        f"only-{letter}/apply.sh": letter.encode(),
    }
    for letter in "AB"
}


def main() -> None:
    directory, way = Path(sys.argv[1]), sys.argv[2]
    for letter in itertools.cycle("AB"):
        disk = StoppingDisk(exchange=way == "exchange")
        publish(directory, TREES[letter], anything, inputs={"intent.yaml": letter}, display="out", disk=disk)
        print(letter, flush=True)


if __name__ == "__main__":
    main()
