"""Prose of generated tables, in lines of at most 100 columns."""
import textwrap


def wrapped(text):
    """The same Markdown; tables, headings and blocks of code stay as they are."""
    lines, fenced = [], False
    for line in text.split("\n"):
        fence = line.startswith("```")
        keeps = fenced or fence or line.startswith(("|", "#"))
        fenced ^= fence
        lines.append(line if keeps else
                     textwrap.fill(line, 100, subsequent_indent="  " if line.startswith("* ") else "",
                                   break_long_words=False, break_on_hyphens=False))
    return "\n".join(lines)
