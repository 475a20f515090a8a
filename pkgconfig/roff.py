"""Man pages: text as man(7) takes it."""
import datetime
import gzip
import os
import re


def plain(text):
    """Text that means nothing but itself."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq")
    return re.sub(r"^\.", r"\\&.", text, flags=re.M)


def date():
    """Of the page: today, or the day that a build is to be repeated for."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    day = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc) if seconds else datetime.date.today()
    return day.strftime("%Y-%m-%d")


def write(path, text):
    """Compressed as distributions want it: the same bytes whenever it is made."""
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


class Page:
    """A page that grows line by line; `marked` makes a line of plain text one with names in bold and italics."""

    def __init__(self, name, section, version, manual, marked=lambda text: text):
        self.lines = [f'.TH {name.upper()} {section} {date()} "apsis {version}" "{manual}"', ".nh", ".ad l"]
        self.marked = lambda text: marked(plain(text))

    def heading(self, title):
        self.lines.append(f".SH {plain(title.upper())}")

    def subheading(self, title):
        self.lines.append(f".SS {plain(title)}")

    def paragraph(self, lines):
        self._break()
        self.lines += [self.marked(line.strip()) for line in lines]

    def item(self, tag, lines):
        tag = plain(tag).replace("|", r"|\:")  # where a long one may be broken
        self.lines += [".TP", rf"\fB{tag}\fP", *(self.marked(line.strip()) for line in lines)]

    def verbatim(self, lines, font="R"):
        """Lines as they are, a little to the right."""
        self._break()
        self.lines += [".RS 4", ".nf", *(rf"\f{font}{plain(line)}\fP" if line else r"\&" for line in lines), ".fi", ".RE"]

    def text(self):
        return "\n".join(self.lines) + "\n"

    def _break(self):
        if not self.lines[-1].startswith((".SH", ".SS")):
            self.lines.append(".PP")
