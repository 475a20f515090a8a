#!/usr/bin/env python3
"""rooms.py README.md ROOT: every #include between the rooms of cuda/ and src/ is one that the table of the page allows.

A row of the table is `room`, what it holds, and the rooms that it may include from; a room may always include from itself.
A room that the table does not name, an edge that it does not allow, and an edge that it allows but that is not there are
told, and fail.
"""
import os
import re
import sys


def table(page):
    rooms = {}
    for line in open(page):
        row = re.match(r"\| `([a-z_/.]+)` \|.*\| ([^|]*)\|$", line)
        if row:
            rooms[row[1]] = set(re.findall(r"`([^`]+)`", row[2]))
    return rooms


def room_of(path, rooms):
    """The folder of a file; a few files are rooms of their own."""
    room = path if path in rooms else os.path.dirname(path)
    return room if room in rooms else None


def includes(root):
    for top in ("cuda", "src"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), root)
                if not name.endswith((".h", ".cuh", ".cu", ".cpp")):
                    continue
                for number, line in enumerate(open(os.path.join(root, path)), 1):
                    include = re.match(r'#include "([^"]+)"', line)
                    if not include:
                        continue
                    places = [include[1], os.path.join("src", include[1]), os.path.join(folder, include[1])]
                    found = [place for place in places if os.path.exists(os.path.join(root, place))]
                    if found:
                        yield f"{path}:{number}", path, os.path.relpath(os.path.join(root, found[0]), root)


def main(page, root):
    rooms, used, wrong = table(page), set(), []
    for place, path, included in includes(root):
        here, there = room_of(path, rooms), room_of(included, rooms)
        if not here or not there:
            wrong.append(f"{place}: {page} has no room for {path if not here else included}")
        elif here != there:
            used.add((here, there))
            if there not in rooms[here]:
                wrong.append(f"{place}: {here} includes {included}, which {page} does not allow")
    for room, allowed in rooms.items():
        wrong += [f"{page}: {room} may include from {other}, and does not" for other in allowed if (room, other) not in used]
    print("\n".join(wrong) if wrong else f"{len(rooms)} rooms, {len(used)} edges between them")
    return bool(wrong) or not used


sys.exit(main(*sys.argv[1:]))
