"""fill.py README LANGUAGE FILE: prints a file with each @verb@ in it replaced by the call of that verb in a language, which is
in a table of the README: | verb | language | `call` |.
"""

import re
import sys

VERBS = ("distance", "voronoi", "components", "geodesic", "eccentricity")


def calls(readme, language):
    """The calls in a language by their verbs; a line without a verb goes on with that of the line before."""
    verb, found = None, {}
    for line in readme.splitlines():
        row = re.fullmatch(r"\| *(\w*) *\| *(\w+) *\| *`(.+)` *\|", line)
        if row:
            verb = row[1] or verb
            if row[2].lower() == language:
                found[verb] = row[3]
    assert tuple(found) == VERBS, f"the README has {', '.join(found) or 'nothing'} in {language}"
    return found


def main(readme, language, path):
    with open(readme) as file:
        found = calls(file.read(), language)
    with open(path) as file:
        print(re.sub(r"@(\w+)@", lambda place: found[place[1]], file.read()), end="")


main(*sys.argv[1:])
