"""Files that nodrop itself writes, from which mutation starts: a build with its manifest, a baseline, cache entries."""

import os
import tempfile
from pathlib import Path
from unittest import mock

from nodrop import cache, inputs
from nodrop.judging import CheckSettings
from nodrop.outcome_cache import check_or_recall_outcome
from support.fuzzing.mutation import Files
from support.fuzzing.trial import command, write


def baseline_of(files: Files) -> bytes:
    """Return the baseline that `nodrop baseline` writes of an input."""
    with tempfile.TemporaryDirectory() as place:
        write(files, Path(place))
        done = command(["baseline", place, "--no-config", "-o", f"{place}/base.yaml"])
        if done.code:
            raise RuntimeError(done.text)
        return Path(place, "base.yaml").read_bytes()


def build_of(intent: bytes) -> Files:
    """Return the files of a build of an intent, below build/."""
    with tempfile.TemporaryDirectory() as place:
        Path(place, "intent.yaml").write_bytes(intent)
        here = Path.cwd()
        os.chdir(place)
        try:
            done = command(["build", "intent.yaml", "-o", "build", "--no-config"])
        finally:
            os.chdir(here)
        if done.code:
            raise RuntimeError(done.text)
        found = Path(place)
        return {str(path.relative_to(found)): path.read_bytes() for path in found.rglob("build/**/*") if path.is_file()}


def entries_of(files: Files) -> list[bytes]:
    """Return what the cache is given to keep, unsealed, while an input is linted."""
    kept: list[bytes] = []
    with tempfile.TemporaryDirectory() as place:
        write(files, Path(place))
        with (
            mock.patch.object(cache.Store, "get", return_value=None),
            mock.patch.object(cache.Store, "put", lambda _self, _key, data: kept.append(data)),
        ):
            check_or_recall_outcome(
                inputs.find_inputs([place]).require_single_fabric(),
                CheckSettings(store=cache.Store(Path(place), b"", b"")),
            )
    return [one for one in kept if one != b"good"]
