#!/usr/bin/env python3
"""The man page apsis(1), made from what the command says of itself.

    command_page.py APSIS FOLDER     writes FOLDER/apsis.1.gz
"""
import pathlib
import re
import sys

import roff
from command_help import Command


def marked(text):
    """Options in bold."""
    return re.sub(r"(?<![\w\\-])(\\-\\-[a-z](?:[a-z0-9]|\\-(?=[a-z]))*)", r"\\fB\1\\fP", text)


def tell_verb(page, help):
    page.subheading(help.usage)
    page.paragraph(help.about)
    for entry in help.entries:
        page.item(entry.left, [entry.help])
    if help.examples:
        page.paragraph(["Examples:"])
        page.verbatim([line for line in help.examples if line])


def make(command):
    page = roff.Page("apsis", 1, command.version, "User Commands", marked)
    page.heading("Name")
    page.lines.append(rf"apsis \- {command.help.about[0].rstrip('.').replace('Exact', 'exact')}")
    page.heading("Synopsis")
    page.verbatim([help.usage for help in command.verbs.values()] + ["apsis help VERB", "apsis --version"], "B")
    page.heading("Description")
    page.paragraph([command.help.about[0]])
    for entry in command.help.entries:
        page.item(entry.left, [entry.help])
    page.heading("Verbs")
    for help in command.verbs.values():
        tell_verb(page, help)
    page.heading("Exit status")
    page.verbatim(command.help.exit_codes)
    page.heading("See also")
    page.lines.append(r"\fBapsis\fP(3)")
    return page.text()


if __name__ == "__main__":
    roff.write(pathlib.Path(sys.argv[2]) / "apsis.1.gz", make(Command(sys.argv[1])))
