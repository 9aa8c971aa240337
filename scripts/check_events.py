#!/usr/bin/env python3
"""Loads a run's event files with TensorBoard's own reader and checks them.

Usage: check_events.py RUN_DIR

Prints every tag with its number of values and the last one. Fails if a tag has two values at
one step, if steps go back, if the reader drops values, or if the scalars are not those of
metrics.jsonl. Needs the Python package tensorboard (scripts/python-env.sh).
"""

import json
import math
import pathlib
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

# Tags of each of these kinds are listed by the reader; 0 means: keep all values.
KINDS = {
    "scalars": EventAccumulator.Scalars,
    "histograms": EventAccumulator.Histograms,
    "images": EventAccumulator.Images,
    "tensors": EventAccumulator.Tensors,
}
KEEP_ALL = {kind: 0 for kind in ("scalars", "histograms", "images", "tensors", "audio")}


def load(folder, purge):
    """All values by (kind, tag), as lists of (step, event)."""
    reader = EventAccumulator(str(folder), size_guidance=KEEP_ALL, purge_orphaned_data=purge)
    reader.Reload()
    return {
        (kind, tag): [(event.step, event) for event in values(reader, tag)]
        for kind, values in KINDS.items()
        for tag in reader.Tags()[kind]
    }


def check_steps(series):
    """Complaints about steps that come twice or go back."""
    for (_, tag), events in series.items():
        for (before, _), (after, _) in zip(events, events[1:]):
            if after == before:
                yield f"{tag} has two values at step {after}"
            elif after < before:
                yield f"{tag} goes back from step {before} to {after}"


def check_purged(everything, shown):
    """Complaints about values that the reader hides."""
    for key, events in everything.items():
        hidden = len(events) - len(shown.get(key, []))
        if hidden:
            yield f"{key[1]}: {hidden} of {len(events)} values are dropped by the reader"


def read_lines(path):
    """The scalars of metrics.jsonl by (tag, step), and complaints about the file."""
    scalars, complaints = {}, []
    for line in path.read_text().splitlines():
        report = json.loads(line)
        step = report.pop("step")
        report.pop("wall_time")
        for tag, value in report.items():
            if (tag, step) in scalars:
                complaints.append(f"{path.name}: {tag} has two values at step {step}")
            scalars[tag, step] = math.nan if value is None else value
    return scalars, complaints


def check_lines(series, scalars):
    """Complaints where metrics.jsonl and the event files differ."""
    events = {
        (tag, step): event.value
        for (kind, tag), values in series.items()
        if kind == "scalars"
        for step, event in values
    }
    for tag, step in sorted(scalars.keys() ^ events.keys()):
        place = "metrics.jsonl" if (tag, step) in scalars else "the event files"
        yield f"{tag} at step {step} is only in {place}"
    for key in scalars.keys() & events.keys():
        line, event = scalars[key], events[key]
        both_odd = not math.isfinite(line) and not math.isfinite(event)
        if not both_odd and not math.isclose(line, event, rel_tol=1e-6, abs_tol=1e-30):
            yield f"{key[0]} at step {key[1]} is {line} in metrics.jsonl, {event} in the events"


def print_tags(series):
    """One line per tag: its kind, name, number of values, last step and last scalar."""
    for (kind, tag), events in sorted(series.items()):
        step, last = events[-1]
        value = f"{last.value:.6g}" if kind == "scalars" else ""
        print(f"{kind:10} {tag:40} {len(events):6} values, last at step {step}: {value}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    run = pathlib.Path(sys.argv[1])
    folder, lines = run / "tensorboard", run / "metrics.jsonl"
    for path in (folder, lines):
        if not path.exists():
            sys.exit(f"{path} does not exist")
    everything, shown = load(folder, purge=False), load(folder, purge=True)
    scalars, complaints = read_lines(lines)
    complaints += check_steps(everything)
    complaints += check_purged(everything, shown)
    complaints += check_lines(shown, scalars)
    print_tags(shown)
    if not shown:
        complaints.append(f"{folder} holds no values")
    if complaints:
        sys.exit("\n".join(complaints))
    print(f"{len(shown)} tags, {sum(map(len, shown.values()))} values: all good")


if __name__ == "__main__":
    main()
