"""scikit-learn's callbacks served by the per-pass hook, where they are present."""

from collections.abc import Callable
from typing import Any

from separatrix.core.arrays import Vector
from separatrix.core.trace import Pass

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn without callbacks: nothing to adapt

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin."""

    def with_callbacks(method: Any) -> Any:
        """Leave the method as it is."""
        return method


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


def callback_tasks(
    estimator: Any, data: dict[str, Any], max_iter: int, attributes: Callable[[Vector], dict[str, Any]]
) -> CallbackTasks | None:
    """The tasks of an estimator that has callbacks, else None."""
    if not getattr(estimator, "_skl_callbacks", None):
        return None
    return CallbackTasks(estimator, data, max_iter, attributes)


__all__ = ["CallbackSupportMixin", "CallbackTasks", "callback_tasks", "with_callbacks"]
