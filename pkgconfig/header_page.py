#!/usr/bin/env python3
"""The man pages apsis(3), apsis_measures(3) and apsis_mpi(3), made from the comments and declarations of headers.

    header_page.py FOLDER apsis.h ...     writes FOLDER/apsis.3.gz, with a link to it of the name of each function

In the header a comment `---- Title ----` begins a section, and a comment before declarations tells of them.  In a comment
lines indented by four are an example, or a table, and `@param name` or `Threads.` at the start of a line begins an item.
"""
import pathlib
import re
import sys

import roff

SECTION = re.compile(r"/\* -{4} (.+?) -+ (?:\*/|\*\n(.*?)\*/)", re.S)
DECLARATION = re.compile(r"(?:^/\*\*((?:(?!\*/).)*)\*/\n)?^((?:typedef|enum \{|APSIS_API).+?)(?=\n\n|\n/\*\*|\Z)", re.S | re.M)
FUNCTION = re.compile(r"(APSIS_API [^;]*?\b(apsis_\w+)\([^;]*\);)", re.S)
TYPE = re.compile(r"(?:\} |\(\*|struct \w+ )(apsis_\w+)\)?[;(]")
CONSTANT = re.compile(r"^ +(APSIS_\w+) +=", re.M)
ERROR = re.compile(r"(APSIS_ERROR_\w+) *= \d+, /\*\*< (.*?) \*/")
ITEM = re.compile(r"(?:@param (?P<parameter>\w+)|(?P<topic>[A-Z][a-z]+(?: [a-z]+)?)\.  )\s*")


def marked(text):
    """Functions and constants in bold, arguments and fields of options in italics."""
    text = re.sub(r"`(\w+)`", r"\\fI\1\\fP", text)
    text = re.sub(r"\b(apsis_[a-z_]+|APSIS_[A-Z0-9_]+)\b", r"\\fB\1\\fP", text)
    return re.sub(r"\boptions\\->(\w+)", r"\\fIoptions\\->\1\\fP", text)


def bare(comment):
    """The lines of a comment, without what begins them."""
    return [re.sub(r"^ ?\*? ?", "", line).rstrip() for line in comment.split("\n")]


def code(source):
    """The lines of declarations, as a user writes them; what goes on in a second line stays below what it goes on from."""
    lines, cut = [], 0
    for line in source.split("\n"):
        if not line.startswith(" " * 10):
            written = line.replace("APSIS_API ", "").replace("/**<", "/*")
            cut = len(line) - len(written)
        else:
            written = line[cut:]
        lines.append(written)
    return lines


def chunks(lines):
    """Paragraphs, examples and items, each as its lines."""
    chunk = []
    for line in [*lines, ""]:
        if chunk and (not line or ITEM.match(line)):
            yield chunk
            chunk = []
        if line:
            chunk.append(line)


def tell(page, lines):
    for chunk in chunks(lines):
        item = ITEM.match(chunk[0])
        if item:
            page.item(item["parameter"] or item["topic"], [chunk[0][item.end():], *chunk[1:]])
        elif chunk[0].startswith("    "):
            page.verbatim([line[4:] for line in chunk])
        else:
            page.paragraph(chunk)


def tell_declarations(page, comment, source):
    names = [name for _, name in FUNCTION.findall(source)] or TYPE.findall(source) or CONSTANT.findall(source)
    page.subheading(", ".join(dict.fromkeys(names)))
    page.verbatim(code(source), font="B")
    tell(page, bare(comment))
    if "APSIS_API apsis_status " in source:
        own = sorted(set(re.findall(r"APSIS_ERROR_\w+", comment)))
        page.item("Errors", ["Those of ERRORS" + (", with " + " and ".join(own) + " as told here." if own else ".")])


def version_in(header):
    return ".".join(re.search(rf"APSIS_VERSION_{part} (\d+)", header)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def make(name, header, version):
    page = roff.Page(name, 3, version, "Library Functions Manual", marked)
    _, purpose, *about = bare(re.match(r"/\*(.*?)\*/", header, re.S)[1])
    page.heading("Name")
    page.lines.append(purpose.rstrip(".").replace(": ", r" \- ", 1))
    page.heading("Synopsis")
    page.verbatim([f"#include <{name}.h>", "", *(line for source, _ in FUNCTION.findall(header) for line in code(source))], "B")
    page.paragraph(["Compile and link with:"])
    compiler, package = ("mpicc", name) if name == "apsis_mpi" else ("cc", "apsis")
    page.verbatim([f"{compiler} program.c $(pkg-config --cflags --libs {package})"])
    page.heading("Description")
    tell(page, about)

    sections = list(SECTION.finditer(header))
    ends = [section.start() for section in sections[1:]] + [header.index("#ifdef __cplusplus\n}")]
    for section, end in zip(sections, ends):
        page.heading(section[1])
        tell(page, bare(section[2] or ""))
        for comment, source in DECLARATION.findall(header[section.end():end].rstrip()):
            tell_declarations(page, comment, source)

    page.heading("Errors")
    errors = ERROR.findall(header)
    page.paragraph(["What a call that failed returns; apsis_message says more." if errors else "Those of apsis(3)."])
    for error, text in errors:
        page.item(error, [text])
    page.heading("See also")
    page.lines.append(r"\fBapsis\fP(1)" if errors else r"\fBapsis\fP(3)")
    return page.text()


def main(folder, *paths):
    folder = pathlib.Path(folder)
    for page in folder.glob("*.3.gz"):  # there may be functions no more
        page.unlink()
    headers = {pathlib.Path(path).stem: pathlib.Path(path).read_text(encoding="utf-8") for path in paths}
    for name, header in headers.items():
        roff.write(folder / f"{name}.3.gz", make(name, header, version_in(headers["apsis"])))
        for _, function in FUNCTION.findall(header):
            if function in headers:  # whose page it is
                continue
            (folder / f"{function}.3.gz").symlink_to(f"{name}.3.gz")


if __name__ == "__main__":
    main(*sys.argv[1:])
