"""How a ViT learns spatial structure: the functions to call from a notebook.

    from attention_theory import spatial
    spatial.sample, spatial.train, spatial.associate, spatial.transfer, ...

They are loaded when first used: a step that needs no torch must not import it.
"""

import importlib
from typing import Any

_HOMES = {
    "settings": ("Architecture", "Descent", "Distribution"),
    "distribution": ("draw_feature", "draw_partition", "labelling_function", "sample"),
    "training": ("initialise", "train"),
    "association": ("associate",),
}
__all__ = sorted(name for names in _HOMES.values() for name in names)


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
