"""A reader of pickles that makes lists, tuples, floats and ints, and can do nothing else.

The standard unpickler runs whatever a file asks it to. This one knows no way to load a name or to call one, unless its
caller hands it a table of stand-ins, and then only those.
"""

import pickletools
import struct
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from fairway.problems.files.text import Unreadable, shortened

StandIns = Mapping[tuple[str, str], Callable[..., object]]
"""What is called in place of a function or class that a pickle names, by its module and name.

What it makes may have a method `build`, which takes the state that a pickle gives it afterwards.
"""

NOTHING: StandIns = MappingProxyType({})

PROTOCOLS = range(2, 6)

LONGEST_INTEGER = 8
"""In bytes; a longer one is no node, time or load."""


LEAST_BYTES = 6
"""Of a pair of numbers, the smallest thing in the authors' files: a pickle cannot hold more lists and tuples of use."""

DEEPEST = 100
"""Lists and tuples that are open at a time."""

OPCODE_NAMES = {ord(opcode.code): opcode.name for opcode in pickletools.opcodes}


def load(content: bytes, stand_ins: StandIns = NOTHING) -> object:
    """What a pickle holds.

    Args:
        content: The whole pickle, of protocol 2 to 5.
        stand_ins: The names it may refer to. Text, bytes, None, True and False are read only where there are any.
    """
    try:
        return _Machine(content, stand_ins).run()
    except (LookupError, TypeError, ValueError, OverflowError, struct.error) as error:
        raise Unreadable("the pickle is damaged or cut short") from error


class _Machine:
    """The stack on which a pickle is put together; each step takes a position in the content and returns the next."""

    def __init__(self, content: bytes, stand_ins: StandIns) -> None:
        self.content = content
        self.stand_ins = stand_ins
        self.callables = tuple(stand_ins.values())
        self.stack: list = []
        self.marks: list[int] = []
        self.memo: dict[int, object] = {}
        self.room = len(content) // LEAST_BYTES + DEEPEST
        """How many more lists and tuples it may make."""

    def run(self) -> object:
        """Go through the content; a bed has ten million opcodes, so the usual ones are handled in the loop."""
        content, stack, marks, memo = self.content, self.stack, self.marks, self.memo
        steps = {**STEPS, **LOADING_STEPS} if self.stand_ins else STEPS
        push, double = stack.append, struct.Struct(">d").unpack_from
        at, most = 0, self.room
        while (code := content[at]) != 0x2E:  # STOP
            if code == 0x47:  # BINFLOAT
                push(double(content, at + 1)[0])
                at += 9
            elif code == 0x94:  # MEMOIZE
                if len(memo) >= most:
                    raise ValueError("more is remembered than there can be")
                memo[len(memo)] = stack[-1]
                at += 1
            elif code == 0x28:  # MARK
                if len(marks) >= DEEPEST:
                    raise ValueError("the lists are nested too deeply")
                marks.append(len(stack))
                at += 1
            elif code == 0x65:  # APPENDS
                start = marks.pop()
                items = stack[start:]
                del stack[start:]
                _as_list(stack[-1]).extend(items)
                at += 1
            elif code == 0x5D:  # EMPTY_LIST
                push([])
                self.make_room()
                at += 1
            elif code == 0x4B:  # BININT1
                push(content[at + 1])
                at += 2
            else:
                at = steps.get(code, _Machine.refuse)(self, at + 1)
        if at != len(content) - 1 or len(stack) != 1:
            raise ValueError("a pickle ends with its only value")
        return stack[0]

    def refuse(self, at: int) -> int:
        name = OPCODE_NAMES[self.content[at - 1]]
        raise Unreadable(f"the pickle uses {name}; only lists, tuples, floats and ints are read")

    def protocol(self, at: int) -> int:
        if self.content[at] not in PROTOCOLS:
            raise Unreadable(f"the pickle has protocol {self.content[at]}; expected 2 to 5")
        return at + 1

    def frame(self, at: int) -> int:
        return at + 8

    def integer(self, at: int, size: int, signed: bool) -> int:
        self.stack.append(int.from_bytes(self.bytes_at(at, size), "little", signed=signed))
        return at + size

    def long(self, at: int) -> int:
        if (size := self.content[at]) > LONGEST_INTEGER:
            raise Unreadable(
                f"the pickle has an integer of {size} bytes; expected at most {LONGEST_INTEGER}"
            )
        return self.integer(at + 1, size, signed=True)

    def make_room(self) -> None:
        self.room -= 1
        if self.room < 0:
            raise Unreadable("the pickle is made of little but empty lists; expected numbers")

    def append(self, at: int) -> int:
        item = self.stack.pop()
        _as_list(self.stack[-1]).append(item)
        return at

    def tuple_from_mark(self, at: int) -> int:
        return self.tuple_of(at, len(self.stack) - self.marks.pop())

    def tuple_of(self, at: int, size: int) -> int:
        start = len(self.stack) - size
        if start < 0:
            raise IndexError("the stack holds too little")
        self.make_room()
        self.stack[start:] = [tuple(self.stack[start:])]
        return at

    def put(self, at: int, size: int) -> int:
        self.memo[self.number_at(at, size)] = self.stack[-1]
        return at + size

    def get(self, at: int, size: int) -> int:
        self.stack.append(self.memo[self.number_at(at, size)])
        return at + size

    def constant(self, at: int, value: bool | None) -> int:
        self.stack.append(value)
        return at

    def text(self, at: int, size: int) -> int:
        after = self.binary(at, size)
        self.stack[-1] = self.stack[-1].decode()
        return after

    def binary(self, at: int, size: int) -> int:
        length = self.number_at(at, size)
        self.stack.append(self.bytes_at(at + size, length))
        return at + size + length

    def name(self, at: int) -> int:
        end = self.content.index(b"\n", self.content.index(b"\n", at) + 1)
        module, name = self.content[at:end].decode().split("\n")
        self.refer(module, name)
        return end + 1

    def name_from_stack(self, at: int) -> int:
        name, module = self.stack.pop(), self.stack.pop()
        self.refer(str(module), str(name))
        return at

    def reduce(self, at: int) -> int:
        arguments, name = self.stack.pop(), self.stack.pop()
        if not isinstance(arguments, tuple) or not any(name is one for one in self.callables):
            raise TypeError("only a stand-in is called, with a tuple")
        self.stack.append(name(*arguments))
        return at

    def build(self, at: int) -> int:
        state = self.stack.pop()
        if (build := getattr(self.stack[-1], "build", None)) is None:
            raise TypeError("only the product of a stand-in takes a state")
        build(state)
        return at

    def refer(self, module: str, name: str) -> None:
        if (call := self.stand_ins.get((module, name))) is None:
            raise Unreadable(
                f"the pickle asks to load {shortened(f'{module}.{name}', 60)}; "
                "only lists, tuples, floats and ints are read"
            )
        self.stack.append(call)

    def number_at(self, at: int, size: int) -> int:
        return int.from_bytes(self.bytes_at(at, size), "little")

    def bytes_at(self, at: int, size: int) -> bytes:
        if at + size > len(self.content):
            raise IndexError("the content is cut short")
        return self.content[at : at + size]


def _as_list(value: object) -> list:
    if type(value) is not list:
        raise TypeError("only a list takes more items")
    return value


Step = Callable[[_Machine, int], int]

STEPS: Mapping[int, Step] = {
    0x80: _Machine.protocol,
    0x95: _Machine.frame,
    0x61: _Machine.append,  # APPEND
    0x29: partial(_Machine.tuple_of, size=0),  # EMPTY_TUPLE
    0x85: partial(_Machine.tuple_of, size=1),  # TUPLE1
    0x86: partial(_Machine.tuple_of, size=2),  # TUPLE2
    0x87: partial(_Machine.tuple_of, size=3),  # TUPLE3
    0x74: _Machine.tuple_from_mark,  # TUPLE
    0x4A: partial(_Machine.integer, size=4, signed=True),  # BININT
    0x4D: partial(_Machine.integer, size=2, signed=False),  # BININT2
    0x8A: _Machine.long,  # LONG1
    0x71: partial(_Machine.put, size=1),  # BINPUT
    0x72: partial(_Machine.put, size=4),  # LONG_BINPUT
    0x68: partial(_Machine.get, size=1),  # BINGET
    0x6A: partial(_Machine.get, size=4),  # LONG_BINGET
    0x63: _Machine.name,  # GLOBAL, here to be refused by name where there are no stand-ins
}

LOADING_STEPS: Mapping[int, Step] = {
    0x93: _Machine.name_from_stack,  # STACK_GLOBAL
    0x52: _Machine.reduce,  # REDUCE
    0x62: _Machine.build,  # BUILD
    0x4E: partial(_Machine.constant, value=None),  # NONE
    0x88: partial(_Machine.constant, value=True),  # NEWTRUE
    0x89: partial(_Machine.constant, value=False),  # NEWFALSE
    0x8C: partial(_Machine.text, size=1),  # SHORT_BINUNICODE
    0x58: partial(_Machine.text, size=4),  # BINUNICODE
    0x43: partial(_Machine.binary, size=1),  # SHORT_BINBYTES
    0x42: partial(_Machine.binary, size=4),  # BINBYTES
    0x96: partial(_Machine.binary, size=8),  # BYTEARRAY8
}
