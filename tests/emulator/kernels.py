#!/usr/bin/env python3
"""kernels.py LIBRARY EMULATED: what the CUDA compiler made of each kernel, for the emulated device (device.cpp).

The shared memory that a kernel declares may be that of functions that it calls, so the C++ does not tell it; the PTX in
LIBRARY does, built with --no-compress.  A line a kernel: where it is in the library EMULATED, the bytes of shared memory
that it declares, the threads of a block that its registers allow, and its name.
"""
import re
import subprocess
import sys

WITHOUT_BOUND = 256  # threads that any kernel may have: 255 registers each are fewer than the 65536 of every device
FUNCTION = re.compile(r"^(?:\.\w+ )*\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)", re.M)
SHARED = re.compile(r"^\s*\.shared \.align (\d+) \.b8 ([\w$]+)\[(\d+)\];", re.M)


def modules(library):
    """The PTX of every file."""
    data = open(library, "rb").read()
    for start in re.finditer(rb"\.version \d", data):
        yield data[start.start() : data.index(b"\0", start.start())].decode()


def kernels(ptx):
    """Name, declared bytes and threads of each kernel of a module."""
    variables = {name: -(-int(size) // int(align)) * int(align) for align, name, size in SHARED.findall(ptx)}
    ptx = SHARED.sub("", ptx)  # a declaration may stand behind a function that does not use it
    starts = list(FUNCTION.finditer(ptx))
    bodies = {}
    for match, following in zip(starts, starts[1:] + [None]):
        body = ptx[match.start() : following.start() if following else len(ptx)]
        kind, names = bodies.get(match[2], (match[1], ""))
        bodies[match[2]] = kind, names + body
    words = {name: set(re.findall(r"[\w$]+", body)) for name, (_, body) in bodies.items()}
    for name, (kind, body) in bodies.items():
        if kind != "entry":
            continue
        reached, waiting = set(), {name}
        while waiting:
            function = waiting.pop()
            reached.add(function)
            waiting |= (words[function] & bodies.keys()) - reached
        used = set().union(*(words[function] for function in reached))
        bound = re.search(r"\.maxntid (\d+), (\d+), (\d+)", body)
        threads = int(bound[1]) * int(bound[2]) * int(bound[3]) if bound else WITHOUT_BOUND
        yield name, sum(size for variable, size in variables.items() if variable in used), threads


def demangled(names):
    return subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout.splitlines()


def main(library, emulated):
    found = [kernel for ptx in modules(library) for kernel in kernels(ptx)]
    if not found:
        sys.exit(f"kernels.py: {library} has no PTX that is not compressed")
    facts = {}
    for name, (_, declared, threads) in zip(demangled(name for name, _, _ in found), found):
        before = facts.get(name, (0, threads))
        facts[name] = max(before[0], declared), min(before[1], threads)
    symbols = subprocess.run(["nm", "-C", emulated], capture_output=True, text=True, check=True).stdout
    for line in symbols.splitlines():
        place, _, name = line[:16], line[17:18], line[19:]
        if name in facts:
            print(place, *facts[name], name)


main(*sys.argv[1:])
