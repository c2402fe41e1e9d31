"""Numbers per row by stretches: the same as all at once, however long the stretches are."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tables
from separatrix import Perceptron, kernels, separability
from separatrix.engines import block_of
from separatrix.kernels import _kernels, stretches
from separatrix.models.class_rows import class_counts, members_of
from separatrix.terms.perceptron import PerceptronRule

LAYOUTS = ["c", "fortran", "csr", "csc", "pandas"]


@pytest.fixture(params=[1, 7, 64])
def stretch(request, monkeypatch):
    monkeypatch.setattr(stretches, "STRETCH", request.param)
    return request.param


@pytest.mark.parametrize("layout", LAYOUTS)
def test_stretches_give_what_a_whole_pass_gives(layout, stretch):
    X = tables.values(150, 4, "float64", 2)
    point = np.random.default_rng(0).normal(size=5)
    block = block_of(tables.LAYOUTS[layout](X))
    product, size = stretches.brackets(block.rows, point, True, 0, block.shape[0], block.entries_per_row)
    score = np.empty((150, 1))
    kernels.score(block.rows, point[None], True, False, score, block.entries_per_row)
    for first, last in stretches.stretches(150, block.layout):
        part = slice(first, last)
        for whole, piece in zip((product, size), _brackets(block, point, first, last), strict=True):
            np.testing.assert_array_equal(piece, whole[part])
        seen = stretches.scores(block.rows, point[None], True, first, last, block.entries_per_row)
        np.testing.assert_array_equal(seen, score[part])
        if layout != "csc":
            long = stretches.lengths(block.rows, True, first, last, block.entries_per_row)
            np.testing.assert_allclose(long, np.sqrt(1.0 + np.square(X[part]).sum(axis=1)), rtol=1e-14)


def _brackets(block, point, first, last):
    return stretches.brackets(block.rows, point, True, first, last, block.entries_per_row)


@settings(max_examples=200, deadline=None)
@given(belongs=st.lists(st.booleans(), max_size=60), seed=st.integers(0, 99))
def test_ranked_places_are_those_of_the_whole_list(belongs, seed):
    belongs = np.array(belongs, dtype=bool)
    places = np.flatnonzero(belongs)
    ranks = np.sort(np.random.default_rng(seed).choice(len(places), len(places) // 2, replace=False))
    before = stretches.STRETCH
    try:
        for stretches.STRETCH in (3, before):
            np.testing.assert_array_equal(stretches.ranked([belongs], ranks), places[ranks])
    finally:
        stretches.STRETCH = before


def test_rows_of_classes_are_found_in_either_way():
    draw = np.random.default_rng(1)
    codes = draw.integers(0, 4, 300).astype(np.int32)
    for live in (None, draw.random(300) < 0.7):
        alive = np.ones(300, dtype=bool) if live is None else live
        np.testing.assert_array_equal(class_counts(codes, 5, live), np.bincount(codes[alive], minlength=5))
        for wanted in ([2], [3, 0], [0, 1, 2, 3]):
            expected = np.flatnonzero(np.isin(codes, wanted) & alive)
            for sorted_once in (False, True):
                found = members_of(codes, 4, live, sorted_once)(wanted)
                np.testing.assert_array_equal(np.arange(300) if found is None else found, expected)


@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_fits_and_verdicts_do_not_depend_on_the_stretches(noise, stretch, monkeypatch):
    draw = np.random.default_rng(5)
    X = draw.normal(size=(200, 3))
    y = X[:, 0] + 0.2 + noise * draw.normal(size=200) > 0
    weights = draw.integers(0, 3, 200).astype(float)
    fits, verdicts = [], []
    for length in (stretch, 2**17):
        monkeypatch.setattr(stretches, "STRETCH", length)
        fits.append(Perceptron(max_iter=30).fit(X, y, sample_weight=weights))
        verdicts.append(separability(X, y, sample_weight=weights))
    assert fits[0].certificate_ == fits[1].certificate_
    assert verdicts[0] == verdicts[1]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)


@settings(max_examples=100, deadline=None)
@given(
    n=st.integers(1, 40), d=st.integers(1, 12), seed=st.integers(0, 10**6), constant=st.booleans(),
    scale=st.sampled_from([1e-300, 1e-160, 1e-30, 1.0, 1e30, 1e160]), sparse=st.booleans(),
)  # fmt: skip
def test_leeways_are_those_of_the_twin_and_never_too_long(n, d, seed, constant, scale, sparse):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d)) * scale
    codes = draw.integers(0, 2, n).astype(np.int32)
    point = draw.normal(size=d + constant)
    block = block_of(tables.LAYOUTS["csr"](X) if sparse else X)
    leeway, lengths = np.empty(n, np.float32), np.empty(n, np.float32)
    _kernels.leeways(block.rows, codes, 1, constant, 0.5, point, leeway, lengths, 0, n, 1, 1)
    rule = PerceptronRule(constant=constant, margin=0.5)
    score, long = np.empty((n, 1)), np.empty(n)
    kernels.score(block.rows, point[None], constant, False, score, block.entries_per_row)
    kernels.lengths(block.rows, constant, long, block.entries_per_row)
    assert (lengths.astype(np.float64) >= long).all()
    with np.errstate(all="ignore"):
        room = np.where(codes == 1, 1.0, -1.0) * score[:, 0] - (rule.margin + 1e-290)
        twin = room / (long + 2.0**-120)
        assert (leeway[room > 0] <= (room / long)[room > 0]).all()
    usual = (np.abs(twin) < 1e37) & (long < 1e37) & (np.abs(twin) > 1e-30)
    np.testing.assert_allclose(leeway[usual], twin[usual], rtol=1e-6)
