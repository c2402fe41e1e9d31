"""scikit-learn's callbacks served by the per-pass hook.

``sklearn.callback`` is imported only by those who set a callback: it loads a
progress bar, which takes longer than many a fit.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from separatrix.core.arrays import Vector
from separatrix.core.trace import Pass


class CallbackSupport:
    """What scikit-learn expects of an estimator that takes callbacks."""

    def set_callbacks(self, *callbacks: Any) -> Self:
        """Set scikit-learn callbacks; they see one task per pass."""
        from sklearn.callback import CallbackSupportMixin

        CallbackSupportMixin.set_callbacks(self, *callbacks)
        return self

    def _init_callback_context(self, **options: Any) -> Any:
        from sklearn.callback import CallbackSupportMixin

        return CallbackSupportMixin._init_callback_context(self, **options)


class CallbackTasks:
    """One scikit-learn task for the fit and one for every pass in it.

    ``attributes`` turns a raw point into the fitted attributes a callback needs to
    predict as if the fit had stopped there.
    """

    def __init__(
        self,
        estimator: Any,
        data: dict[str, Any],
        max_iter: int,
        attributes: Callable[[Vector], dict[str, Any]],
    ) -> None:
        self._estimator = estimator
        self._data = data
        self._attributes = attributes
        self._fit = estimator._init_callback_context(max_subtasks=max_iter)
        self._fit.call_on_fit_task_begin(estimator=estimator, **data)

    def __call__(self, entry: Pass) -> bool:
        """The hook: begin and end a task; True when a callback asks to stop."""
        task = self._fit.subcontext(task_name="pass")
        task.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return bool(
            task.call_on_fit_task_end(
                estimator=self._estimator,
                reconstruction_attributes=self._attributes(entry.point),
                **self._data,
            )
        )

    def close(self, point: Vector) -> None:
        """The fit is over."""
        self._fit.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=self._attributes(point), **self._data
        )


@contextmanager
def callback_tasks(
    estimator: Any, data: dict[str, Any], max_iter: int, attributes: Callable[[Vector], dict[str, Any]]
) -> Iterator[CallbackTasks | None]:
    """The tasks of an estimator that has callbacks, else None; torn down whatever happens."""
    if not getattr(estimator, "_skl_callbacks", None):
        yield None
        return
    from sklearn.callback._callback_support import callback_management_context

    with callback_management_context(estimator):
        yield CallbackTasks(estimator, data, max_iter, attributes)
