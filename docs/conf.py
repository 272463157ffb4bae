"""The site: Sphinx with MyST and the pydata theme. ``make docs`` builds it; who reads it fetches nothing."""

from __future__ import annotations

import re

import epsilens

project = "epsilens"
author = "the epsilens developers"
project_copyright = "the epsilens developers"
version = release = epsilens.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode", "sphinx_copybutton"]
myst_enable_extensions = ["deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # a page of the papers starts each figure at its own level
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 180
nb_merge_streams = True
nb_mime_priority_overrides = [("*", "text/html", 1)]  # a chart in the theme's colours, not the picture of one

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "separated"
autodoc_type_aliases = {"ArrayLike": "ArrayLike", "Number": "Number"}
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_default_options = {"members": True, "exclude-members": "shown_as"}

html_theme = "pydata_sphinx_theme"
html_title = "epsilens"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "epsilens"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
exclude_patterns = ["_build", "README.md"]


def _mathml(self, node, display: str) -> None:  # type: ignore[no-untyped-def]
    """A formula as MathML, which browsers draw themselves: no script, nothing fetched."""
    from docutils.nodes import SkipNode
    from latex2mathml.converter import convert

    self.body.append(convert(node.astext(), display=display))
    raise SkipNode


def _plain(app, what, name, obj, options, lines) -> None:  # type: ignore[no-untyped-def]
    """Bars are absolute values in our docstrings, not substitutions."""
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else line.replace("|", "\\|") for line in lines]


def _named(app, what, name, obj, options, signature, returns):  # type: ignore[no-untyped-def]
    """A type that has a name of its own is told by it."""
    return tuple(text and re.sub(r"TypeAliasForwardRef\('([^']*)'\)", r"\1", text) for text in (signature, returns))


def setup(app) -> None:  # type: ignore[no-untyped-def]
    """Formulas by MathML, signatures by the names of types."""
    app.connect("autodoc-process-docstring", _plain)
    app.connect("autodoc-process-signature", _named)
    app.add_html_math_renderer(
        "mathml",
        inline_renderers=(lambda self, node: _mathml(self, node, "inline"), None),
        block_renderers=(lambda self, node: _mathml(self, node, "block"), None),
    )


html_math_renderer = "mathml"
