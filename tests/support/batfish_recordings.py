"""What a real Batfish service answered, recorded once and told again: the service as far as it was asked.

A recording holds answers by what was asked of which files: the question, its parameters, and the digest of every file
of the snapshot. Another file, another question or another parameter has no answer, and that is a failure: `Stale`.
`make batfish-live RECORD=1` asks a real service again.
"""

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import parse_qs, urlsplit

import requests
from requests.adapters import HTTPAdapter

from nodrop.validating.batfish.service import BatfishService
from support.places import TESTS

TEMPLATES = TESTS / "validating" / "batfish" / "questions.json"
"""The parameters of every question that a recording asks, as the service has them: types, defaults, what is needed."""

AGAIN = "record it anew with a real service: make batfish-live RECORD=1 NODROP_BATFISH=HOST"
_NETWORK = re.compile(r"/v2/networks/[^/]+")
_OVER = {"workstatuscode": "TERMINATEDNORMALLY", "taskstatus": "{}"}

Json = dict[str, Any]


class Stale(AssertionError):
    """What is asked is not what was recorded."""


def files_of(body: bytes) -> dict[str, str]:
    """The digest of each file of a snapshot as it is sent; the folder around them has any name."""
    with zipfile.ZipFile(io.BytesIO(body)) as packed:
        names = [name for name in packed.namelist() if not name.endswith("/")]
        return {name.partition("/")[2]: hashlib.sha256(packed.read(name)).hexdigest()[:16] for name in sorted(names)}


def digest(files: Mapping[str, str]) -> str:
    """The digest of a snapshot: of the names and digests of its files."""
    return hashlib.sha256(json.dumps(dict(sorted(files.items()))).encode()).hexdigest()[:16]


class Conversation:
    """The names that a client gives to snapshots and questions, in terms of what they are."""

    def __init__(self) -> None:
        self.files: dict[str, dict[str, str]] = {}
        self.snapshots: dict[str, str] = {}
        self.questions: dict[str, Json] = {}

    def hears(self, method: str, path: str, body: bytes) -> None:
        """Take notice of a snapshot that is sent or forked, and of a question that is put."""
        name = path.rpartition("/")[2]
        if method == "POST" and path.endswith("/snapshots:fork"):
            wanted = json.loads(body)
            gone = list(wanted.get("deactivateNodes") or ())
            gone += [f"{one['hostname']}[{one['interface']}]" for one in wanted.get("deactivateInterfaces") or ()]
            base = self.snapshots[wanted["snapshotBase"]]
            self.snapshots[wanted["snapshotNew"]] = " ".join((base, "without", *sorted(gone)))
        elif method == "POST" and "/snapshots/" in path:
            files = files_of(body)
            self.snapshots[name] = digest(files)
            self.files[digest(files)] = files
        elif method == "PUT" and "/questions/" in path:
            given = json.loads(body)["instance"]
            values = {
                key: _said(one["value"]) for key, one in sorted(given.get("variables", {}).items()) if "value" in one
            }
            self.questions[name] = {"question": re.sub(r"^__|_[0-9a-f-]{36}$", "", name), "with": values}

    def asked(self, path: str, query: str) -> Json:
        """What the answer at a path answers."""
        named = parse_qs(query)
        question = self.questions[path.split("/")[-2]]
        found = {**question, "of": self.snapshots[named["snapshot"][0]]}
        if "referenceSnapshot" in named:
            found["against"] = self.snapshots[named["referenceSnapshot"][0]]
        return found


def _said(value: object) -> object:
    """A parameter without what it leaves open."""
    if isinstance(value, dict):
        return {key: one for key, one in value.items() if one is not None}
    return value


def told(request: requests.PreparedRequest) -> tuple[str, str, str, bytes]:
    """Method, path without the network's name, query and body of a request."""
    url = urlsplit(request.url or "")
    body = request.body or b""
    if not isinstance(body, bytes | str):
        stream: Any = body
        body = stream.read()
        stream.seek(0)
    path = _NETWORK.sub("/networks/N", str(url.path))
    return request.method or "", path, str(url.query), body.encode() if isinstance(body, str) else body


class Recording:
    """The answers of one conversation, as a file holds them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.version: Json = {}
        self.snapshots: dict[str, dict[str, str]] = {}
        self.answers: dict[str, Json] = {}

    @classmethod
    def read(cls, path: Path) -> "Recording":
        """Read a recording."""
        found = cls(path)
        held = json.loads(path.read_text())
        found.version, found.snapshots = held["version"], held["snapshots"]
        for answer in held["answers"]:
            found.answers[_key(answer)] = answer
        return found

    def write(self) -> None:
        """Write it so that a change can be read: a row a line."""
        answers = [self.answers[key] for key in sorted(self.answers)]
        body = ",\n".join(_shown(answer) for answer in answers)
        head = json.dumps({"version": self.version, "snapshots": self.snapshots}, indent=1)
        self.path.write_text(head[:-2] + ',\n "answers": [\n' + body + "\n]}\n")


def _key(answer: Json) -> str:
    asked = {name: answer[name] for name in ("question", "with", "of", "against") if name in answer}
    return json.dumps(asked, sort_keys=True)


def _shown(answer: Json) -> str:
    rows = answer["rows"]
    head = json.dumps({name: value for name, value in answer.items() if name != "rows"})
    return head[:-1] + ', "rows": [' + ",".join("\n  " + json.dumps(row) for row in rows) + "]}"


def parameters() -> dict[str, Json]:
    """The parameters of the questions that recordings ask, by question."""
    found: dict[str, Json] = json.loads(TEMPLATES.read_text()) if TEMPLATES.exists() else {}
    return found


def _template(name: str, variables: Json) -> str:
    """As much of a template as a client needs."""
    told = {key: {"description": "-", **one} for key, one in variables.items()}
    return json.dumps({"class": "-", "instance": {"instanceName": name, "description": "-", "variables": told}})


@contextmanager
def replayed(path: Path) -> Iterator[Recording]:
    """Answer every request of this process from a recording."""
    recording, heard = Recording.read(path), Conversation()
    known = parameters()

    def send(_: HTTPAdapter, request: requests.PreparedRequest, *__: object, **___: object) -> requests.Response:
        return _response(request, *_replayed(recording, known, heard, *told(request)))

    def version(_: BatfishService, path: str) -> tuple[int, bytes]:
        return 200, json.dumps(recording.version).encode()

    with mock.patch.object(HTTPAdapter, "send", send), mock.patch.object(BatfishService, "_http_get", version):
        yield recording


def _replayed(
    recording: Recording,
    known: Mapping[str, Json],
    heard: Conversation,
    method: str,
    path: str,
    query: str,
    body: bytes,
) -> tuple[int, object]:
    heard.hears(method, path, body)
    for made in heard.snapshots.values():
        _same(recording, heard, made.partition(" ")[0])
    if method != "GET":
        return 201, None
    if path.endswith("/answer"):
        asked = heard.asked(path, query)
        found = recording.answers.get(_key(asked))
        if found is None:
            raise Stale(f"{recording.path.name} has no answer to {_key(asked)}; {AGAIN}")
        return 200, _whole(found)
    if "/work/" in path:
        return 200, _OVER
    if path == "/v2/question_templates":
        return 200, {name: _template(name, variables) for name, variables in known.items()}
    if path.endswith("/snapshots"):
        return 200, []
    return 404, None


def _same(recording: Recording, heard: Conversation, made: str) -> None:
    if made in recording.snapshots:
        return
    now = heard.files[made]
    known = [files.get(name) for files in recording.snapshots.values() for name in now]
    differing = sorted(name for name, one in now.items() if one not in known)
    raise Stale(f"{recording.path.name} was recorded for other files than {', '.join(differing) or 'these'}; {AGAIN}")


_ABSENT = "-absent-"
"""Stands in a row for a column that the service leaves out."""


def _whole(answer: Json) -> Json:
    """An answer as the service gives it, without what explains its columns to people."""
    columns = answer["columns"]
    rows = [{key: one for key, one in zip(columns, row, strict=True) if one != _ABSENT} for row in answer["rows"]]
    return {"answerElements": [{"metadata": {"columnMetadata": []}, "rows": rows}], "status": "SUCCESS"}


def _short(asked: Json, answer: Json) -> Json:
    """An answer as a recording holds it, its rows in order."""
    (element,) = answer["answerElements"]
    if "rows" not in element:
        raise AssertionError(f"the service answers {json.dumps(asked)} with {json.dumps(answer)[:2000]}")
    columns = [column["name"] for column in element["metadata"]["columnMetadata"]]
    rows = [[_cell(row.get(column, _ABSENT)) for column in columns] for row in element["rows"]]
    return {**asked, "columns": columns, "rows": sorted(rows, key=json.dumps)}


def _cell(value: Any) -> Any:
    """A cell; the ways of packets have their ends and the nodes between, not what each node did with them."""
    if not (isinstance(value, list) and value and isinstance(value[0], dict) and "hops" in value[0]):
        return value
    return [{**way, "hops": [{"node": hop["node"]} for hop in way["hops"]]} for way in value]


@contextmanager
def recorded(path: Path) -> Iterator[Recording]:
    """Pass every request of this process on to the service, and keep what it answers."""
    recording, heard, known = Recording(path), Conversation(), parameters()
    offered: dict[str, Json] = {}
    real, asks = HTTPAdapter.send, BatfishService._http_get

    def send(self: HTTPAdapter, request: requests.PreparedRequest, *args: Any, **more: Any) -> requests.Response:
        method, where, query, body = told(request)
        heard.hears(method, where, body)
        response = real(self, request, *args, **more)
        if method == "GET" and response.ok:
            if where == "/v2/question_templates":
                offered.update(
                    (one["instance"]["instanceName"], one) for one in map(json.loads, response.json().values())
                )
            elif where.endswith("/answer"):
                asked = heard.asked(where, query)
                known[asked["question"]] = _plain(offered[asked["question"]])
                recording.answers[_key(asked)] = _short(asked, response.json())
        return response

    def version(self: BatfishService, where: str) -> tuple[int, bytes]:
        status, body = asks(self, where)
        recording.version = json.loads(body)
        return status, body

    with mock.patch.object(HTTPAdapter, "send", send), mock.patch.object(BatfishService, "_http_get", version):
        yield recording
    recording.snapshots = heard.files
    recording.write()
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known))
    TEMPLATES.write_text(f"{{\n{lines}\n}}\n")


def _plain(template: Json) -> Json:
    """The parameters of a template, without the words for people."""
    words = ("description", "longDescription", "displayName")
    variables = template["instance"].get("variables", {})
    return {name: {key: one for key, one in sorted(row.items()) if key not in words} for name, row in variables.items()}


def _response(request: requests.PreparedRequest, status: int, content: object) -> requests.Response:
    response = requests.Response()
    response.status_code = status
    response.url = request.url or ""
    response.request = request
    response.encoding = "utf-8"
    response.headers["Content-Type"] = "application/json"
    response._content = json.dumps(content).encode()
    return response
