"""Sphinx configuration of the site that `make docs` builds from the pages in this folder."""

from wormcast import __version__

project = "wormcast"
author = "The wormcast authors"
project_copyright = "The wormcast authors, Apache-2.0"
release = __version__

extensions = ["myst_parser"]
myst_enable_extensions = ["attrs_inline"]
myst_heading_anchors = 4
# keep quotes and dashes as they are written in the pages
smartquotes = False

html_theme = "furo"
html_title = f"wormcast {__version__}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
# colour only the code blocks for which the page names a language
highlight_language = "none"
nitpicky = True
