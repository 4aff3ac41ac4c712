"""The site: pages of ``docs/`` as they are, and reference pages made of the code that they describe (``make docs``).

Nothing that is made here is kept in the repository: what a command, a scheme or a component is, its own declaration
says, and these pages are made of that each time.
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
