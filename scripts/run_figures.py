#!/usr/bin/env python3
"""How a run went, as a table: what it played and how fast, by parts of its time.

usage: run_figures.py FOLDER [PARTS]      a run's folder or a published one; 4 parts unless told

Reads metrics.jsonl. Values are means over the generations of a part; what a run has so far (games,
positions, ratings) is as at the part's end.
"""

import itertools
import json
import pathlib
import sys

ENDS = "selfplay/ends_"
SO_FAR = [
    ("games", "replay/total_games", "{:,.0f}"),
    ("positions learned from", "replay/total_positions", "{:,.0f}"),
    ("Elo above the untrained network", "ladder/elo", "{:+.0f}"),
]
MEANS = [
    ("first player's score", "selfplay/first_player_score_normal", "{:.3f}"),
    ("length in plies", "selfplay/length", "{:.1f}"),
    ("simulations a move", "selfplay/simulations", "{:.1f}"),
    ("evaluations a second", "system/evaluations_per_second", "{:,.0f}"),
    ("games a second", "system/games_per_second", "{:.1f}"),
    ("busy share", "system/busy_share", "{:.3f}"),
    ("samples per position", "ratio/samples_per_position", "{:.2f}"),
    ("held-out policy loss", "loss_holdout/policy", "{:.3f}"),
    ("held-out value loss", "loss_holdout/value", "{:.3f}"),
]


def seconds(line):
    return sum(line.get(f"system/seconds_{part}") or 0 for part in ("playing", "learning", "measuring"))


def parts_of(lines, count):
    """Generations by which part of the run's time they end in."""
    whole = sum(map(seconds, lines))
    parts, so_far = [[] for _ in range(count)], 0.0
    for line in lines:
        so_far += seconds(line)
        parts[min(count - 1, int(so_far / whole * count))].append(line)
    return [part for part in parts if part]


def mean(values):
    return sum(values) / len(values)


def last(values):
    return values[-1]


def row(parts, name, tag, shown, summary):
    values = [[line[tag] for line in part if line.get(tag) is not None] for part in parts]
    cells = [shown.format(summary(those)) if those else "" for those in values]
    print(f"| {name} | " + " | ".join(cells) + " |")


def ends(lines):
    tags = sorted({tag for line in lines for tag in line if tag.startswith(ENDS)})
    occur = [tag for tag in tags if any(line.get(tag) for line in lines)]
    return [("ended by " + tag.removeprefix(ENDS).replace("_", " "), tag, "{:.2%}") for tag in occur]


def main():
    folder = pathlib.Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    every = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    lines = [line for line in every if line.get("replay/total_games") is not None]
    parts = parts_of(lines, count)
    ends_at = itertools.accumulate(sum(map(seconds, part)) / 60 for part in parts)
    print("| until | " + " | ".join(f"{minutes:.0f} min" for minutes in ends_at) + " |")
    print("|---|" + "---:|" * len(parts))
    for name, tag, shown in SO_FAR:
        row(parts, name, tag, shown, last)
    for name, tag, shown in MEANS + ends(lines):
        row(parts, name, tag, shown, mean)


main()
