"""Names each test that failed, with the end of what it printed: failures.py FILE ..., JUnit's files.

A log of all tests is long, and where it is cut off what matters must stand at its end.
"""
import sys
import xml.etree.ElementTree

LINES = 25  # of each test

for path in sys.argv[1:]:
    for test in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        told = [kind for kind in test if kind.tag in ("failure", "error")]
        if told:
            text = "\n".join(part.text or "" for part in [*told, *test.iter("system-out")])
            print(f"failed: {test.get('name')} ({path})")
            print("\n".join("    " + line for line in text.strip().splitlines()[-LINES:]))
