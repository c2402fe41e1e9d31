"""What a hook answers and raises, in every solver alike."""

import numpy as np
import pytest
from sklearn.base import clone

from separatrix import LogisticRegression, MLPClassifier, Perceptron, SGDClassifier
from separatrix.core.errors import InputError

HOOKED = {
    "newton": LogisticRegression(),
    "newton-cg": LogisticRegression(solver="newton-cg"),
    "newton-subsample": LogisticRegression(solver="newton-subsample"),
    "l1": LogisticRegression(l1_ratio=1.0),
    "no penalty": LogisticRegression(C=np.inf),
    "firth": LogisticRegression(C=np.inf, firth=True),
    "gd": SGDClassifier(batch_size="all", max_iter=100),
    "sgd": SGDClassifier(max_iter=100),
    "perceptron's loss": SGDClassifier("perceptron"),
    "perceptron": Perceptron(),
    "batch perceptron": Perceptron(rule="batch"),
    "adam": MLPClassifier((3,)),
    "momentum": MLPClassifier((3,), solver="sgd"),
    "lbfgs": MLPClassifier((3,), solver="lbfgs"),
}
SMALL = np.random.default_rng(0).normal(size=(40, 3))
LABELS = (SMALL[:, 0] + np.random.default_rng(1).normal(size=40) > 0).astype(int)


class OwnError(Exception):
    """Of a user."""


RAISED = [
    StopIteration, StopAsyncIteration, GeneratorExit, OwnError, ValueError, ZeroDivisionError, FloatingPointError,
    OverflowError, MemoryError, AssertionError, np.linalg.LinAlgError, KeyboardInterrupt,
]  # fmt: skip


@pytest.mark.parametrize("kind", RAISED, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", HOOKED)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_a_hook_raises_passes_through_unchanged_and_nothing_changes(name, kind):
    model = clone(HOOKED[name]).fit(SMALL, LABELS)
    error = kind("mine")

    def look(entry):
        if entry.number == 2:
            raise error

    model.set_params(on_pass=look)
    before = dict(vars(model))
    with pytest.raises(kind) as caught:
        model.fit(SMALL, LABELS)
    assert caught.value is error
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[key] is before[key] for key in before)


@pytest.mark.parametrize("name", HOOKED)
@pytest.mark.filterwarnings("error")
def test_returning_true_stops_and_nothing_goes_on(name):
    for answer in (True, np.True_, 1):
        model = clone(HOOKED[name]).set_params(on_pass=lambda entry, answer=answer: answer).fit(SMALL, LABELS)
        assert len(model.trace_) == 1


@pytest.mark.parametrize("name", HOOKED)
def test_an_answer_that_is_neither_true_nor_false_is_refused(name):
    model = clone(HOOKED[name]).set_params(on_pass=lambda entry: entry.point > 0)
    with pytest.raises(InputError, match=r"on_pass returned array.*\n\nHint: return True"):
        model.fit(SMALL, LABELS)


class EmptyLog(list):
    """A hook that is false as a container is, before anything is in it."""

    def __call__(self, entry):
        self.append(entry.number)


@pytest.mark.parametrize("name", HOOKED)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_hook_that_is_an_empty_container_is_called(name):
    log = EmptyLog()
    model = clone(HOOKED[name])
    model.on_pass = log
    model.fit(SMALL, LABELS)
    assert log == list(range(1, len(model.trace_) + 1))
