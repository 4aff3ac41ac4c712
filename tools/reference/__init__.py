"""Documentation site: the pages of ``docs/``, and reference pages generated from the code (``make docs``).

Commands, schemes and components are described in their declarations. The generated pages are not stored in the
repository.
"""

from .commands import command_pages
from .components import component_pages
from .glossary_index import words_page
from .navigation import navigation
from .refusals import refusal_pages
from .schemes import scheme_pages
from .site import assemble, rewritten

__all__ = ["assemble", "command_pages", "component_pages", "navigation", "refusal_pages", "rewritten", "scheme_pages",
           "words_page"]
