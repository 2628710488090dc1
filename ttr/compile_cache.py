"""Where compiled code is kept: one folder per state of the sources.

Numba's cache watches only the file a function stands in, not the files of the functions it calls. An edited
card rule would leave stale code in every caller. So the folder is named after a hash of all engine sources, and
of the switches that change what is compiled, and is chosen before numba is first imported.
"""

import hashlib
import os
import sys
import tempfile
from pathlib import Path

SWITCHES = ("NUMBA_BOUNDSCHECK", "NUMBA_DISABLE_JIT", "TTR_NO_PDEP")


def source_hash() -> str:
    """Hash of the engine's Python sources, in a fixed order: the engine's identity."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def cache_folder() -> Path:
    """The folder for compiled code of exactly these sources, switches and this Python."""
    digest = hashlib.sha256(source_hash().encode())
    digest.update(sys.version.encode())
    for name in SWITCHES:
        digest.update(f"{name}={os.environ.get(name, '')}".encode())
    base = os.environ.get("TTR_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "ttr-compiled" / digest.hexdigest()[:16]


def use_cache_for_these_sources() -> None:
    """Point numba at that folder, unless the user has chosen one; fall back to a temporary folder."""
    if "NUMBA_CACHE_DIR" in os.environ and "TTR_OWN_CACHE" not in os.environ:
        return
    if "numba" in sys.modules:
        from numba import config

        config.CACHE_DIR = str(writable(cache_folder()))
        return
    os.environ["TTR_OWN_CACHE"] = "1"
    os.environ["NUMBA_CACHE_DIR"] = str(writable(cache_folder()))


def writable(folder: Path) -> Path:
    """The folder, made if need be; a temporary one of the same name where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except OSError:
        pass
    fallback = Path(tempfile.gettempdir()) / f"ttr-compiled-{os.getuid()}" / folder.name
    fallback.mkdir(parents=True, exist_ok=True, mode=0o700)
    return fallback
