"""What mkdocs asks of this house: pages that are made from code, and drawings in the colours of the page around them."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from notebook import notebook_page
from reference.commands import commands_page
from reference.names import PAGES, names_page, package_page
from reference.requests import requests_page
from reference.settings import settings_page

ROOT = Path(__file__).parents[1]
_DRAWING = re.compile(r'<img alt="[^"]*" src="[^"]*images/(\w+\.svg)"\s*/?>')


def generated_pages() -> dict[str, str]:
    """The Markdown of every page that is not written by hand, by its address below docs/."""
    return {
        "reference/commands.md": commands_page(),
        "reference/http.md": requests_page(),
        "reference/settings.md": settings_page(),
        "reference/python/index.md": names_page(),
        **{f"reference/python/{page.name}.md": package_page(page) for page in PAGES},
        "notebook.md": notebook_page(ROOT / "docs" / "notebook.ipynb"),
        "changelog.md": (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"),
    }


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from code to those in docs/."""
    for address, text in generated_pages().items():
        files.append(File.generated(config, address, content=text))
    return files


def on_page_content(html: str, **_: object) -> str:
    """Put drawings into the page itself: a picture in a file cannot know which colours the reader chose."""
    return _DRAWING.sub(lambda found: (ROOT / "docs" / "images" / found[1]).read_text(encoding="utf-8"), html)
