"""The clock of budgets stands still while kernels are compiled, and at no other time."""

import time

import numpy as np

from fairway import clock
from fairway.kernels.compiling import njit


def test_it_stands_still_until_all_have_let_it_go_on():
    clock.stop()
    clock.stop()
    stopped = clock.now()
    time.sleep(0.01)
    clock.go_on()
    assert clock.now() == stopped
    clock.go_on()
    assert clock.now() < stopped + 0.01
    time.sleep(0.01)
    assert clock.now() >= stopped + 0.01


def test_a_search_is_not_charged_for_a_kernel_that_is_compiled_on_the_way():
    @njit()
    def total(values):
        return values.sum()

    began, truly = clock.now(), time.monotonic()
    assert total(np.ones(3)) == 3.0
    spent, waited = clock.now() - began, time.monotonic() - truly
    assert spent < 0.2 * waited
    began, truly = clock.now(), time.monotonic()
    total(np.ones(1_000_000))
    spent, waited = clock.now() - began, time.monotonic() - truly
    assert spent > 0.5 * waited
