"""Checks of all pictures."""

from itertools import combinations

import pytest
from matplotlib.text import Text


@pytest.fixture
def legible():
    """Check that all that is written on a sheet is inside of it, and that no two of its texts overlap."""
    def check(sheet):
        sheet.figure.draw_without_rendering()  # a legend is laid out then
        renderer = sheet.figure.canvas.get_renderer()
        page = sheet.figure.bbox
        boxes = {}
        for text in sheet.figure.findobj(Text):
            if text.get_visible() and text.get_text().strip():
                box = text.get_window_extent(renderer)
                assert page.x0 <= box.x0 < box.x1 <= page.x1, text
                assert page.y0 <= box.y0 < box.y1 <= page.y1, text
                boxes[text] = box
        for (one, box), (other, beside) in combinations(boxes.items(), 2):
            apart = (box.x1 <= beside.x0 or beside.x1 <= box.x0 or box.y1 <= beside.y0 or beside.y1 <= box.y0)
            assert apart, (one, other)
        return [text.get_text() for text in boxes]
    return check
