# conf.py - `./dev docs`: one site of HTML from these pages, by Sphinx with MyST (Debian: python3-sphinx, python3-myst-parser).
# Idea       the search is Sphinx's own: its index is a script, so that it works from a folder, without a server.
# Tests      test/docs
import pathlib
import re

from pygments import token
from pygments.lexer import RegexLexer, words
from pygments.lexers.special import TextLexer

_source = pathlib.Path(__file__).resolve().parent.parent
_version = (_source / "runtime/include/pto/pto_version.h").read_text()
project = "ptoc"
author = "the developers of ptoc"
release = version = ".".join(re.findall(r"^#define PTO_VERSION_[A-Z]+ +(\d+)$", _version, re.M))
extensions = ["myst_parser"]
myst_heading_anchors = 3
exclude_patterns = []
html_theme = "alabaster"
html_theme_options = {"page_width": "75em", "sidebar_width": "16em", "description": "tasks over tensors", "fixed_sidebar": False}
html_sidebars = {"**": ["about.html", "searchbox.html", "globaltoc.html"]}
html_copy_source = False
html_show_sphinx = False
highlight_language = "none"
# Links to sources lead out of the site; scripts/check_docs.py looks that their files exist.
suppress_warnings = ["ref.myst", "myst.header", "misc.highlighting_failure"]


class PtoLexer(RegexLexer):
    """The words of the language are those of its lexer; a C body is coloured alike."""
    name = "pto"
    _words = re.findall(r"\"([a-z_]+)\"\s*\{ WORD", (_source / "frontend/syntax/lexer.re").read_text())
    tokens = {"root": [
        (r"//.*?$", token.Comment.Single),
        (r"/\*(.|\n)*?\*/", token.Comment.Multiline),
        (r'"(\\.|[^"\\])*"', token.String),
        (words(_words, prefix=r"\b", suffix=r"\b"), token.Keyword),
        (r"\b(f16|bf16|f32|f64|[iu](8|16|32|64)|bool)\b", token.Keyword.Type),
        (r"@\w+", token.Name.Decorator),
        (r"\b\d[\w.]*", token.Number),
        (r"\w+", token.Name),
        (r".|\n", token.Text),
    ]}


def setup(app):
    app.add_lexer("pto", PtoLexer)
    app.add_lexer("words", TextLexer)
