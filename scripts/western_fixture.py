#!/usr/bin/env python3
"""Asks fairy-stockfish (Debian's package) how it writes positions and moves, and prints lines of
`game, FEN, SFEN, legal moves` for crates/rules/tests/western.rs: random games from the start.

usage: scripts/western_fixture.py > crates/rules/tests/oracle/western.tsv
"""

import random
import subprocess

ENGINE = "/usr/games/fairy-stockfish"
GAMES = {
    "minishogi": "minishogi",
    "shogi": "shogi",
    "judkins": "judkins",
    "kyoto": "kyotoshogi",
    "doubutsu": "dobutsu",
    "shatranj": "shatranj",
}
GAMES_EACH, LONGEST, EVERY = 6, 90, 7


class Engine:
    def __init__(self, variant):
        self.process = subprocess.Popen([ENGINE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.say("uci", f"setoption name UCI_Variant value {variant}")

    def say(self, *lines):
        self.process.stdin.write("".join(line + "\n" for line in lines))
        self.process.stdin.flush()

    def look(self, moves):
        """FEN, SFEN and legal moves after these moves."""
        self.say("position startpos" + (" moves " + " ".join(moves) if moves else ""), "d", "go perft 1")
        fen = sfen = ""
        legal = []
        for line in self.process.stdout:
            line = line.rstrip()
            if line.startswith("Fen: "):
                fen = line[5:]
            elif line.startswith("Sfen: "):
                sfen = line[6:]
            elif line.endswith(": 1") and " " not in line.split(": 1")[0]:
                legal.append(line[:-3])
            elif line.startswith("Nodes searched"):
                return fen, sfen, legal


def main():
    for name, variant in GAMES.items():
        dice = random.Random(f"western {name}")
        engine = Engine(variant)
        for game in range(GAMES_EACH):
            moves = []
            for ply in range(LONGEST):
                fen, sfen, legal = engine.look(moves)
                if not legal:
                    break
                if (ply + game) % EVERY == 0:
                    print("\t".join([name, fen, sfen, " ".join(legal)]))
                signs = [move for move in legal if move[-1] in "+-q"]
                moves.append(dice.choice(signs if signs and dice.random() < 0.5 else legal))
        engine.say("quit")


if __name__ == "__main__":
    main()
