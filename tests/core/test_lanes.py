"""Cutting rows: everything covered once, nothing depends on threads."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.core.lanes import BLOCK_WORK, LONGEST_BLOCK, MOST_LANES, WORK_PER_NUMBER, spans
from separatrix.core.total import Total, merge_tree


@settings(deadline=None)  # the largest draw has 75,000 spans
@given(st.integers(1, 10**9), st.floats(0.1, 1e4), st.integers(1, 10**7))
def test_spans_cover_every_row_once_in_order(rows, work, size):
    reached = 0
    for span in spans(rows, work, size):
        assert span.first == reached
        assert span.last > span.first or rows == 0
        assert 1 <= span.lanes <= max(1, min(MOST_LANES, span.last - span.first))
        most = max(BLOCK_WORK, min(WORK_PER_NUMBER * size, LONGEST_BLOCK))
        assert (span.last - span.first - 1) * work <= most * 1.01 + work
        reached = span.last
    assert reached == rows


@given(st.lists(st.integers(-100, 100), min_size=1, max_size=40))
def test_merging_totals_adds_sums_and_keeps_the_largest(numbers):
    totals = [Total(np.full((1, 1, 2), float(k)), np.array([float(k)])) for k in numbers]
    merged = merge_tree(iter(totals))
    assert merged.sums.ravel().tolist() == [sum(numbers)] * 2
    assert merged.maxima.tolist() == [max(numbers)]


@given(st.lists(st.floats(-1e10, 1e10), min_size=1, max_size=33))
def test_the_merge_tree_depends_on_the_number_of_totals_alone(numbers):
    once = merge_tree(Total(np.full((1, 1, 1), x), np.empty(0)) for x in numbers)
    level = [np.float64(x) for x in numbers]
    # a binary counter merges complete halves first, then folds what is left from the right
    stack: list[tuple[int, np.float64]] = []
    for x in level:
        size = 1
        while stack and stack[-1][0] == size:
            x = stack.pop()[1] + x
            size *= 2
        stack.append((size, x))
    result = stack.pop()[1]
    while stack:
        result = stack.pop()[1] + result
    assert once.sums.ravel()[0] == result
