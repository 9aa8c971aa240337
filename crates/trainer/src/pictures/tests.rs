//! Pictures of every shipped game can be drawn, and show what they should.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::samples;
use keiko_rules::{Game, Move, Position, Rules};
use keiko_selfplay::{GameRecord, Ply, Purpose, Wdl, generator, random_moves};
use std::sync::Arc;

/// Width, height and pixels of a picture, as a reader of PNG files sees it.
fn decode(picture: &Picture) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(&picture.png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels)
}

#[test]
fn every_game_has_board_pictures() {
    for &variant in Rules::variants() {
        let rules = Arc::new(Rules::load(variant).unwrap());
        for number in 0..5 {
            let mut game = Game::new(Arc::clone(&rules));
            random_moves(&mut game, 10 * number as u32, &mut generator(1, Purpose::Play, number));
            let mut legal = Vec::new();
            game.legal_moves(&mut legal);
            let share = 1.0 / legal.len() as f32;
            let policy: Vec<_> = legal.iter().map(|&mv| (mv, share)).collect();
            let picture = policy_on_board(&rules, &shown(game.position(), &policy, &[]));
            let (width, height, pixels) = decode(&picture);
            assert_eq!((width, height), (picture.width, picture.height));
            assert_eq!(width, WIDTH as u32, "{variant}");
            assert!(picture.png.len() < 20_000, "{variant}: {} bytes", picture.png.len());
            let mean = 1.0 / policy.len() as f32;
            assert!(mean > 0.0 && pixels.iter().any(|&byte| byte != 255), "{variant}");
        }
    }
}

#[test]
fn the_likeliest_square_is_the_warmest() {
    let rules = Arc::new(Rules::load("minishogi").unwrap());
    let mut legal = Vec::new();
    Game::new(Arc::clone(&rules)).legal_moves(&mut legal);
    let only = |mv| decode(&policy_on_board(&rules, &shown(rules.start(), &[(mv, 1.0)], &[]))).2;
    let pictures: Vec<_> = legal.iter().map(|&mv| only(mv)).collect();
    for (index, picture) in pictures.iter().enumerate() {
        assert!(!pictures[..index].contains(picture), "moves look alike");
    }
}

#[test]
fn what_the_search_wanted_stands_beside_it() {
    let rules = Arc::new(Rules::load("doubutsu").unwrap());
    let mut legal = Vec::new();
    Game::new(Arc::clone(&rules)).legal_moves(&mut legal);
    let policy: Vec<_> = legal.iter().map(|&mv| (mv, 1.0 / legal.len() as f32)).collect();
    let pictures: Vec<_> = std::iter::once(&[][..])
        .chain(policy.chunks(1))
        .map(|searched| decode(&policy_on_board(&rules, &shown(rules.start(), &policy, searched))))
        .collect();
    for (index, picture) in pictures.iter().enumerate() {
        assert!(!pictures[..index].contains(picture), "searches look alike");
    }
}

fn shown<'a>(
    position: &'a Position,
    policy: &'a [(Move, f32)],
    searched: &'a [(Move, f32)],
) -> Shown<'a> {
    Shown { title: "", position, policy, searched }
}

/// A game of so many plies that Black thinks won.
fn game(plies: usize) -> GameRecord {
    let ply = |index: usize| Ply {
        root: if index.is_multiple_of(2) { Wdl::WIN } else { Wdl::LOSS },
        ..samples::ply()
    };
    samples::game((0..plies).map(ply).collect())
}

#[test]
fn curves_are_drawn_from_blacks_side() {
    for plies in [0, 1, 2, 60, 2000] {
        let (width, height, pixels) = decode(&value_curve(&game(plies)));
        assert_eq!(width, WIDTH as u32);
        let blue = |x: u32, y: u32| {
            let at = ((y * width + x) * 3) as usize;
            pixels[at..at + 3] == [0x1f, 0x5f, 0xbf]
        };
        let rows: Vec<u32> = (24..height).filter(|&y| (60..330).any(|x| blue(x, y))).collect();
        // Black has won all along, so the line lies at the top and nowhere else.
        assert!(rows.iter().all(|&y| y < 30), "{plies} plies: {rows:?}");
        assert_eq!(rows.is_empty(), plies == 0);
    }
}
