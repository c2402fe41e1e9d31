"""The engine over blocks: where its blocks are those of memory it has memory's bits, else memory's numbers."""

import numpy as np
import pytest
import scipy.sparse

import separatrix as sx
from cut import open_in_blocks
from separatrix.core import lanes
from separatrix.core.sweeping import SweepState
from separatrix.engines import ChunkedEngine, MemoryEngine, block_of
from separatrix.models import labels
from separatrix.terms.logistic import LogisticLoss, Scores
from separatrix.terms.perceptron import PerceptronRule

N, D = 400, 4


def problem(seed=0):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(N, D))
    return X, (X[:, 0] + draw.normal(size=N) > 0).astype(np.int32), draw.random(N)


@pytest.mark.parametrize("edges", [[], [100, 200, 300], [1], [399]])
def test_one_block_or_blocks_where_memory_cuts_give_memorys_bits(edges, monkeypatch):
    X, codes, weights = problem()
    point = np.arange(1.0, D + 2)[None]
    if edges == [100, 200, 300]:  # memory's own spans are such blocks
        monkeypatch.setattr(lanes, "BLOCK_WORK", 1)
        monkeypatch.setattr(lanes, "WORK_PER_NUMBER", 0)
        work = LogisticLoss(True).work(D, D)
        monkeypatch.setattr(lanes, "BLOCK_WORK", int(work * 100))
    memory = MemoryEngine(block_of(X), codes, 2, weights).total(LogisticLoss(True), point)[0][0]
    chunked = ChunkedEngine.cut(block_of(X), codes, 2, weights, edges).total(LogisticLoss(True), point)[0][0]
    if edges in ([], [100, 200, 300]):
        assert chunked.loss == memory.loss
        np.testing.assert_array_equal(chunked.gradient, memory.gradient)
    np.testing.assert_allclose(chunked.gradient, memory.gradient, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_rows_by_number_come_in_the_order_asked_for(make):
    X, codes, weights = problem()
    engine = ChunkedEngine.cut(block_of(make(X)), codes, 2, weights, [5, 6, 250])
    which = np.array([399, 0, 5, 5, 249, 250, 6])
    taken = engine.take(which)
    np.testing.assert_array_equal(taken.toarray() if scipy.sparse.issparse(taken) else taken, X[which])
    np.testing.assert_array_equal(engine.labels_of(which), codes[which])
    some = engine.picked(which)
    np.testing.assert_array_equal(some.weights, weights[which])
    np.testing.assert_array_equal(engine.take(which[:0]).shape, (0, D))
    joined = engine.joined()
    np.testing.assert_allclose(joined.numbers(Scores(True), np.ones((1, D + 1)))[:, 0], X.sum(axis=1) + 1.0, rtol=1e-12)


def test_a_sample_is_that_of_one_block():
    X, codes, weights = problem()
    weights[::7] = 0.0
    memory = MemoryEngine(block_of(X), codes, 2, weights).sample(50, 3)
    chunked = ChunkedEngine.cut(block_of(X), codes, 2, weights, [13, 200]).sample(50, 3)
    every = np.arange(memory.rows)
    np.testing.assert_array_equal(chunked.take(every), memory.take(every))
    np.testing.assert_array_equal(chunked.codes, memory.codes)
    np.testing.assert_array_equal(chunked.weights, memory.weights)


@pytest.mark.parametrize("shuffled", [True, False])
def test_an_ordered_pass_has_memorys_bits(shuffled):
    X, codes, weights = problem()
    order = np.random.default_rng(1).permutation(N) if shuffled else None
    memory = MemoryEngine(block_of(X), codes, 2, weights).sweep(PerceptronRule(), SweepState(np.zeros(D + 1)), order)
    chunked = ChunkedEngine.cut(block_of(X), codes, 2, weights, [13, 200])
    there = chunked.sweep(PerceptronRule(), SweepState(np.zeros(D + 1)), order)
    np.testing.assert_array_equal(there.point, memory.point)
    assert there.mistakes == memory.mistakes


def test_groups_are_refused_where_a_kernel_does_not_know_them():
    from separatrix.terms.moments import Moments

    X, codes, weights = problem()
    engine = ChunkedEngine.cut(block_of(X), codes, 2, weights, [13])
    groups = engine.laid((np.arange(N) % 3).astype(np.int32))
    assert len(engine.total(LogisticLoss(True), np.zeros((1, D + 1)), groups)) == 3
    with pytest.raises(LookupError, match="groups"):
        engine.total(Moments(np.zeros((2, D))), np.empty((1, 0)), groups)


def test_row_vectors_of_other_blocks_are_refused():
    X, codes, weights = problem()
    memory = MemoryEngine(block_of(X), codes, 2, weights)
    three = ChunkedEngine.cut(block_of(X), codes, 2, weights, [13, 200])
    two = ChunkedEngine.cut(block_of(X), codes, 2, weights, [5])
    for engine in (memory, two):
        with pytest.raises(ValueError, match="belong"):
            engine.reweighted(three.row_weights)
        with pytest.raises(ValueError, match="belong"):
            engine.labels.sum(lambda a, b: (a * b).sum(), three.row_weights)
    assert two.reweighted(two.row_weights).weight == pytest.approx(weights.sum())


def test_blocks_without_weights_count_once_beside_those_that_have_some():
    X, codes, weights = problem()
    first, last = slice(0, 13), slice(13, N)
    engine = ChunkedEngine(
        (MemoryEngine(block_of(X[first]), codes[first]), MemoryEngine(block_of(X[last]), codes[last], 2, weights[last]))
    )
    assert engine.row_weights.rows == N
    assert engine.weight == pytest.approx(13 + weights[last].sum())
    with pytest.raises(ValueError, match="one width"):
        ChunkedEngine((MemoryEngine(block_of(X), codes), MemoryEngine(block_of(X[:, :2]), codes)))


MODELS = {
    "logistic": sx.LogisticRegression(),
    "lasso": sx.LogisticRegression(l1_ratio=1.0, C=0.1),
    "maximum likelihood": sx.LogisticRegression(C=np.inf),
    "firth": sx.LogisticRegression(C=np.inf, firth=True),
    "sgd": sx.SGDClassifier(max_iter=20, random_state=0),
    "gradient descent": sx.SGDClassifier(batch_size="all", max_iter=50),
    "perceptron": sx.Perceptron(random_state=0, max_iter=20),
    "batch perceptron": sx.Perceptron(rule="batch", max_iter=20),
    "lda": sx.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "ridge": sx.RidgeClassifierCV(),
    "network": sx.MLPClassifier((3,), max_iter=5, random_state=0),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kinds", [2, 3])
def test_a_fit_in_blocks_is_the_fit_in_memory_and_each_checks_the_other(name, kinds, monkeypatch):
    draw = np.random.default_rng(5)
    X = draw.normal(size=(N, D))
    y = np.digitize(X[:, 0] + draw.normal(size=N), [0.0, 0.8][: kinds - 1])
    if name == "firth" and kinds > 2:
        pytest.skip("of two classes")
    in_memory = type(MODELS[name])(**MODELS[name].get_params())
    in_blocks = type(MODELS[name])(**MODELS[name].get_params())
    in_memory.fit(X, y)
    with monkeypatch.context() as patch:
        patch.setattr(labels, "open_rows", open_in_blocks)
        in_blocks.fit(X, y)
        scores = in_blocks.predict_proba(X) if hasattr(in_blocks, "predict_proba") else in_blocks.decision_function(X)
        in_memory.certificate_.verify(X, y)
    in_blocks.certificate_.verify(X, y)
    there = in_memory.predict_proba(X) if hasattr(in_memory, "predict_proba") else in_memory.decision_function(X)
    np.testing.assert_allclose(scores, there, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("apart", [0.0, 0.3])
def test_a_verdict_in_blocks_is_the_verdict_in_memory(apart, monkeypatch):
    draw = np.random.default_rng(6)
    X = draw.normal(size=(N, D))
    y = (X[:, 0] + apart * draw.normal(size=N) > 0).astype(int)
    with monkeypatch.context() as patch:
        patch.setattr(labels, "open_rows", open_in_blocks)
        verdict = sx.separability(X, y)
        verdict.verify(X, y)
    assert verdict.kind == sx.separability(X, y).kind
    verdict.verify(X, y)
