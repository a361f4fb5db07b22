"""GitHub's runner, as far as a composite action sees it: steps of bash, their environment, conditions, command files.

What a step is given follows GitHub's documentation ("Metadata syntax for composite actions", "Default environment
variables", "Workflow commands", "Expressions"); of expressions there is what the project's own action uses.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

SHELL = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail")
_EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}")
_TOKEN = re.compile(r"\s*(?:'((?:[^']|'')*)'|(==|!=|&&|\|\|)|([\w.-]+))")


def action(path: Path) -> Any:
    """Return what an action's file says."""
    return YAML(typ="safe").load(path.read_text())


def evaluated(expression: str, contexts: Mapping[str, Any]) -> Any:
    """Return what an expression comes to: texts, names, `==`, `!=`, `&&` and `||`, none of them in brackets."""
    tokens = []
    at = 0
    while at < len(expression.rstrip()):
        found = _TOKEN.match(expression, at)
        assert found, f"not an expression that is understood here: {expression}"
        tokens.append(found)
        at = found.end()

    def either(tokens: list[re.Match[str]]) -> Any:
        for number, token in enumerate(tokens):
            if token[2] == "||":
                return either(tokens[:number]) or either(tokens[number + 1 :])
        return both(tokens)

    def both(tokens: list[re.Match[str]]) -> Any:
        for number, token in enumerate(tokens):
            if token[2] == "&&":
                return both(tokens[:number]) and both(tokens[number + 1 :])
        return compared(tokens)

    def compared(tokens: list[re.Match[str]]) -> Any:
        if len(tokens) == 3 and tokens[1][2] in ("==", "!="):
            return (str(value(tokens[0])) == str(value(tokens[2]))) == (tokens[1][2] == "==")
        (token,) = tokens
        return value(token)

    def value(token: re.Match[str]) -> Any:
        if token[1] is not None:
            return token[1].replace("''", "'")
        found: Any = contexts
        for part in token[3].split("."):
            found = found.get(part, "") if isinstance(found, Mapping) else ""
        return found

    return either(tokens)


def filled(text: object, contexts: Mapping[str, Any]) -> str:
    """Return a text with its expressions replaced by what they come to."""

    def said(found: re.Match[str]) -> str:
        value = evaluated(found[1], contexts)
        return str(value).lower() if isinstance(value, bool) else str(value)

    return _EXPRESSION.sub(said, str(text))


@dataclass(kw_only=True)
class Job:
    """A job on a runner in which actions are used; the workspace is there, and steps may be looked at afterwards."""

    workspace: Path
    scratch: Path
    """Folder for what belongs to the runner."""
    event: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    ref: str = "refs/heads/main"
    sha: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Outputs of steps that are not run, but have been."""
    log: str = ""
    summary: str = ""
    outputs: Mapping[str, str] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)

    def use(self, folder: Path, **inputs: str) -> int:
        """Use the action of a folder with inputs (`_` for `-`); return the exit code of the step that ends it."""
        said = action(folder / "action.yml")
        unknown = {name.replace("_", "-") for name in inputs} - set(said["inputs"])
        assert not unknown, f"the action has no inputs {unknown}"
        github = {
            "event": self.payload,
            "event_name": self.event,
            "ref": self.ref,
            "sha": self.sha,
            "token": "token of the job",
        }
        defaults = {name: filled(one.get("default", ""), {"github": github}) for name, one in said["inputs"].items()}
        contexts: dict[str, Any] = {
            "github": github,
            "inputs": defaults | {name.replace("_", "-"): value for name, value in inputs.items()},
            "steps": {},
        }
        code = 0
        for number, step in enumerate(said["runs"]["steps"]):
            if code or ("if" in step and not evaluated(step["if"], contexts)):
                continue
            if (outputs := self.given.get(step.get("id", ""))) is not None:
                contexts["steps"][step["id"]] = {"outputs": outputs}
                continue
            code, made = self._step(folder, step, number, contexts)
            self.ran.append(step["name"])
            if "id" in step:
                contexts["steps"][step["id"]] = {"outputs": made}
        self.outputs = {name: filled(one["value"], contexts) for name, one in said["outputs"].items()}
        return code

    def _step(
        self, folder: Path, step: Mapping[str, Any], number: int, contexts: Mapping[str, Any]
    ) -> tuple[int, dict[str, str]]:
        assert step["shell"] == "bash"
        temporary = self.scratch / "temp"
        temporary.mkdir(parents=True, exist_ok=True)
        commands = {name: self.scratch / f"{name}.{number}" for name in ("output", "summary", "env", "path")}
        for file in commands.values():
            file.write_text("")
        script = self.scratch / f"step.{number}.sh"
        script.write_text(filled(step["run"], contexts))
        done = subprocess.run(
            [*SHELL, script],
            cwd=self.workspace,
            env={
                **{name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "GIT_"))},
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_ACTION_PATH": str(folder),
                "GITHUB_EVENT_NAME": self.event,
                "GITHUB_REF": self.ref,
                "GITHUB_SERVER_URL": "https://github.example.com",
                "GITHUB_SHA": self.sha,
                "GITHUB_REPOSITORY": "a-site/fabrics",
                "GITHUB_WORKSPACE": str(self.workspace),
                "RUNNER_TEMP": str(temporary),
                "GITHUB_OUTPUT": str(commands["output"]),
                "GITHUB_STEP_SUMMARY": str(commands["summary"]),
                "GITHUB_ENV": str(commands["env"]),
                "GITHUB_PATH": str(commands["path"]),
                **self.environment,
                **{name: filled(value, contexts) for name, value in step.get("env", {}).items()},
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            text=True,
        )
        self.log += done.stdout
        self.summary += commands["summary"].read_text()
        rows = commands["output"].read_text().splitlines()
        return done.returncode, {name: value for name, _, value in (row.partition("=") for row in rows)}
