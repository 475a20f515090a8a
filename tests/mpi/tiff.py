"""Uncompressed TIFF: tiff.py make FILE, a volume of 13 planes; tiff.py same FILE OTHER, whether two have the same pixels."""
import struct
import sys

SIZES = {3: "H", 4: "I", 16: "Q"}


def pages(path):
    """Width, height, bits, format and pixels of each page of a BigTIFF."""
    data = open(path, "rb").read()
    assert data[:4] == b"II+\0", path
    at, = struct.unpack_from("<Q", data, 8)
    while at:
        count, = struct.unpack_from("<Q", data, at)
        tags = {}
        for i in range(count):
            tag, kind, number = struct.unpack_from("<HHQ", data, at + 8 + 20 * i)
            if kind not in SIZES:
                continue
            layout = f"<{number}{SIZES[kind]}"
            place = at + 8 + 20 * i + 12
            if struct.calcsize(layout) > 8:
                place, = struct.unpack_from("<Q", data, place)
            tags[tag] = struct.unpack_from(layout, data, place)
        assert tags[259] == (1,), "compressed"
        yield *(tags[tag] for tag in (256, 257, 258, 339)), b"".join(data[o:o + n] for o, n in zip(tags[273], tags[279]))
        at, = struct.unpack_from("<Q", data, at + 8 + 20 * count)


def make(path, width=37, height=29, depth=13):
    """8-bit pages, each in one strip."""
    data, number = bytearray(b"II*\0\0\0\0\0"), 7
    link = 4
    for _ in range(depth):
        first = len(data)
        for _ in range(width * height):
            number = (number * 1103515245 + 12345) % 2**31
            data.append(number // 65536 % 20 == 0)
        data += bytes(len(data) % 2)
        struct.pack_into("<I", data, link, len(data))
        fields = [(256, width), (257, height), (258, 8), (259, 1), (262, 1), (273, first), (277, 1), (278, height),
                  (279, width * height)]
        data += struct.pack("<H", len(fields)) + b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in fields)
        link = len(data)
        data += bytes(4)
    open(path, "wb").write(data)


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    mine, other = (list(pages(path)) for path in sys.argv[2:])
    assert len(mine) == len(other) > 0, (len(mine), len(other))
    for number, (page, want) in enumerate(zip(mine, other)):
        assert page[:4] == want[:4] and page[4] == want[4], f"page {number} differs: {page[:4]}, {want[:4]}"
