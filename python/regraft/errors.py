"""What goes wrong, as exceptions. Their text is what the program says: a line that names the place."""


class RegraftError(Exception):
    """All of the others."""


class UsageError(RegraftError, TypeError):
    """There is no such option, or it does not take such a value."""


class InputError(RegraftError, ValueError):
    """A model, rule file or other input is not what it should be, or an output cannot be written."""


class CheckFailed(RegraftError):
    """The result did not compute the same as the original on some input, so there is none. A bug of
    regraft: please report it with the model."""


class InternalError(RegraftError):
    """A bug of regraft."""


class LibraryError(RegraftError, ImportError):
    """libregraft.so is not there, or of another version than this package."""
