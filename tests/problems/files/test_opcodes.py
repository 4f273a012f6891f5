"""The reader of pickles: it agrees with the standard one on plain values, and refuses all the rest."""

import pickle
import tracemalloc

import pytest

from fairway.problems.files import opcodes
from fairway.problems.files.text import Unreadable

PROTOCOLS = range(2, 6)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "value",
    [
        [],
        (),
        [0, 255, 256, 65_535, 65_536, -1, 2**31 - 1, -(2**31), 2**40, -(2**40), 2**63 - 1],
        [0.0, -0.0, 1e308, 5e-324, float("inf")],
        [(1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [[[]]]],
        list(range(2_500)),
        [[float(i)] for i in range(300)] * 2,
    ],
)
def test_the_reader_agrees_with_the_standard_one(protocol, value):
    assert opcodes.load(pickle.dumps(value, protocol)) == value


def test_memoised_lists_are_the_same_list():
    shared = [1.0]
    found = opcodes.load(pickle.dumps([shared, shared], 4))
    assert found[0] is found[1]


@pytest.mark.parametrize(
    "code", [b"R", b"b", b"i", b"o", b"\x81", b"\x82", b"\x92", b"\x93", b"P0\n", b"Q"]
)
def test_every_opcode_that_could_run_something_is_refused(code):
    with pytest.raises(Unreadable, match="only lists, tuples, floats and ints"):
        opcodes.load(b"\x80\x04]" + code + b".")


@pytest.mark.parametrize(
    "content", [b"", b"\x80", b"\x80\x04", b"\x80\x04]", b"\x80\x04.", b"\x80\x04e."]
)
def test_a_pickle_cut_short_is_damaged(content):
    with pytest.raises(Unreadable, match="damaged or cut short"):
        opcodes.load(content)


@pytest.mark.parametrize(
    "content",
    [
        b"\x80\x04h\x05.",
        b"\x80\x04K\x01K\x02a.",
        b"\x80\x04(K\x02e.",
        b"\x80\x04]].",
        b"\x80\x04].]",
        b"\x80\x04\xff.",
        b"\x80\x04\x86.",
        b"\x80\x04G\x00.",
        b"\x80\x04\x94.",
    ],
)
def test_opcodes_that_make_no_sense_are_damage(content):
    with pytest.raises(Unreadable, match="damaged or cut short"):
        opcodes.load(content)


def test_an_integer_of_hundreds_of_bytes_is_refused():
    with pytest.raises(Unreadable, match="integer of 125 bytes"):
        opcodes.load(pickle.dumps([10**300], 4))


@pytest.mark.parametrize("protocol", [0, 1, 6, 255])
def test_another_protocol_is_refused(protocol):
    with pytest.raises(Unreadable, match=f"protocol {protocol}; expected 2 to 5"):
        opcodes.load(bytes([0x80, protocol]) + b"].")


@pytest.mark.parametrize(
    "body", [b"]" * 40_000, b"]" + b"\x94" * 40_000, b"(" * 40_000, b")" + b"\x85" * 40_000]
)
def test_a_pickle_does_not_grow_far_beyond_its_size(body):
    tracemalloc.start()
    try:
        with pytest.raises(Unreadable):
            opcodes.load(b"\x80\x04" + body + b".")
        assert tracemalloc.get_traced_memory()[1] < 25 * len(body)
    finally:
        tracemalloc.stop()
