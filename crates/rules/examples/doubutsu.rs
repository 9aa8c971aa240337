//! Doubutsu shogi solved: every position that can be reached, and for the positions of a file of
//! exact values every move that keeps them. It knows this one game and nothing of keiko's rules, so
//! that it can judge what they lead to. Its table takes 4.8 GB of
//! memory.
//!
//! usage: cargo run --release -p keiko-rules --example doubutsu -- VALUES.jsonl >KEPT.jsonl

use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Slots of the table, for 213,993,422 positions, mirror images counted once.
const SLOTS: usize = 1 << 29;

/// Threads.
const THREADS: usize = 2;

const LION: u8 = 1;
const CHICK: u8 = 4;
const HEN: u8 = 5;
/// What the other side's pieces have more.
const THEIRS: u8 = 5;

/// Steps of ranks and files, for who moves towards rank 0.
const STEPS: [&[(i8, i8)]; 5] = [
    &[(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)],
    &[(-1, 0), (0, -1), (0, 1), (1, 0)],
    &[(-1, -1), (-1, 1), (1, -1), (1, 1)],
    &[(-1, 0)],
    &[(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, 0)],
];

/// A position as who is to move sees it: the far rank first, from the left.
#[derive(Copy, Clone, Debug)]
struct Board {
    squares: [u8; 12],
    /// Giraffes, elephants, chicks in hand: one's own, then the other's.
    hands: [[u8; 3]; 2],
}

/// From a square, or (12 and more) a piece from the hand, to a square.
#[derive(Copy, Clone, Debug)]
struct Step {
    from: usize,
    to: usize,
}

/// What is known of a position, for who is to move.
const OPEN: u8 = 0;
const WON: u8 = 1;
const LOST: u8 = 2;

fn target(from: usize, (rank, file): (i8, i8)) -> Option<usize> {
    let (rank, file) = (from as i8 / 3 + rank, from as i8 % 3 + file);
    ((0..4).contains(&rank) && (0..3).contains(&file)).then(|| (rank * 3 + file) as usize)
}

impl Board {
    fn code(&self) -> u64 {
        let squares = self.squares.iter().fold(0, |code, &it| code << 4 | u64::from(it));
        self.hands.iter().flatten().fold(squares, |code, &it| code << 2 | u64::from(it))
    }

    fn of_code(mut code: u64) -> Board {
        let mut board = Board { squares: [0; 12], hands: [[0; 3]; 2] };
        for held in board.hands.iter_mut().flatten().rev() {
            *held = (code & 3) as u8;
            code >>= 2;
        }
        for square in board.squares.iter_mut().rev() {
            *square = (code & 15) as u8;
            code >>= 4;
        }
        board
    }

    /// The same for a position and its mirror image.
    fn key(&self) -> u64 {
        let mut mirrored = *self;
        (0..4).for_each(|rank| mirrored.squares.swap(3 * rank, 3 * rank + 2));
        self.code().min(mirrored.code())
    }

    /// As the other side sees it.
    fn turned(&self) -> Board {
        let swap = |it: u8| match it {
            0 => 0,
            1..=5 => it + THEIRS,
            _ => it - THEIRS,
        };
        let mut squares = self.squares.map(swap);
        squares.reverse();
        Board { squares, hands: [self.hands[1], self.hands[0]] }
    }

    fn moves(&self, mut each: impl FnMut(Step)) {
        for from in (0..12).filter(|&from| (1..=5).contains(&self.squares[from])) {
            let steps = STEPS[self.squares[from] as usize - 1].iter();
            let targets = steps.filter_map(|&step| target(from, step));
            let free = targets.filter(|&to| !(1..=5).contains(&self.squares[to]));
            free.for_each(|to| each(Step { from, to }));
        }
        for held in (0..3).filter(|&held| self.hands[0][held] > 0) {
            let empty = (0..12).filter(|&to| self.squares[to] == 0);
            empty.for_each(|to| each(Step { from: 12 + held, to }));
        }
    }

    /// The position after a move, as the other side sees it.
    fn after(&self, Step { from, to }: Step) -> Board {
        let mut next = *self;
        if from >= 12 {
            next.hands[0][from - 12] -= 1;
            next.squares[to] = (from - 12) as u8 + 2;
            return next.turned();
        }
        let taken = next.squares[to];
        if taken > LION + THEIRS {
            let kind = if taken == HEN + THEIRS { CHICK } else { taken - THEIRS };
            next.hands[0][kind as usize - 2] += 1;
        }
        let piece = std::mem::take(&mut next.squares[from]);
        next.squares[to] = if piece == CHICK && to < 3 { HEN } else { piece };
        next.turned()
    }

    fn is_attacked(&self, square: usize) -> bool {
        (0..12).filter(|&from| self.squares[from] > THEIRS).any(|from| {
            let steps = STEPS[(self.squares[from] - THEIRS) as usize - 1].iter();
            steps.filter_map(|&(rank, file)| target(from, (-rank, file))).any(|to| to == square)
        })
    }

    /// Whether a move wins at once: it takes the lion, or is a try that cannot be answered.
    fn wins_by(&self, step: Step) -> bool {
        if self.squares[step.to] == LION + THEIRS {
            return true;
        }
        let is_try = step.to < 3 && step.from < 12 && self.squares[step.from] == LION;
        is_try && !self.after(step).turned().is_attacked(step.to)
    }

    /// Whether the game is won with this turn: a lion that tried was not taken, or by a move.
    fn is_won_now(&self) -> bool {
        let mut wins = self.squares[..3].contains(&LION);
        self.moves(|step| wins = wins || self.wins_by(step));
        wins
    }

    fn of_sfen(sfen: &str) -> Board {
        let mut words = sfen.split_whitespace();
        let (rows, side, hand) = (words.next(), words.next(), words.next());
        let kind = |letter: char| "LGEC".find(letter.to_ascii_uppercase()).map(|at| at as u8 + 1);
        let mut board = Board { squares: [0; 12], hands: [[0; 3]; 2] };
        let (mut at, mut is_turned) = (0, false);
        for letter in rows.expect("a board").chars().filter(|&letter| letter != '/') {
            if letter == '+' {
                is_turned = true;
            } else if let Some(empty) = letter.to_digit(10) {
                at += empty as usize;
            } else {
                let kind =
                    kind(letter).expect("a piece") + u8::from(std::mem::take(&mut is_turned));
                board.squares[at] = if letter.is_lowercase() { kind + THEIRS } else { kind };
                at += 1;
            }
        }
        let mut count = 1;
        for letter in hand.expect("hands").chars().filter(|&letter| letter != '-') {
            match letter.to_digit(10) {
                Some(number) => count = number as u8,
                None => {
                    let kind = kind(letter).expect("a piece") as usize;
                    board.hands[usize::from(letter.is_lowercase())][kind - 2] += count;
                    count = 1;
                }
            }
        }
        if side == Some("w") { board.turned() } else { board }
    }
}

/// Every position met, by its key, and what is known of it.
struct Table {
    keys: Vec<AtomicU64>,
    known: Vec<AtomicU8>,
}

impl Table {
    fn new() -> Table {
        Table {
            keys: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
            known: (0..SLOTS).map(|_| AtomicU8::new(OPEN)).collect(),
        }
    }

    /// A key's slot, and whether it is new there.
    fn place(&self, key: u64) -> (usize, bool) {
        let mut slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 35) as usize;
        loop {
            match self.keys[slot].compare_exchange(0, key, Relaxed, Relaxed) {
                Ok(_) => return (slot, true),
                Err(found) if found == key => return (slot, false),
                Err(_) => slot = (slot + 1) % SLOTS,
            }
        }
    }

    /// What is known of a position.
    fn value(&self, board: &Board) -> u8 {
        self.known[self.place(board.key()).0].load(Relaxed)
    }

    /// Takes in all positions that come from these.
    fn fill(&self, roots: &[Board]) {
        let mut frontier: Vec<u64> =
            roots.iter().map(Board::key).filter(|&key| self.place(key).1).collect();
        let mut count = frontier.len();
        while !frontier.is_empty() {
            frontier = in_parts(&frontier, |key, next| {
                let board = Board::of_code(*key);
                if board.is_won_now() {
                    self.known[self.place(*key).0].store(WON, Relaxed);
                    return;
                }
                board.moves(|step| {
                    let key = board.after(step).key();
                    if self.place(key).1 {
                        next.push(key);
                    }
                });
            });
            count += frontier.len();
            eprintln!("{count} positions");
        }
    }

    /// Finds out all that can be known; what stays open is a draw.
    fn solve(&self) {
        let is_open = |&slot: &usize| {
            self.keys[slot].load(Relaxed) != 0 && self.known[slot].load(Relaxed) == OPEN
        };
        let mut open: Vec<u32> = (0..SLOTS).filter(is_open).map(|slot| slot as u32).collect();
        loop {
            let before = open.len();
            open = in_parts(&open, |&slot, next| {
                let board = Board::of_code(self.keys[slot as usize].load(Relaxed));
                let (mut wins, mut loses) = (false, true);
                board.moves(|step| {
                    if !wins {
                        let value = self.value(&board.after(step));
                        wins = value == LOST;
                        loses &= value == WON;
                    }
                });
                match (wins, loses) {
                    (true, _) => self.known[slot as usize].store(WON, Relaxed),
                    (false, true) => self.known[slot as usize].store(LOST, Relaxed),
                    (false, false) => next.push(slot),
                }
            });
            eprintln!("{} open", open.len());
            if open.len() == before {
                return;
            }
        }
    }
}

/// Works on all items, on some threads, and collects what comes out.
fn in_parts<T: Sync, U: Send>(items: &[T], work: impl Fn(&T, &mut Vec<U>) + Sync) -> Vec<U> {
    const PART: usize = 1 << 12;
    let next = AtomicUsize::new(0);
    let run = || {
        let mut found = Vec::new();
        while let Some(part) = items.chunks(PART).nth(next.fetch_add(1, Relaxed)) {
            part.iter().for_each(|item| work(item, &mut found));
        }
        found
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(run)).collect();
        let join = |it: std::thread::ScopedJoinHandle<'_, Vec<U>>| it.join().expect("no panic");
        threads.into_iter().flat_map(join).collect()
    })
}

/// A move in USI, of a position whose SFEN has this side to move.
fn usi(Step { from, to }: Step, is_white: bool) -> String {
    let square = |at: usize| {
        let at = if is_white { 11 - at } else { at };
        format!("{}{}", 3 - at % 3, (b'a' + (at / 3) as u8) as char)
    };
    match from.checked_sub(12) {
        Some(held) => format!("{}*{}", ["G", "E", "C"][held], square(to)),
        None => format!("{}{}", square(from), square(to)),
    }
}

/// A line of the file.
fn read(line: &str) -> Value {
    serde_json::from_str(line).expect("a line of JSON")
}

/// Whether all is as the file says, and the moves that keep it.
fn judge(table: &Table, line: &str, wrong: &AtomicBool) {
    let line = read(line);
    let [sfen, said] = ["sfen", "value"].map(|key| line[key].as_str().expect("a text"));
    let (board, is_white) = (Board::of_sfen(sfen), sfen.contains(" w "));
    let value = table.value(&board);
    let word = ["draw", "win", "loss"][value as usize];
    let mut kept = Vec::new();
    board.moves(|step| {
        let child = if board.wins_by(step) { LOST } else { table.value(&board.after(step)) };
        let mine = [OPEN, LOST, WON][child as usize];
        if mine == value {
            kept.push(usi(step, is_white));
        }
    });
    let mut best =
        line["best"].as_array().expect("a list of moves").iter().filter_map(Value::as_str);
    // The turn of a chick is forced, and not written here.
    let is_kept = |mv: &str| kept.iter().any(|kept| kept == mv.trim_end_matches('+'));
    if word != said || !best.all(is_kept) {
        eprintln!("{line}: found {word}, kept by {kept:?}");
        wrong.store(true, Relaxed);
    }
    println!("{}", json!({ "sfen": sfen, "value": word, "kept": kept }));
}

fn main() {
    let path = std::env::args().nth(1).expect("usage: doubutsu VALUES.jsonl");
    let text = std::fs::read_to_string(path).expect("a file of values");
    let table = Table::new();
    let mut roots = vec![Board::of_sfen("gle/1c1/1C1/ELG b - 1")];
    roots.extend(
        text.lines().map(|line| Board::of_sfen(read(line)["sfen"].as_str().expect("a text"))),
    );
    table.fill(&roots);
    table.solve();
    let wrong = AtomicBool::new(false);
    text.lines().for_each(|line| judge(&table, line, &wrong));
    std::process::exit(i32::from(wrong.load(Relaxed)));
}
