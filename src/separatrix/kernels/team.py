"""How many threads a long pass takes: one or several, whichever was quicker of late.

Threads that wait for each other at every step halve the time of a pass on free processors, and multiply it where others
want the same ones: a thread that is not running is waited for. Nobody can tell beforehand, so both are tried, and tried
again now and then. That is for results that do not depend on it, as all of ours.
"""

FIRST_WAIT, LONGEST_WAIT = 64, 4096
"""Calls after which the slower size is tried once more; twice as many after each trial that it loses."""


class Team:
    """One thread, or ``most``.

    >>> team = Team(2)
    >>> for seconds in (3.0, 2.0):
    ...     team.note(team.size(), seconds)
    >>> team.size()
    2
    """

    def __init__(self, most: int) -> None:
        self._seconds: dict[int, float | None] = dict.fromkeys((1, most))
        self._wait = self._left = FIRST_WAIT

    def size(self) -> int:
        """How many threads to take now."""
        known = {size: seconds for size, seconds in self._seconds.items() if seconds is not None}
        untried = self._seconds.keys() - known.keys()
        if untried:
            return min(untried)
        return (min if self._left else max)(known, key=lambda size: known[size])

    def note(self, size: int, seconds: float) -> None:
        """So long it took, per unit of work: the last times count most."""
        before = self._seconds[size]
        self._seconds[size] = seconds if before is None or not self._left else 0.75 * before + 0.25 * seconds
        if not self._left:
            self._wait = min(2 * self._wait, LONGEST_WAIT) if self.size() == size else FIRST_WAIT
        self._left = self._left - 1 if self._left else self._wait
