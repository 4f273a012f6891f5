"""Coroutines run in a thread of their own: a browser's driver keeps an event loop in the main one."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def run_apart(work: Coroutine[None, None, T]) -> T:
    """What a coroutine gives."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
