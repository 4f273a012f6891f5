import os
import signal
import threading
from importlib import import_module

import pytest
import torch

from fairway.errors import InvalidRequest
from fairway.train.processes import DistContext, device_named, interruptions, join


def test_auto_is_a_gpu_where_there_is_one(monkeypatch):
    for there, kind in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=there: there)
        assert device_named("auto").type == kind
        assert device_named("cpu").type == "cpu"
    with pytest.raises(InvalidRequest, match="no GPU on this machine; train with --device cpu"):
        device_named("cuda")
    with pytest.raises(InvalidRequest, match="there is no device 'tpu'"):
        device_named("tpu")


def test_a_process_that_nobody_launched_is_alone():
    world, device = join(torch.device("cpu"))
    assert world == DistContext()
    assert device.type == "cpu"


def test_an_announced_world_is_joined_once(monkeypatch, tmp_path):
    import_module("torch._dynamo")  # which registers handlers of its own
    monkeypatch.setenv("WORLD_SIZE", "2")
    begun, left = [], []
    start = torch.distributed.init_process_group

    def begin(backend, **given):
        begun.append(backend)
        start(backend, **given)

    met = torch.distributed.FileStore(str(tmp_path / "store"), 1), 0, 1
    monkeypatch.setattr("fairway.train.processes.rendezvous", lambda _url: iter([met]))
    monkeypatch.setattr(torch.distributed, "init_process_group", begin)
    monkeypatch.setattr("atexit.register", left.append)
    for _ in range(2):
        assert join(torch.device("cpu")) == (DistContext(0, 1), torch.device("cpu"))
    assert begun == ["gloo"]
    assert torch.distributed.is_initialized()
    (leave,) = left
    leave()
    assert not torch.distributed.is_initialized()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_interrupt_is_remembered_and_the_second_obeyed(number):
    class Stopped(Exception):
        pass

    def stop(*_):
        raise Stopped

    before = signal.signal(number, stop)
    try:
        with interruptions() as asked:
            assert not asked()
            os.kill(os.getpid(), number)
            assert asked()
            with pytest.raises(Stopped):
                os.kill(os.getpid(), number)
        assert signal.getsignal(number) is stop
    finally:
        signal.signal(number, before)


def test_outside_the_main_thread_nothing_is_caught():
    seen = []

    def work():
        with interruptions() as asked:
            seen.append(asked())

    thread = threading.Thread(target=work)
    before = signal.getsignal(signal.SIGINT)
    thread.start()
    thread.join()
    assert seen == [False]
    assert signal.getsignal(signal.SIGINT) is before
