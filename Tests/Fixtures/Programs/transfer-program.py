#!/usr/bin/env python3
"""A program in the place of bgtask-transfer that violates the protocol, for tests of the host.

The path of the address in the first order says what it does: /version, /numbers, /silence, /failed or /exit.
"""
import os
import socket
import struct
import sys

host = socket.socket(fileno=3)
sequence = 0


def send(kind, *fields):
    """Sends a message; a field is a tag and a number or a text."""
    global sequence
    body = b""
    for tag, value in fields:
        data = struct.pack("<Q", value) if isinstance(value, int) else value.encode()
        body += struct.pack("<BH", tag, len(data)) + data
    host.sendall(struct.pack("<IBBH", 4 + len(body), kind, 0, sequence) + body)
    sequence += 1


def until_the_end():
    """Waits until the host is gone: the tests' output would otherwise stay open, and 'swift test' wait for it."""
    while host.recv(65536):
        pass


def hello(version=3):
    send(0x68, (1, version))


order = host.recv(65536)
if b"/version" in order:
    hello(9)
    until_the_end()
elif b"/numbers" in order:
    hello()
    most = 2**64 - 1
    send(0x69, (1, 1), (2, 200), (3, most))
    send(0x6A, (1, 1), (2, most), (3, most), (4, most), (5, most), (6, most))
    send(0x6B, (1, 1), (2, 2), (3, most), (4, most), (5, most), (7, most), (8, "late"), (9, most), (10, most))
    until_the_end()
elif b"/silence" in order:
    hello()
    until_the_end()
elif b"/failed" in order:
    send(0x6D, (1, "the lock of the directory: No locks available"))
    sys.exit(71)
elif b"/exit" in order:
    os._exit(127)
