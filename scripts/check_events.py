#!/usr/bin/env python3
"""Loads a run's event files with TensorBoard's own reader and checks them.

Usage: check_events.py RUN_DIR

Prints every tag with its number of values and the last one. Fails if a tag has two values at
one step, if steps go back, if the reader drops values, if the scalars are not those of
metrics.jsonl, or if a group, a picture, a text, the settings or the layout is missing or cannot
be read. Then asks a TensorBoard for all of it, as a browser would. Needs the Python package
tensorboard (scripts/python-env.sh).
"""

import json
import math
import pathlib
import re
import struct
import sys
import time
import urllib.parse
import urllib.request

from tensorboard import program
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2

# What a run that has measured a network reports.
GROUPS = "loss loss_holdout policy value optim selfplay replay ratio arena system events".split()
PICTURES = {"policy/start", "policy/sample_game", "value/sample_game"}
TEXTS = {"experiment", "selfplay/sample_game"}
HISTOGRAMS = {"selfplay/lengths", "value/searched", "policy/entropies"}
SECTIONS = [
    "Am I learning?",
    "Is self-play healthy?",
    "Is training starved?",
    "Is the machine healthy?",
]
LAYOUT = "custom_scalars__config__"
FINAL_ELO = "arena/elo"
SETTINGS_END = "_hparams_/session_end_info"
# Seconds that a TensorBoard may take to load a small run.
PATIENCE = 60

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


def tags_of(series, kind):
    """The tags of a kind."""
    return {tag for found, tag in series if found == kind}


def check_groups(series):
    """Complaints about what a dashboard would lack."""
    scalars = tags_of(series, "scalars")
    for group in GROUPS:
        if not any(tag.startswith(f"{group}/") for tag in scalars):
            yield f"no scalar is in {group}/"
    wanted = [("images", PICTURES), ("tensors", TEXTS), ("histograms", HISTOGRAMS)]
    for kind, tags in wanted:
        for tag in sorted(tags - tags_of(series, kind)):
            yield f"{tag} is missing"
    if not any(tag.startswith("weights/") for tag in tags_of(series, "histograms")):
        yield "no histogram is in weights/"


def check_pictures(series):
    """Complaints about pictures that are no PNG of the size they should have."""
    for (kind, tag), events in series.items():
        for step, event in events if kind == "images" else []:
            data = event.encoded_image_string
            width, height = struct.unpack(">II", data[16:24])
            if data[:8] != b"\x89PNG\r\n\x1a\n" or (width, height) != (event.width, event.height):
                yield f"{tag} at step {step} is no PNG of {event.width}x{event.height}"


def check_texts(series):
    """Complaints about texts that are empty."""
    for tag in TEXTS & tags_of(series, "tensors"):
        for step, event in series["tensors", tag]:
            if not event.tensor_proto.string_val[0].decode().strip():
                yield f"{tag} at step {step} is empty"


def check_layout(series):
    """Complaints about the layout of custom scalars."""
    if ("tensors", LAYOUT) not in series:
        yield "the layout is missing"
        return
    [(_, event)] = series["tensors", LAYOUT]
    layout = layout_pb2.Layout.FromString(event.tensor_proto.string_val[0])
    titles = [category.title for category in layout.category]
    if titles != SECTIONS:
        yield f"the layout has the sections {titles}"
    if not any(chart.HasField("margin") for chart in layout.category[0].chart):
        yield "the layout has no Elo with its band"


def is_complete(run):
    """Whether the newest checkpoint, <generation>-<phase>-<step>, is behind the last generation."""
    text = (run / "experiment.toml").read_text()
    generations = int(re.search(r"^generations = (\d+)", text, re.MULTILINE).group(1))
    states = (path.name for path in (run / "state").iterdir() if not path.name.startswith("."))
    newest = max((int(name.split("-")[0]) for name in states), default=0)
    return newest >= generations


def check_settings(folder):
    """Complaints about the settings in the table of runs."""
    reader = EventAccumulator(str(folder), size_guidance=KEEP_ALL)
    reader.Reload()
    try:
        content = reader.PluginTagToContent("hparams")
    except KeyError:
        yield "the settings are missing"
        return
    columns, values = (
        plugin_data_pb2.HParamsPluginData.FromString(content[f"_hparams_/{name}"])
        for name in ("experiment", "session_start_info")
    )
    metrics = [info.name.tag for info in columns.experiment.metric_infos]
    settings = values.session_start_info.hparams
    if FINAL_ELO not in metrics:
        yield f"the table of runs shows {metrics}, not the Elo"
    if {info.name for info in columns.experiment.hparam_infos} != set(settings):
        yield "the table of runs has other columns than the run has settings"
    complete = is_complete(folder.parent)
    end = plugin_data_pb2.HParamsPluginData.FromString(content.get(SETTINGS_END, b""))
    succeeded = end.session_end_info.status == api_pb2.STATUS_SUCCESS
    if succeeded != complete:
        yield f"the table of runs says success: {succeeded}, and the run is complete: {complete}"
    if "training.batch_size" not in settings or settings["training.batch_size"].number_value < 1:
        yield "the table of runs has no training.batch_size"


class Dashboard:
    """A TensorBoard on a run, asked over HTTP."""

    def __init__(self, run):
        board = program.TensorBoard()
        arguments = ["--logdir", str(run), "--port", "0", "--host", "127.0.0.1"]
        board.configure(argv=["tensorboard", *arguments])
        self.url = board.launch()

    def get(self, path, body=None, **query):
        """An answer as bytes."""
        url = f"{self.url}data/{path}?{urllib.parse.urlencode(query)}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.read()

    def ask(self, path, body=None, **query):
        """An answer as JSON."""
        return json.loads(self.get(path, body, **query))


def wait_for(holds):
    """Waits until something holds, and says whether it does."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def check_dashboard(run, series):
    """Complaints about what a browser would not see."""
    board = Dashboard(run)
    scalars = tags_of(series, "scalars")

    def has_loaded():
        [tags] = board.ask("plugin/scalars/tags").values() or [{}]
        return set(tags) == scalars

    if not wait_for(lambda: board.ask("runs")) or not wait_for(has_loaded):
        yield "TensorBoard does not show all scalars"
        return
    [name] = board.ask("runs")
    for tag in sorted(scalars):
        points = board.ask("plugin/scalars/scalars", run=name, tag=tag)
        expected = [step for step, _ in series["scalars", tag]]
        if len(expected) <= 1000 and [step for _, step, _ in points] != expected:
            yield f"TensorBoard shows {tag} at other steps"
    for tag in sorted(PICTURES & tags_of(series, "images")):
        for picture in board.ask("plugin/images/images", run=name, tag=tag, sample=0):
            query = urllib.parse.parse_qsl(picture["query"])
            if not board.get("plugin/images/individualImage", **dict(query)).startswith(b"\x89PNG"):
                yield f"TensorBoard has no picture for {tag} at step {picture['step']}"
    for tag in sorted(TEXTS & tags_of(series, "tensors")):
        if not board.ask("plugin/text/text", run=name, tag=tag):
            yield f"TensorBoard shows no text for {tag}"
    for tag in sorted(tags_of(series, "histograms")):
        if not board.ask("plugin/histograms/histograms", run=name, tag=tag):
            yield f"TensorBoard shows no histogram for {tag}"
    layout = board.ask("plugin/custom_scalars/layout")
    if [category["title"] for category in layout["category"]] != SECTIONS:
        yield "TensorBoard shows another layout"
    yield from check_table(board, series)


def check_table(board, series):
    """Complaints about TensorBoard's table of runs."""
    request = {"experimentName": "", "startIndex": 0, "sliceSize": 10, "colParams": []}
    request["allowedStatuses"] = ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_RUNNING"]
    groups = board.ask("plugin/hparams/session_groups", body=request).get("sessionGroups", [])
    if len(groups) != 1:
        yield f"TensorBoard's table has {len(groups)} rows"
        return
    shown = {it["name"]["tag"]: it["value"] for it in groups[0].get("metricValues", [])}
    elo = series["scalars", FINAL_ELO][-1][1].value
    if not math.isclose(shown.get(FINAL_ELO, math.nan), elo, rel_tol=1e-6, abs_tol=1e-6):
        yield f"TensorBoard's table shows {shown}, and the final Elo is {elo}"


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
    complaints += check_groups(shown)
    complaints += check_pictures(shown)
    complaints += check_texts(shown)
    complaints += check_layout(shown)
    complaints += check_settings(folder)
    complaints += check_dashboard(run, shown)
    print_tags(shown)
    if not shown:
        complaints.append(f"{folder} holds no values")
    if complaints:
        sys.exit("\n".join(complaints))
    print(f"{len(shown)} tags, {sum(map(len, shown.values()))} values: all good")


if __name__ == "__main__":
    main()
