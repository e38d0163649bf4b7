"""Stores the operators' state of alarms in the history, so that the next gateway continues with it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

from limberjack.bridge.telemetry.alarm_desk import AlarmDesk, Entry, from_text, to_text
from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.history.history import History
from limberjack.bridge.telemetry.history.store import HistoryError

log = logging.getLogger("limberjack.gateway")


class DeskKeeper:
    """Stores a desk in a history. Call `keep` from any thread, at intervals and after each order."""

    def __init__(self, desk: AlarmDesk, history: History) -> None:
        self._desk, self._history = desk, history
        self._lock = threading.Lock()
        self._kept: Mapping[str, Entry] = {}

    def restore(self, dictionary: Dictionary) -> None:
        """Restore the desk's state for this model. Raises HistoryError."""
        text = self._history.desk(dictionary.model_hash)
        try:
            found = {} if text is None else from_text(text)
        except (ValueError, TypeError, LookupError, AttributeError):
            log.warning("what was acknowledged and shelved cannot be read; the history has it as orders.")
            return
        self._desk.restore({id: entry for id, entry in found.items() if id in dictionary.places})

    def keep(self, dictionary: Dictionary) -> None:
        """Store the desk if it has changed. Does nothing while the history is closed or cannot be written."""
        with self._lock:
            entries = self._desk.entries()
            if entries is self._kept:
                return
            try:
                self._history.keep_desk(dictionary.model_hash, to_text(entries))
            except HistoryError as error:  # the history's own thread reports it, and opens it again
                log.debug("acknowledgements and shelves are not written: %s", error)
                return
            self._kept = entries
