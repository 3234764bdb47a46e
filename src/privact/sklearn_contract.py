"""What scikit-learn asks of an estimator, kept without importing it: parameters, tags, and how a model is shown.

Nothing here needs scikit-learn to be installed; where it is, `clone`, `is_clusterer`, `check_is_fitted`, pipelines and
`GridSearchCV` take the model as one of theirs.
"""

from __future__ import annotations

import html
import inspect
import sys
from typing import Any, Self

from privact.errors import InputError, NotFittedError

__all__ = ["SklearnClusterer", "make_not_fitted_error"]


def make_not_fitted_error(message: str) -> NotFittedError:
    """The error of a model that has not learned; where scikit-learn is loaded, also its `NotFittedError`."""
    theirs = sys.modules.get("sklearn.exceptions")
    if theirs is None:
        return NotFittedError(message)
    both: type[NotFittedError] = type("NotFittedError", (NotFittedError, theirs.NotFittedError), {})
    return both(message)


class SklearnClusterer:
    """A clusterer by scikit-learn's rules: the parameters are the arguments of `__init__`, which only stores them."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor's parameters, as scikit-learn asks for them."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters by name."""
        known = self._defaults()
        for name, value in parameters.items():
            if name not in known:
                raise InputError(f"{type(self).__name__} has no parameter {name!r}: it has {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        """A clusterer of graphs: X is a square matrix, dense or sparse, which is split by rows and columns together."""
        from sklearn.utils import InputTags, Tags, TargetTags  # only scikit-learn asks

        return Tags(
            estimator_type="clusterer",
            target_tags=TargetTags(required=False),
            input_tags=InputTags(pairwise=True, sparse=True, positive_only=True),
            non_deterministic=self.get_params().get("random_state") is None,
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tree_")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._changed().items())})"

    def _repr_html_(self) -> str:
        """The model in a notebook: its name, whether it has learned, and the parameters, those that were changed in bold."""
        changed = self._changed()
        state = f"learned from {self.tree_.n_users:,} users" if self.__sklearn_is_fitted__() else "not fitted"  # type: ignore[attr-defined]
        rows = "".join(
            f"<tr><td>{_bold(name, name in changed)}</td><td>{_bold(_shorten(value), name in changed)}</td></tr>"
            for name, value in self.get_params().items()
        )
        return f"<details><summary><b>{type(self).__name__}</b> ({state})</summary><table>{rows}</table></details>"

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        arguments = inspect.signature(cls.__init__).parameters.items()
        return {name: argument.default for name, argument in arguments if name != "self"}

    def _changed(self) -> dict[str, Any]:
        """The parameters that are not the defaults."""
        defaults = self._defaults()
        values = self.get_params()
        return {
            name: value
            for name, value in values.items()
            if value is not defaults[name] and not (isinstance(value, (str, int, float)) and value == defaults[name])
        }


def _bold(text: str, changed: bool) -> str:
    return f"<b>{html.escape(text)}</b>" if changed else html.escape(text)


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
