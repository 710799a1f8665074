"""faults.py - the two reasons for which the interpreter stops before the end of a program.

Owner      the module that sees the mistake raises; test/random/driver.py catches.
Tests      every random program
"""


class Fault(Exception):
    """The program cannot go on: the id of the check, the line, what is wrong."""

    def __init__(self, id_, line, text):
        super().__init__("%s at line %d: %s" % (id_, line, text))
        self.id, self.line, self.text = id_, line, text


class TooLong(Exception):
    """More statements than a random program should run."""
