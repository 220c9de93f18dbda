"""The application over an online path that only takes its time: as many seconds as the question says."""

from __future__ import annotations

import os
import time
from typing import Any

from flask import Flask

from service.app import create_app
from service.domain.answers import Question
from service.errors import NotFound
from service.web import worker


class SlowPath:
    def answer(self, question: Question, *_: Any) -> Any:
        time.sleep(float(question.text))
        raise NotFound

    search = answer

    def read_source(self, *_: Any) -> Any:
        raise NotFound

    read_trace = read_source

    def ready(self) -> dict[str, str]:
        return {"engine": "ok"}


def create() -> Flask:
    """For gunicorn. Times are shortened as the environment says, so that a test need not wait for them."""
    for name in ("HEAD_S", "REQUEST_READ_S"):
        setattr(worker, name, float(os.environ.get(name, getattr(worker, name))))
    return create_app(service=SlowPath())
