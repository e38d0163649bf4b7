"""The engine process and its clients: commands in, states out, over ZeroMQ."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from limberjack.bridge.client import Client
    from limberjack.bridge.state import Description, State

__all__ = ["Client", "Description", "State"]


def __getattr__(name: str) -> object:
    """Imports these names at first use, so that users of other modules of this package do not wait for the client."""
    if name == "Client":
        from limberjack.bridge.client import Client

        return Client
    if name in __all__:
        from limberjack.bridge import state

        return getattr(state, name)
    raise AttributeError(f"module 'limberjack.bridge' has no attribute '{name}'")
