"""Refuse, in one line, a Python or a platform that the lock file was not made for.

Runs before anything is installed, under whatever Python there is: standard library only, and
syntax that old versions can read.
"""

import platform
import sys


def refusal():
    """Why this Python cannot be used, or None."""
    version = "%d.%d" % sys.version_info[:2]
    system = "%s %s" % (platform.system(), platform.machine())
    if version != "3.11":
        return (
            "Python %s is not allowed; it must be 3.11 (make PYTHON=/path/to/python3.11)" % version
        )
    if system != "Linux x86_64":
        return "platform %s is not allowed; it must be Linux x86_64 (see README.md)" % system
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return (
            "%s has no venv; it must have it (Debian: apt install python3.11-venv)" % sys.executable
        )
    return None


if __name__ == "__main__":
    reason = refusal()
    if reason:
        sys.exit("set-up: " + reason)
