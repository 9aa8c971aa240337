#!/usr/bin/env python3
"""Whether two runs left the same behind, bit for bit, but for what a machine may change.

Usage: compare_runs.py RUN RUN

Compares the newest checkpoint's learner, the stored games, the networks' files, metrics.jsonl and
the values in the event files; leaves out wall times, the tags of system/ and how often a run was
gone on with. Needs the Python package tensorboard (scripts/python-env.sh).
"""

import json
import pathlib
import sys

from check_events import load


def is_machine_dependent(tag):
    return tag.startswith("system/") or tag == "events/sessions"


def files(folder):
    """Contents by path below a folder; what is hidden is unfinished."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    relative = {path.relative_to(folder): path for path in found}
    hidden = {name for name in relative if any(part.startswith(".") for part in name.parts)}
    return {str(name): relative[name].read_bytes() for name in relative.keys() - hidden}


def learner(run):
    newest = max(path for path in (run / "state").iterdir() if not path.name.startswith("."))
    return {newest.name: (newest / "learner.safetensors").read_bytes()}


def lines(run):
    """Lines of metrics.jsonl by step, without what a machine may change."""
    found = []
    for text in (run / "metrics.jsonl").read_text().splitlines():
        line = json.loads(text)
        line.pop("wall_time")
        line = {tag: value for tag, value in line.items() if not is_machine_dependent(tag)}
        if line.keys() != {"step"}:
            found.append(line)
    return {str(number): line for number, line in enumerate(found)}


# What an event of any kind holds beside its time and step.
FIELDS = ("value", "histogram_value", "encoded_image_string", "tensor_proto")


def content(event):
    return repr([getattr(event, field) for field in FIELDS if hasattr(event, field)])


def events(run):
    """Values of the event files by kind and tag, without what a machine may change."""
    return {
        f"{kind} {tag}": [(step, content(event)) for step, event in series]
        for (kind, tag), series in load(run / "tensorboard", purge=False).items()
        if not is_machine_dependent(tag)
    }


def differences(one, other):
    """What is not the same in two runs."""
    parts = {
        "learner": learner,
        "games": lambda run: files(run / "games"),
        "networks": lambda run: files(run / "networks"),
        "metrics.jsonl": lines,
        "events": events,
    }
    for name, part in parts.items():
        left, right = part(one), part(other)
        for key in sorted(left.keys() | right.keys()):
            if left.get(key) != right.get(key):
                yield f"{name}: {key}"


def main():
    one, other = (pathlib.Path(argument) for argument in sys.argv[1:])
    found = list(differences(one, other))
    for difference in found:
        print(f"{other} differs from {one}: {difference}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
