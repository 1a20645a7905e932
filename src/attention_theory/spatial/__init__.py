"""How a ViT learns spatial structure: the functions to call from a notebook (docs/notebook.md).

They are loaded when first used: a step that needs no torch must not import it.
"""

import importlib
from typing import Any

_HOMES = {
    "settings": ("Architecture", "Descent", "Distribution"),
    "notebook": ("finetune", "pretrain", "sample"),
    "association": ("associate",),
}
__all__ = sorted(name for names in _HOMES.values() for name in names)


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
