"""Merges what test runs have written, and fails, naming it, if there is a case that no run has executed.

    outcomes.py [--tests FOLDER] FILE ...

A case is a function of a test program in one place: on the CPU, or on a device with images on the host or on the device.
FILE.txt has lines of apsis_test.c: program|case|where|outcome.  FILE.xml is CTest's, and counts for the tests that write no
such lines.  Which cases there are is read from the sources too, so that a program that is never built or run is missed.

What needs a GPU is left to one, aloud, until a file of a GPU is among them; then it must have been executed, too, unless it
needs two of them.
"""
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree

PLACES = {"ON_CPU": {"cpu"}, "ON_DEVICE_HOST": {"host images"}, "ON_DEVICE": {"device images"}}
PLACES["WITH_HOST_IMAGES"] = PLACES["ON_CPU"] | PLACES["ON_DEVICE_HOST"]
PLACES["WITH_DEVICE"] = PLACES["ON_DEVICE_HOST"] | PLACES["ON_DEVICE"]
PLACES["ON_TWO_GPUS"] = PLACES["ON_DEVICE"]
PLACES["EVERYWHERE"] = PLACES["ON_CPU"] | PLACES["WITH_DEVICE"]
WANTED = ["cpu", "fake", "emulated", "asan", "tsan", "windows"]  # a run without any of these is not the whole
MOST = 50  # lines of one kind


def cases_of(folder, of_two=False):
    """The cases that the sources list: TEST(name, places); or those of them that need two GPUs."""
    for source in pathlib.Path(folder).rglob("*.c*"):
        for name, places in re.findall(r"\bTEST\((\w+),\s*([\w\s|]+)\)", source.read_text()):
            if of_two and "ON_TWO_GPUS" not in places:
                continue
            for place in set().union(*(PLACES[word.strip()] for word in places.split("|"))):
                yield source.stem, name, place


def outcomes_of(path, programs):
    """(program, case, place), where, outcome of each line.  Programs that write lines are left out of what CTest tells."""
    if path.suffix == ".xml":
        for test in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
            name, outcome = test.get("name"), {"run": "passed", "fail": "failed"}.get(test.get("status"), "skipped")
            if "test_" + name.rpartition(".")[0] not in programs:
                yield ("ctest", name, "cpu"), "gpu" if name.endswith(".gpu") else path.stem, outcome
        return
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("|")
        if len(fields) != 4 or fields[3] not in ("passed", "failed", "skipped"):
            sys.exit(f"{path}:{number}: '{line}' is not program|case|where|passed, failed or skipped")
        program, case, where, outcome = fields
        place = next((words for words in ("host images", "device images") if words in where), "cpu")
        yield (program, case, place), where, outcome


def main(arguments):
    folder = pathlib.Path(__file__).parent
    if arguments[:1] == ["--tests"]:
        folder, arguments = arguments[1], arguments[2:]
    if not arguments:
        sys.exit(__doc__)
    seen = {case: [] for case in cases_of(folder)}
    programs = {program for program, _, _ in seen}
    runs = collections.Counter()  # cases executed in each kind of run
    failed = []
    for name in arguments:
        for case, where, outcome in outcomes_of(pathlib.Path(name), programs):
            seen.setdefault(case, []).append((where, outcome))
            if outcome == "failed":
                failed.append(f"{' '.join(case)} ({where})")
            if outcome != "skipped" and case[0] != "ctest":
                runs.update({re.sub(r" \d+$", "", word) for word in where.split(", ")} & {"gpu", *WANTED})

    silent = {case: lines for case, lines in seen.items() if all(outcome == "skipped" for _, outcome in lines)}
    for_gpu = [case for case, lines in silent.items()
               if not runs["gpu"] and lines and all(where.startswith("gpu") for where, _ in lines)]
    for_two = [case for case in cases_of(folder, of_two=True) if runs["gpu"] and silent.get(case)]
    never = sorted(silent.keys() - set(for_gpu) - set(for_two))
    on_no_gpu = [case for case, lines in seen.items() if runs["gpu"] and case[2] != "cpu" and case not in for_two
                 and not any(where.startswith("gpu") and outcome != "skipped" for where, outcome in lines)]
    lacking = [word for word in WANTED if not runs[word]]

    print(f"{len(seen)} cases, {len(seen) - len(silent)} of them executed; " +
          ", ".join(f"{word} {count}" for word, count in runs.items()))
    for what, cases in [("left to a GPU, of which there is no file", sorted(for_gpu)),
                        ("left to two GPUs", for_two), ("not seen on a GPU", sorted(on_no_gpu)),
                        ("failed", failed), ("EXECUTED BY NO RUN", never), ("no run of this kind", lacking)]:
        for case in cases[:MOST]:
            print(f"{what}: {case if isinstance(case, str) else ' '.join(case)}")
        if len(cases) > MOST:
            print(f"{what}: and {len(cases) - MOST} more")
    return 1 if failed or never or lacking else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
