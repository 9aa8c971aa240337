#!/usr/bin/env python3
"""Asks pyffish (Fairy-Stockfish) about Kyoto shogi, tori shogi and shatranj, and writes what it
says as oracle data in the format of crates/rules/tests/oracle/README.md, spelt keiko's way:
start perft to depth 4, a few middle-game positions to depth 2, and 50 random games each.

Needs `pip install pyffish`. What differs from pyffish is decided by this script: drops that mate
are no moves in tori shogi, and repetition is counted here (pyffish must agree where it has an
opinion).

usage: scripts/pyffish_oracle.py FOLDER [GAME...]      writes games_*.jsonl.gz and perft_*.json
"""

import gzip
import json
import random
import sys
import tomllib
from pathlib import Path

import pyffish

VARIANTS = Path(__file__).parent.parent / "crates/rules/variants"
GAMES = {"kyoto": "kyotoshogi", "tori": "torishogi", "shatranj": "shatranj"}
GAMES_EACH = 50
LONGEST = 200


class Variant:
    """One game, and how keiko spells it."""

    def __init__(self, name):
        self.name, self.fairy = name, GAMES[name]
        table = tomllib.loads((VARIANTS / f"{name}.toml").read_text())
        self.ranks = table["board"]["ranks"]
        self.files = table["board"]["files"]
        self.order = "".join(table["pieces"])
        self.no_mate_by = table.get("drops", {}).get("no_mate_by", [])
        self.repetition = table["goals"]["repetition"]
        self.start = pyffish.start_fen(self.fairy)

    def legal(self, fen):
        """Legal moves as pyffish spells them, without drops that mate."""
        moves = pyffish.legal_moves(self.fairy, fen, [])
        return [move for move in moves if not self.mates_by_drop(fen, move)]

    def mates_by_drop(self, fen, move):
        piece, _, to = move.partition("@")
        if piece not in self.no_mate_by or to != self.before_king(fen):
            return False
        after = self.after(fen, move)
        return self.in_check(after) and not self.legal(after)

    def before_king(self, fen):
        """The square in front of the king that is not to move: only there a step forward checks."""
        board, side = fen.split()[:2]
        king, step = ("k", -1) if side == "w" else ("K", 1)
        for row, text in enumerate(board.partition("[")[0].split("/")):
            column = 0
            for letter in text.replace("+", ""):
                if letter == king:
                    return f"{chr(ord('a') + column)}{self.ranks - row + step}"
                column += int(letter) if letter.isdigit() else 1
        return None

    def after(self, fen, move):
        return pyffish.get_fen(self.fairy, fen, [move])

    def in_check(self, fen):
        return pyffish.gives_check(self.fairy, fen, [])

    def square(self, text):
        file, rank = ord(text[0]) - ord("a"), int(text[1])
        return f"{self.files - file}{'abcdefghijk'[self.ranks - rank]}"

    def usi(self, move):
        if "@" in move:
            piece, to = move.split("@")
            return f"{piece}*{self.square(to)}"
        turns = "+" if len(move) > 4 else ""
        return self.square(move[:2]) + self.square(move[2:4]) + turns

    def sfen(self, fen, turned, number):
        """`turned`: where pawns stand that pyffish calls by another piece's letter."""
        board, side = fen.split()[:2]
        board, _, hands = board.partition("[")
        ranks = []
        for row, text in enumerate(board.split("/")):
            column, rank = 0, ""
            for letter in text:
                if letter.isdigit():
                    column += int(letter)
                elif letter != "+":
                    if f"{chr(ord('a') + column)}{self.ranks - row}" in turned:
                        letter = "+P" if letter.isupper() else "+p"
                    column += 1
                rank += letter
            ranks.append(rank)
        held = ""
        for case in (str.upper, str.lower):
            for letter in map(case, self.order):
                count = hands.count(letter)
                held += (str(count) if count > 1 else "") + letter if count else ""
        return f"{'/'.join(ranks)} {'b' if side == 'w' else 'w'} {held or '-'} {number}"


def fnv(texts):
    value = 0xCBF29CE484222325
    for byte in "\n".join(texts).encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


def perft(variant, fen, depth):
    moves = variant.legal(fen)
    if depth == 1:
        return len(moves)
    return sum(perft(variant, variant.after(fen, move), depth - 1) for move in moves)


def identity(fen):
    """What makes two positions the same."""
    return " ".join(fen.split()[:2])


def side(fen):
    return "black" if fen.split()[1] == "w" else "white"


def other(color):
    return "white" if color == "black" else "black"


def ended(variant, fens, checks):
    """The result and reason of a game that has come to its last position, if it has."""
    fen, mover = fens[-1], side(fens[-1])
    over, value = pyffish.is_immediate_game_end(variant.fairy, fen, [])
    if over:
        winner = mover if value > 0 else other(mover)
        return ("draw" if value == 0 else winner), "bare_royal"
    if variant.name == "shatranj" and sum(letter.isalpha() for letter in fen.split()[0]) == 2:
        return "draw", "bare_royal"
    if not variant.legal(fen):
        assert pyffish.game_result(variant.fairy, fen, []) < 0, fen
        return other(mover), "mate" if variant.in_check(fen) else "stalemate"
    same = [ply for ply, earlier in enumerate(fens) if identity(earlier) == identity(fen)]
    rule = variant.repetition
    if len(same) >= rule["count"]:
        first = same[-rule["count"]]
        always = {
            color: all(checks[ply + 1] for ply in range(first, len(fens) - 1) if side(fens[ply]) == color)
            for color in ("black", "white")
        }
        if "perpetual_check" in rule and always["black"] != always["white"]:
            return ("white" if always["black"] else "black"), "perpetual_check"
        loses = rule["result"] == "last_mover_loses"
        return (mover if loses else "draw"), "repetition"
    if len(fens) > LONGEST:
        return "draw", "maxply"
    return None


def opinion(variant, moves, result):
    """pyffish's result of the whole game must be the one found here."""
    over, value = pyffish.is_optional_game_end(variant.fairy, variant.start, moves)
    if over:
        mover = "black" if len(moves) % 2 == 0 else "white"
        theirs = "draw" if value == 0 else mover if value > 0 else other(mover)
        assert theirs == result, (variant.name, moves, theirs, result)
    return over


def choose(variant, fen, moves, before, policy, dice):
    """Wanders, captures, gives check, or goes back to where it came from."""
    if policy == "shuffle" and before and dice.random() < 0.8:
        back = before[2:4] + before[:2]
        again = [move for move in moves if move[:4] == back]
        if again and "@" not in before:
            return again[0]
    if policy == "greedy" and dice.random() < 0.5:
        taken = [move for move in moves if pyffish.is_capture(variant.fairy, fen, [], move)]
        moves = taken or moves
    if policy == "checks" and dice.random() < 0.7:
        # Each question takes pyffish milliseconds: a few moves are looked at, not all.
        few = dice.sample(moves, min(8, len(moves)))
        checking = [move for move in few if variant.in_check(variant.after(fen, move))]
        moves = checking or moves
    return dice.choice(moves)


def random_game(variant, number, policy, dice):
    fens, checks, played, turned, plies = [variant.start], [False], [], set(), []
    while True:
        fen, outcome = fens[-1], ended(variant, fens, checks)
        moves = [] if outcome and outcome[1] == "bare_royal" else variant.legal(fen)
        move = "" if outcome else choose(variant, fen, moves, (played[-2:-1] or [""])[0], policy, dice)
        texts = sorted(variant.usi(it) for it in moves)
        spelt = variant.usi(move) if move else ""
        sfen = variant.sfen(fen, turned, len(fens))
        plies.append([sfen, len(texts), fnv(texts), int(variant.in_check(fen)), spelt])
        if outcome:
            break
        if variant.name == "shatranj":
            origin, target = move[:2], move[2:4]
            turns = len(move) > 4 or origin in turned
            turned = turned - {origin, target} | ({target} if turns else set())
        fens.append(variant.after(fen, move))
        checks.append(variant.in_check(fens[-1]))
        played.append(move)
    agrees = outcome[1] in ("repetition", "perpetual_check") and opinion(variant, played, outcome[0])
    return agrees, {
        "id": f"{variant.name}-{number}",
        "game": variant.name,
        "policy": policy,
        "start": plies[0][0],
        "plies": plies,
        "result": outcome[0],
        "reason": outcome[1],
    }


def write(variant, folder):
    dice = random.Random(f"keiko {variant.name}")
    policies = ["wander", "greedy", "shuffle", "checks", "greedy"]
    games, confirmed = [], 0
    for number in range(GAMES_EACH):
        agrees, game = random_game(variant, number, policies[number % len(policies)], dice)
        games.append(game)
        confirmed += agrees
    with gzip.GzipFile(folder / f"games_{variant.name}.jsonl.gz", "wb", mtime=0) as file:
        file.write("".join(json.dumps(game) + "\n" for game in games).encode())
    entries = [("start", variant.sfen(variant.start, set(), 1), variant.start, 4)]
    for number in range(6):
        fen = variant.start
        for _ in range(12 + 6 * number):
            moves = variant.legal(fen)
            # Positions with turned pawns need more than their FEN to be spelt.
            moves = [move for move in moves if variant.name != "shatranj" or len(move) == 4]
            if not moves:
                break
            fen = variant.after(fen, dice.choice(moves))
        if variant.legal(fen):
            entries.append((f"middle-{number}", variant.sfen(fen, set(), 1), fen, 2))
    lines = [
        {
            "game": variant.name,
            "name": name,
            "sfen": sfen,
            "perft": [perft(variant, fen, depth) for depth in range(1, deepest + 1)],
        }
        for name, sfen, fen, deepest in entries
    ]
    (folder / f"perft_{variant.name}.json").write_text(json.dumps(lines, indent=1) + "\n")
    reasons = sorted(game["reason"] for game in games)
    counts = {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}
    print(f"{variant.name}: {len(games)} games, ends {counts}, pyffish confirmed {confirmed} repetitions")
    print(f"{variant.name}: start perft {lines[0]['perft']}")


def main():
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(GAMES):
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    for name in sys.argv[2:] or GAMES:
        write(Variant(name), folder)


if __name__ == "__main__":
    main()
