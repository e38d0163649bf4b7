"""The engine process and its clients: commands in, states out, over ZeroMQ."""

from limberjack.bridge.client import Client
from limberjack.bridge.state import Description, State

__all__ = ["Client", "Description", "State"]
