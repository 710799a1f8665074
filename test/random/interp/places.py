"""places.py - the tree of a place by itself: is it an element, at which name does it begin.

Tests      every random program
"""


def is_element(node):
    """Of an array, or a field of one."""
    return node.kind == "index" or (node.kind == "member" and is_element(node.of))


def root(node):
    """The name at which a chain of members begins; None: it begins at no name."""
    while node.kind == "member":
        node = node.of
    return node.name if node.kind == "name" else None
