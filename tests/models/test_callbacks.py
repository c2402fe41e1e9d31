"""scikit-learn's callbacks hang on the per-pass hook."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separatrix import ConvergenceWarning, InputError, LogisticRegression, SGDClassifier

callback = pytest.importorskip("sklearn.callback")
X, Y = load_breast_cancer(return_X_y=True)


class Recorder:
    """Counts tasks and looks at the model as it would be after each pass."""

    def __init__(self, stop_after=None):
        self.begun, self.ended, self.scores, self.stop_after = [], [], [], stop_after

    def setup(self, estimator, context):
        self.begun.append("setup")

    def teardown(self, estimator, context):
        self.ended.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.ended.append(context.task_name)
        if context.task_name == "pass" and fitted_estimator is not None:
            self.scores.append(fitted_estimator.score(X, Y))
        return self.stop_after is not None and self.ended.count("pass") == self.stop_after


def test_one_task_per_pass_within_one_for_the_fit():
    recorder = Recorder()
    model = LogisticRegression().set_callbacks(recorder).fit(X, Y)
    passes = int(model.n_iter_[0])
    assert recorder.begun.count("pass") == recorder.ended.count("pass") == passes
    assert recorder.ended[-2:] == ["fit", "teardown"]
    assert recorder.begun[:2] == ["setup", "fit"]


def test_a_descent_has_a_task_per_epoch():
    recorder = Recorder()
    with pytest.warns(ConvergenceWarning, match="all epochs"):
        model = SGDClassifier(max_iter=7).set_callbacks(recorder).fit(StandardScaler().fit_transform(X), Y)
    assert recorder.begun.count("pass") == recorder.ended.count("pass") == model.n_iter_ == 7
    with pytest.raises(InputError, match=r"callbacks(.|\n)*Hint: use on_pass"):
        SGDClassifier("perceptron").set_callbacks(recorder).fit(X, Y)


def test_a_callback_sees_a_model_that_predicts():
    recorder = Recorder()
    model = LogisticRegression().set_callbacks(recorder).fit(X, Y)
    assert len(recorder.scores) == model.n_iter_[0]
    assert recorder.scores[-1] == pytest.approx(model.score(X, Y), abs=1e-12)
    assert recorder.scores[-1] > recorder.scores[0]


def test_a_callback_may_stop_the_fit():
    model = LogisticRegression().set_callbacks(Recorder(stop_after=4)).fit(X, Y)
    assert model.n_iter_[0] == 4


def test_scikit_learns_own_monitor_works():
    monitor = callback.ScoringMonitor(scoring="neg_log_loss")
    model = LogisticRegression().set_callbacks(monitor).fit(X, Y)
    logs = monitor.get_logs()
    assert logs
    assert np.isfinite(model.coef_).all()


def test_callbacks_inside_a_pipeline_do_no_harm():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression().set_callbacks(Recorder()))
    assert pipeline.fit(X, Y).score(X, Y) > 0.97
