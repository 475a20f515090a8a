"""What `apsis --help` and `apsis help VERB` say, taken apart: the one source of the man page and of the completions."""
import re
import subprocess
from dataclasses import dataclass, field

ENTRY = re.compile(r"^  (\S.*?)(?:  +(\S.*))?$")


@dataclass
class Entry:
    """An argument or an option, and what is said of it."""
    left: str
    help: str

    @property
    def names(self):
        """-q, --quiet; none if it is an argument."""
        return [name.rstrip(",") for name in self.left.split() if name.startswith("-")]

    @property
    def value(self):
        """What an option's value is called; "" if it takes none."""
        return "" if self.left.endswith(tuple(self.names)) else self.left.split()[-1]

    @property
    def choices(self):
        """The words that the value may be."""
        return [word for word in self.value.split("|") if re.fullmatch(r"[a-z0-9-]+", word)] if "|" in self.value else []

    @property
    def is_file(self):
        return "." in (self.value or self.left)

    @property
    def summary(self):
        """Its first sentence, or what comes before the first colon."""
        return re.split(r"[.:;] |[.]$", self.help)[0]


@dataclass
class Help:
    usage: str
    about: list = field(default_factory=list)     # paragraphs
    entries: list = field(default_factory=list)   # arguments and options; of the command itself verbs and options
    examples: list = field(default_factory=list)  # lines
    exit_codes: list = field(default_factory=list)

    @property
    def options(self):
        return [entry for entry in self.entries if entry.names]

    @property
    def arguments(self):
        return [entry for entry in self.entries if not entry.names]


def taken_apart(text):
    usage, *lines = text.rstrip("\n").split("\n")
    help, place = Help(usage.removeprefix("usage: ")), "about"
    for line in lines:
        if line == "Examples:":
            place = "examples"
        elif line == "Exit codes:":
            place = "exit_codes"
        elif place in ("examples", "exit_codes"):
            getattr(help, place).append(line.removeprefix("  "))
        elif entry := ENTRY.match(line):
            help.entries.append(Entry(entry[1], entry[2] or ""))
        elif line.startswith("   "):
            help.entries[-1].help = f"{help.entries[-1].help} {line.strip()}".strip()
        elif line:
            help.about.append(line)
    return help


class Command:
    """The command: its own help, that of each verb, and its version."""

    def __init__(self, path):
        def told(*words):
            return subprocess.run([path, *words], check=True, capture_output=True, text=True).stdout
        self.version = told("--version").split()[1]
        self.help = taken_apart(told("--help"))
        self.verbs = {verb.left: taken_apart(told("help", verb.left)) for verb in self.help.arguments if verb.left != "help"}

    def summary(self, verb):
        return next(entry.help for entry in self.help.arguments if entry.left == verb)
