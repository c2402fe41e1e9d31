"""An interrupt at every pass of every solver: the estimator stays what it was."""

import warnings

import numpy as np
import pytest

import separatrix as sx

MODELS = {
    "newton": lambda **hook: sx.LogisticRegression(solver="newton-cholesky", **hook),
    "subsampled": lambda **hook: sx.LogisticRegression(solver="newton-subsample", **hook),
    "conjugate gradients": lambda **hook: sx.LogisticRegression(solver="newton-cg", **hook),
    "l1": lambda **hook: sx.LogisticRegression(l1_ratio=1.0, C=0.1, **hook),
    "maximum likelihood": lambda **hook: sx.LogisticRegression(C=np.inf, **hook),
    "firth": lambda **hook: sx.LogisticRegression(C=np.inf, firth=True, **hook),
    "gd": lambda **hook: sx.SGDClassifier(batch_size="all", max_iter=12, **hook),
    "sgd": lambda **hook: sx.SGDClassifier(max_iter=12, **hook),
    "perceptron by sgd": lambda **hook: sx.SGDClassifier("perceptron", max_iter=8, **hook),
    "perceptron": lambda **hook: sx.Perceptron(max_iter=8, **hook),
    "network": lambda **hook: sx.MLPClassifier((4,), max_iter=8, **hook),
    "network by lbfgs": lambda **hook: sx.MLPClassifier((4,), max_iter=8, solver="lbfgs", **hook),
}


def rows(n, d, seed):
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, d))
    return X, (X[:, 0] + draw.normal(size=n) > 0).astype(int)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_an_interrupt_at_any_pass_leaves_the_old_model(name):
    (old_X, old_y), (new_X, new_y) = rows(200, 3, 0), rows(300, 5, 1)
    seen = []
    MODELS[name](on_pass=lambda entry: seen.append(entry) or False).fit(new_X, new_y)
    assert seen
    for stop in range(len(seen)):
        model = MODELS[name]().fit(old_X, old_y)
        count = [0]

        def at(entry, stop=stop, count=count):
            count[0] += 1
            if count[0] > stop:
                raise KeyboardInterrupt
            return False

        model.set_params(on_pass=at)
        before = dict(vars(model))
        with warnings.catch_warnings(), pytest.raises(KeyboardInterrupt):
            model.fit(new_X, new_y)
        assert vars(model).keys() == before.keys()
        assert all(vars(model)[key] is before[key] for key in before)
