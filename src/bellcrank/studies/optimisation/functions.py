"""The cost of a problem as a differentiable function of JAX and of PyTorch, where these are installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import MissingExtraError

if TYPE_CHECKING:
    from .problem import Problem


def jax_function(problem: Problem) -> Callable[..., Any]:
    """f(x), a custom_vjp: grad, value_and_grad and jit work on it; the run itself is called back, outside of XLA."""
    try:
        import jax
        import jax.numpy as jnp
    except ImportError as error:
        raise MissingExtraError("JAX is not installed. Install it: pip install jax") from error

    def called(x: Any) -> tuple[Any, Any]:
        cost, gradient = problem.cost_and_gradient(np.asarray(x, dtype=np.float64))
        return np.asarray(cost, dtype=x.dtype), np.asarray(gradient, dtype=x.dtype)

    def both(x: Any) -> Any:
        x = jnp.asarray(x)
        x = x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(float)  # a cost is not a whole number
        shapes = (jax.ShapeDtypeStruct((), x.dtype), jax.ShapeDtypeStruct(x.shape, x.dtype))
        return jax.pure_callback(called, shapes, x, vmap_method="sequential")

    cost = jax.custom_vjp(lambda x: both(x)[0])
    cost.defvjp(lambda x: both(x), lambda gradient, above: (above * gradient,))
    return cost


def torch_function(problem: Problem) -> Callable[..., Any]:
    """f(x) of a tensor, an autograd.Function: x.grad follows from backward()."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("PyTorch is not installed. Install it: pip install torch") from error

    class Cost(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, x: Any) -> Any:
            cost, gradient = problem.cost_and_gradient(x.detach().cpu().numpy().astype(np.float64))
            like = {"dtype": x.dtype if x.dtype.is_floating_point else torch.get_default_dtype(), "device": x.device}
            context.save_for_backward(torch.as_tensor(gradient, **like))
            return torch.as_tensor(cost, **like)

        @staticmethod
        def backward(context: Any, *above: Any) -> Any:
            return above[0] * context.saved_tensors[0]

    return Cost.apply
