"""`does_not_apply`: a test that is about processors other than this one says so, and the report lacks nothing."""

from __future__ import annotations

from typing import NoReturn

import pytest


class DoesNotApply(pytest.skip.Exception):
    """A case that no test on this machine could decide, since the product does nothing here that it is about."""


def does_not_apply(reason: str) -> NoReturn:
    """Skip the case. reason : what the case is about, and why this machine is not concerned

    Not for what the machine lacks but could have, as a peer or a program: `pytest.skip` says that, and the report is
    incomplete without it.
    """
    __tracebackhide__ = True
    raise DoesNotApply(reason)
