"""Prose of generated tables, in lines of at most 100 columns."""
import textwrap


def wrapped(text):
    """The same Markdown; tables and headings stay as they are."""
    return "\n".join(
        line if line.startswith(("|", "#")) else
        textwrap.fill(line, 100, subsequent_indent="  " if line.startswith("* ") else "",
                      break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n"))
