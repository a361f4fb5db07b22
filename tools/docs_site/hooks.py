"""Hooks of mkdocs: add generated pages, and turn links of files into links of the site."""

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

from docs_site.pages import generated_pages, site_links, top_pages

ROOT = Path(__file__).parents[2]
_REMOTE = re.compile(r'(?:src=|<link rel="stylesheet" href=)"((?:https?:)?//[^"]+)"')


def on_files(files: Files, *, config: Any) -> Files:
    """Add the pages that are no files of docs/."""
    for path, text in {**top_pages(ROOT), **generated_pages()}.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Return a page's text with links to files of the repository resolved; generated pages have theirs already."""
    source = page.file.abs_src_path
    return markdown if source is None else site_links(markdown, f"docs/{page.file.src_uri}", ROOT)


def on_post_page(output: str, *, page: Any, config: Any) -> str:
    """Return a page as it is; PluginError if it would load anything from the network, which nobody may have."""
    if remote := _REMOTE.search(output):
        raise PluginError(f"{page.file.src_uri} loads {remote[1]}; expected files of the site only")
    return output
