"""Figures drawn by a process beside this one: the library is loaded, and draws, while this one reads and computes."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from burnish.report.document import Figure


@contextmanager
def drawing() -> Iterator[Callable[[Sequence[Figure]], Iterator[str]]]:
    """A function that begins to draw figures and gives them as SVG elements in order, each as soon as it is drawn.

    The process ends with the context. It is a fork of this one, so enter before there are threads.
    """
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as beside:
        beside.submit(_begin)
        try:
            yield lambda figures: beside.map(_drawn, figures)
        except BaseException:
            for child in active_children():  # nobody waits for what it is drawing
                child.terminate()
            raise


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the page, whose process ends this one
    from burnish.report.page.figures import drawing as _library  # noqa: F401, PLC0415 - here, where it is needed


def _drawn(figure: Figure) -> str:
    from burnish.report.page.figures.drawing import draw  # noqa: PLC0415 - loaded by `_begin`

    return draw(figure.shape, figure.title)
