"""One outlet's bounded queue and thread: it may be slow, fail or hang, and nobody else waits for it."""

from __future__ import annotations

import contextlib
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.sample import Notice, Outlet, Sample
from limberjack.engine.common.errors import LimberjackError

log = logging.getLogger("limberjack.gateway")

SAMPLES, NOTICES = 4096, 1024  # that may wait; of more, the oldest are dropped and counted
_FAILURES_IN_A_ROW = 5  # then the outlet is closed and opened again
_PAUSES_S = (0.5, 10.0)  # before it is opened again: first, longest
_QUIET_S = 10.0  # after the notice of a failure; one for each would make an outlet that fails at notices fail again

#: notifies all outlets: severity, text
Notifier = Callable[[int, str], None]


@dataclass
class Counts:
    """What became of the samples and notices offered to one outlet.

    sent : taken by the outlet;  thinned : left out as it wants fewer a second;  dropped : lost as it was too slow
    notices, notices_dropped : likewise;  failures : errors that it raised
    """

    sent: int = 0
    thinned: int = 0
    dropped: int = 0
    notices: int = 0
    notices_dropped: int = 0
    failures: int = 0


class Feed:
    """Takes samples and notices for an outlet without waiting, and hands them over on its own thread.

    What was dropped shows in the `gap` of the next sample that the outlet gets.
    """

    def __init__(
        self,
        outlet: Outlet,
        notify: Notifier,
        *,
        rate_hz: float | None = None,
        samples: int = SAMPLES,
        notices: int = NOTICES,
    ) -> None:
        """rate_hz : samples a second that the outlet gets at most. None: all"""
        self.outlet, self._notify = outlet, notify
        self._period_ns = 0 if rate_hz is None else int(1e9 / rate_hz)
        self._sends = bool(getattr(outlet, "sends", False))
        self._prompt = self._sends or bool(getattr(outlet, "prompt", False))
        self._patience_s: float | None = getattr(outlet, "patience_s", None)
        self._wants: Callable[[Sample], bool] | None = getattr(outlet, "wants", None)
        self._take_many: Callable[[list[Sample]], None] | None = getattr(outlet, "sample_many", None)
        self._most_samples, self._most_notices = samples, notices
        self.counts = Counts()
        self._samples: deque[tuple[int, Sample]] = deque()
        self._notices: deque[tuple[int, Notice]] = deque()
        self._dictionary: Dictionary | None = None  # of another model, for which the outlet has to open again
        self._ticket = self._due_ns = 0
        self._lost = 0  # before the oldest sample that waits
        self._skipped = 0  # lost before samples that were left out since the newest that waits
        self._lock, self._bell = threading.Lock(), threading.Lock()
        self._bell.acquire()  # released to wake the outlet's thread
        self._idle = False  # the outlet's thread waits for the bell
        self._free = False  # the outlet is open, and its thread is not in it
        self._closing = threading.Event()
        self._busy_since: float | None = None
        self._failed = 0  # in a row
        self._opened_at = self._notified_at = -math.inf  # of the monotonic clock
        self._pause = _PAUSES_S[0]
        self._thread = threading.Thread(target=self._run, name=f"outlet {outlet.name}", daemon=True)

    def start(self, dictionary: Dictionary) -> None:
        """Open the outlet, here and now, and begin. Raises what its `open` raises."""
        self._opened = dictionary
        self.outlet.open(dictionary)
        self._opened_at, self._free = time.monotonic(), True
        self._thread.start()

    @property
    def turn(self) -> int:
        """In which order feeds are to be offered a sample; of the same number, in any.

        First those of which nearly all only put it aside; then those whose threads each sample wakes, last those that
        send it here: meanwhile these threads can go on.
        """
        if self._sends:
            return 2
        return 0 if self._prompt or self._patience_s is not None or self._wants is not None else 1

    # ---- from other threads; none of these waits

    def offer_sample(self, sample: Sample) -> None:
        """Put a sample into the queue; the oldest one gives way when it is full."""
        with self._lock:
            if sample.unix_ns < self._due_ns or (self._wants is not None and not self._wanted(sample)):
                self.counts.thinned += 1
                self._skipped += sample.gap
                return
            if self._skipped:
                sample, self._skipped = replace(sample, gap=sample.gap + self._skipped), 0
            if self._period_ns:
                self._due_ns = max(self._due_ns + self._period_ns, sample.unix_ns)
            if self._prompt and self._hand_at_once(sample):
                return
            if len(self._samples) >= self._most_samples:
                self._forget(self._samples.popleft()[1])
            self._put(self._samples, sample, self._patience_s is None or 2 * len(self._samples) > self._most_samples)

    def offer_notice(self, notice: Notice) -> None:
        """Put a notice into the queue; the oldest one gives way when it is full."""
        with self._lock:
            if len(self._notices) >= self._most_notices:
                self._notices.popleft()
                self.counts.notices_dropped += 1
            self._put(self._notices, notice, True)

    def reopen(self, dictionary: Dictionary) -> None:
        """Let the outlet open again for another model; what waits for it is of the old one and dropped."""
        with self._lock:
            self._dictionary = dictionary
            while self._samples:
                self._forget(self._samples.popleft()[1])
            self._lost = self._skipped = 0
            self._ring()

    def _forget(self, sample: Sample) -> None:
        self.counts.dropped += 1
        self._lost += 1 + sample.gap

    def _wanted(self, sample: Sample) -> bool:
        assert self._wants is not None
        try:
            return self._wants(sample)
        except Exception:  # the outlet's own thread meets the same trouble, and deals with it
            return True

    def _hand_at_once(self, sample: Sample) -> bool:
        """Give a prompt outlet its sample without another thread; whether it took it.

        Not while its own thread is in it, opens or closes it: an outlet need not be safe for two threads at once.
        """
        if not self._free or self._samples or self._dictionary is not None:
            return False
        if self._lost:
            sample, self._lost = replace(sample, gap=sample.gap + self._lost), 0
        try:
            self.outlet.sample(sample)
        except Exception:  # its own thread tries again, and deals with the failure
            return False
        self.counts.sent += 1
        return True

    def _put(self, queue: deque, item: Sample | Notice, wake: bool) -> None:
        self._ticket += 1
        queue.append((self._ticket, item))
        if wake:
            self._ring()

    def _ring(self) -> None:
        """Wake the outlet's thread if it waits; if not, it looks at what there is before it does."""
        if self._idle:
            self._idle = False
            self._bell.release()

    @property
    def waiting(self) -> int:
        """Samples and notices in the queue."""
        return len(self._samples) + len(self._notices)

    def busy_s(self) -> float:
        """How long the outlet has been at what it is doing now, s; 0 when it waits."""
        since = self._busy_since
        return 0.0 if since is None else time.monotonic() - since

    def end(self) -> None:
        """Make the thread hand over what waits, close the outlet and end; an outlet that only fails gets no more."""
        with self._lock:
            self._closing.set()
            self._ring()

    def close(self, wait_s: float) -> bool:
        """End, and wait for it; False when the outlet hangs and is left behind."""
        self.end()
        if self._thread.is_alive():
            self._thread.join(wait_s)
        return not self._thread.is_alive()

    # ---- the outlet's thread

    def _run(self) -> None:
        while (item := self._next()) is not None:
            self._busy_since = time.monotonic()
            try:
                self._hand_over(item)
                self._failed = 0
            except Exception as error:  # an outlet's fault stays its own
                self._fail(error)
            self._busy_since = None
        with contextlib.suppress(Exception):
            self.outlet.close()

    def _next(self) -> Sample | list[Sample] | Notice | Dictionary | None:
        """What to hand over next, waiting for it; None at the end."""
        with self._lock:
            self._free = True
            while not (self._samples or self._notices or self._dictionary or self._closing.is_set()):
                self._wait()
            self._free = False
            if self._closing.is_set() and self._failed >= _FAILURES_IN_A_ROW:
                self._give_up()
                return None
            if self._dictionary is not None:
                taken, self._dictionary = self._dictionary, None
                return taken
            if not self._samples and not self._notices:
                return None
            if not self._samples or (self._notices and self._notices[0][0] < self._samples[0][0]):
                return self._notices.popleft()[1]
            sample = self._samples.popleft()[1]
            lost, self._lost = self._lost, 0
            if lost:
                sample = replace(sample, gap=sample.gap + lost)
            return sample if self._take_many is None else [sample, *self._more()]

    def _give_up(self) -> None:
        """Drop what waits for an outlet that only fails: at the end nobody opens it again."""
        while self._samples:
            self._forget(self._samples.popleft()[1])
        self.counts.notices_dropped += len(self._notices)
        self._notices.clear()

    def _more(self) -> Iterator[Sample]:
        """All further samples that came before the next notice."""
        until = self._notices[0][0] if self._notices else math.inf
        while self._samples and self._samples[0][0] < until:
            yield self._samples.popleft()[1]

    def _wait(self) -> None:
        """Let go of the lock until somebody rings, or for as long as samples may wait."""
        self._idle = True
        self._lock.release()
        heard = self._bell.acquire(timeout=-1 if self._patience_s is None else self._patience_s)
        self._lock.acquire()
        if not (heard or self._idle):  # somebody rang just after the time was over
            self._bell.acquire()
        self._idle = False

    def _hand_over(self, item: Sample | list[Sample] | Notice | Dictionary) -> None:
        if isinstance(item, Sample):
            self.outlet.sample(item)
            self.counts.sent += 1
        elif isinstance(item, list):
            assert self._take_many is not None
            self._take_many(item)
            self.counts.sent += len(item)
        elif isinstance(item, Notice):
            self.outlet.notice(item)
            self.counts.notices += 1
        else:
            self._opened = item
            self.outlet.close()
            self._open_again(0.0)

    def _fail(self, error: Exception) -> None:
        self.counts.failures += 1
        self._failed += 1
        now = time.monotonic()
        if self._failed == 1 and now - self._notified_at >= _QUIET_S:
            self._notified_at = now
            self._explain("failed", error)
        if self._failed >= _FAILURES_IN_A_ROW and not self._closing.is_set():
            self._notify(
                2, f"outlet {self.outlet.name} failed {self._failed} times in a row; it is closed and opened again."
            )
            with contextlib.suppress(Exception):
                self.outlet.close()
            soon = now - self._opened_at < _PAUSES_S[1]  # it opens, and does not work
            pause = self._pause if soon else _PAUSES_S[0]
            self._pause = min(2.0 * pause, _PAUSES_S[1])
            self._open_again(pause)

    def _explain(self, what: str, error: Exception) -> None:
        expected = isinstance(error, (LimberjackError, OSError))
        log.warning("outlet %s %s: %s", self.outlet.name, what, error, exc_info=not expected)
        self._notify(1, f"outlet {self.outlet.name} {what}, {type(error).__name__}: {error}")

    def _open_again(self, pause: float) -> None:
        """Open the outlet, again and again until that succeeds; meanwhile the queue drops what is too old."""
        said = False
        while not self._closing.wait(pause):
            self._busy_since = time.monotonic()
            try:
                self.outlet.open(self._opened)
            except Exception as error:
                if not said:
                    self._explain("cannot be opened again", error)
                said, pause = True, min(max(2.0 * pause, _PAUSES_S[0]), _PAUSES_S[1])
            else:
                if said or self._failed:
                    self._notify(0, f"outlet {self.outlet.name} is open again.")
                self._failed, self._opened_at = 0, time.monotonic()
                return
            self._busy_since = None
