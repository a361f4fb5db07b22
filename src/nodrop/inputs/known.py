"""Entries next to configurations that are none: folders and files that are ignored by their names, each with a reason.

Such names are never read, so the table has only names that no switch, host or person uses for a configuration.
"""

from typing import NamedTuple

REASON_BY_IGNORED_FOLDER = {
    ".git": "the repository of git",
    ".hg": "the repository of Mercurial",
    ".svn": "the working copy of Subversion",
    ".github": "settings of GitHub",
    ".gitlab": "settings of GitLab",
    ".venv": "a virtual environment of Python",
    ".tox": "environments of tox",
    ".nox": "environments of nox",
    ".direnv": "an environment of direnv",
    ".cache": "a cache",
    ".mypy_cache": "a cache",
    ".pytest_cache": "a cache",
    ".ruff_cache": "a cache",
    "__pycache__": "a cache",
    "node_modules": "packages of Node.js",
    ".idea": "settings of an editor",
    ".vscode": "settings of an editor",
}
"""Names of folders: all that is in one is ignored with it."""

_DOCUMENT, _PICTURE, _CODE, _WEB = "documentation", "a picture", "source code", "a page of a report"
_GIT, _CI = "settings of git", "a pipeline"

REASON_BY_IGNORED_FILE = {
    "readme": _DOCUMENT,
    "readme.txt": _DOCUMENT,
    "license": "a license",
    "license.txt": "a license",
    "copying": "a license",
    "notice": "a license",
    "codeowners": "settings of a repository",
    "changelog": _DOCUMENT,
    "makefile": "rules of make",
    "dockerfile": "a recipe of a container image",
    "containerfile": "a recipe of a container image",
    "jenkinsfile": _CI,
    "sha256sums": "checksums",
    "md5sums": "checksums",
    "pyproject.toml": "settings of a Python project, and of nodrop",
    "nodrop.yaml": "settings of nodrop",
    "nodrop.baseline.yaml": "a baseline of nodrop",
    ".nodrop.json": "the manifest of a build",
    ".gitignore": _GIT,
    ".gitattributes": _GIT,
    ".gitmodules": _GIT,
    ".gitkeep": _GIT,
    ".keep": _GIT,
    ".mailmap": _GIT,
    ".git": "the repository of git",
    ".git-blame-ignore-revs": _GIT,
    ".gitlab-ci.yml": _CI,
    ".travis.yml": _CI,
    ".pre-commit-config.yaml": "settings of pre-commit",
    ".yamllint": "settings of yamllint",
    ".editorconfig": "settings of editors",
    ".dockerignore": "settings of container builds",
    ".python-version": "settings of Python",
    ".ds_store": "settings of a file manager",
    "thumbs.db": "settings of a file manager",
}
"""Names of files, in lower case."""

REASON_BY_IGNORED_SUFFIX = {
    **dict.fromkeys((".md", ".markdown", ".rst", ".adoc", ".pdf", ".doc", ".docx", ".odt", ".pptx"), _DOCUMENT),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".ico", ".drawio", ".vsdx"), _PICTURE),
    **dict.fromkeys((".html", ".htm", ".css"), _WEB),
    **dict.fromkeys((".py", ".pyc", ".js", ".ts", ".go", ".rs", ".c", ".h", ".rb", ".lua", ".tf"), _CODE),
    **dict.fromkeys((".csv", ".tsv", ".xlsx", ".xls", ".ods"), "a table, such as a list of cables"),
    **dict.fromkeys((".pem", ".crt", ".key", ".asc", ".sig", ".sha256", ".md5"), "a key, a signature or a checksum"),
    ".sarif": "a report",
    ".lock": "a lock file",
    ".swp": "a file of an editor",
}
"""How names of files end, in lower case."""

APPLY_FOLDER = "apply"
"""The folder of a build beside a switch's files, with the stages of its configuration."""
_APPLY_SCRIPT = "apply.sh"


class IgnoredPath(NamedTuple):
    """A file, or a folder with all in it, that is known to be no configuration, and why."""

    file: str
    reason: str
    is_excluded: bool = False
    """Whether the user's configuration leaves it out."""


def ignored_folder_reason(name: str) -> str:
    """Return why a folder of that name is ignored; nothing if it is searched."""
    return REASON_BY_IGNORED_FOLDER.get(name, "")


def ignored_file_reason(folder: str, name: str) -> str:
    """Return why a file of that name in a folder of that name is ignored; nothing if it is classified by content."""
    if name == _APPLY_SCRIPT and folder == APPLY_FOLDER:
        return "the script that applies the files of a build"
    low = name.lower()
    if low.startswith(".") and low.endswith(".nodrop-lock"):
        return "the lock of a build"
    return REASON_BY_IGNORED_FILE.get(low) or REASON_BY_IGNORED_SUFFIX.get(
        low[low.rfind(".") :] if "." in low[1:] else "", ""
    )
