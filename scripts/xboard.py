#!/usr/bin/env python3
"""Plays games of minishogi between a network and fairy-stockfish under real XBoard on a virtual
screen, then reads XBoard's PGN back: every game must have ended, and every move be legal.

Needs Debian's packages xboard, xvfb and fairy-stockfish.

usage: scripts/xboard.py KEIKO NETWORK FOLDER [GAMES, default 20] [SECONDS a move, default 0.1]
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

FAIRY = "/usr/games/fairy-stockfish"
XBOARD = "/usr/games/xboard"
LONGEST_GAME = 300


class Oracle:
    """What is legal, by fairy-stockfish."""

    def __init__(self):
        self.process = subprocess.Popen([FAIRY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.say("uci\nsetoption name UCI_Variant value minishogi")

    def say(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def look(self, moves):
        """The board by square, and the legal moves."""
        self.say("position startpos" + (" moves " + " ".join(moves) if moves else "") + "\nd\ngo perft 1")
        board, legal = {}, []
        for line in self.process.stdout:
            if line.startswith("Fen: "):
                board = squares(line.split()[1])
            elif match := re.match(r"(\S+): 1$", line.strip()):
                legal.append(match[1])
            elif line.startswith("Nodes searched"):
                return board, legal


def squares(placement):
    board, rank = {}, 5
    for row in placement.partition("[")[0].split("/"):
        file = 0
        for piece in re.findall(r"\+?[A-Za-z]|\d", row):
            if piece.isdigit():
                file += int(piece)
            else:
                board["abcde"[file] + str(rank)] = piece
                file += 1
        rank -= 1
    return board


def long_move(san, board, legal):
    """A move as XBoard writes it, as the one legal move that it can be."""
    text = san.rstrip("#")
    if "@" in text:
        candidates = [move for move in legal if move == text.rstrip("+")]
    else:
        # A plus behind is a promotion, before it a piece that has promoted.
        match = re.fullmatch(r"(\+?[A-Z])?([a-e]?)([1-5]?)x?([a-e][1-5])([+=]?)\+?", text)
        if not match:
            return None
        piece, file, rank, to, turn = match.groups()
        suffix = "+" if turn == "+" else ""

        def fits(move):
            origin = move[:2]
            return (
                "@" not in move
                and move[2:4] == to
                and board[origin].upper() == (piece or "P")
                and file in ("", origin[0])
                and rank in ("", origin[1])
            )

        candidates = [move for move in legal if fits(move) and move[4:] == suffix]
    return candidates[0] if len(candidates) == 1 else None


def games(text):
    """Each game's headers, moves and result."""
    for part in re.split(r"(?=^\[Event )", text, flags=re.M)[1:]:
        headers = dict(re.findall(r'^\[(\w+) "(.*)"\]$', part, flags=re.M))
        body = re.sub(r"^\[.*\]$", "", part, flags=re.M)
        reason = re.findall(r"\{([^{}]*)\}\s*(?:1-0|0-1|1/2-1/2|\*)\s*$", body)
        body = re.sub(r"\{[^{}]*\}", "", body)
        words = [word for word in body.split() if not re.fullmatch(r"\d+\.", word)]
        yield headers, words[:-1], words[-1], (reason or [""])[0]


def read_back(path, expected):
    oracle, read, results = Oracle(), 0, {}
    for headers, sans, result, reason in games(path.read_text()):
        moves = []
        for san in sans:
            board, legal = oracle.look(moves)
            move = long_move(san, board, legal)
            if move is None:
                sys.exit(f"game {read + 1}: `{san}` after {' '.join(moves)} is not one legal move")
            moves.append(move)
        if result == "*" or result != headers["Result"]:
            sys.exit(f"game {read + 1} has no result: {reason}")
        if re.search("time|illegal|crash|exit|forfeit", reason, flags=re.I):
            sys.exit(f"game {read + 1}: {reason}")
        keiko = "won" if (result == "1-0") == headers["White"].startswith("keiko") else "lost"
        keiko = "drew" if result == "1/2-1/2" else keiko
        results[keiko] = results.get(keiko, 0) + 1
        read += 1
        print(f"{read}: {headers['White']} {result} {headers['Black']}, {len(moves)} plies, {reason}")
    if read != expected:
        sys.exit(f"{read} of {expected} games are there")
    print(f"{read} games read back; keiko {results}")


def play(keiko, network, folder, count, seconds):
    pgn = folder / "games.pgn"
    if pgn.exists():
        sys.exit(f"{pgn} exists already")
    display = f":{90 + os.getpid() % 100}"
    screen = subprocess.Popen(["Xvfb", display, "-screen", "0", "1024x768x24"], stderr=subprocess.DEVNULL)
    try:
        time.sleep(2)
        engine = f"{Path(keiko).resolve()} engine --network {Path(network).resolve()} --threads 1"
        command = [XBOARD, "-variant", "minishogi", "-fcp", engine, "-scp", FAIRY, "-mode", "TwoMachines"]
        command += ["-matchGames", str(count), "-tc", "0:05", "-inc", str(seconds), "-saveGameFile", str(pgn)]
        command += ["-xponder", "-debug", "-nameOfDebugFile", str(folder / "debug.txt"), "-noGUI"]
        command += ["-matchPause", "500", "-fn", "keiko", "-sn", "fairy-stockfish", "-popupExitMessage", "false"]
        environment = {**os.environ, "DISPLAY": display, "HOME": str(folder)}
        subprocess.run(command, env=environment, cwd=folder, check=False, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=count * LONGEST_GAME)
    finally:
        screen.terminate()
        screen.wait()
    return pgn


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    keiko, network, folder = sys.argv[1:3] + [Path(sys.argv[3])]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 20
    seconds = sys.argv[5] if len(sys.argv) > 5 else "0.1"
    folder.mkdir(parents=True, exist_ok=True)
    read_back(play(keiko, network, folder.resolve(), count, seconds), count)


if __name__ == "__main__":
    main()
