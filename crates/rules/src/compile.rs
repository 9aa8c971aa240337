//! From a definition to rules: roles, tables and start positions.

use crate::betza::{self, Movement};
use crate::check::Compiler;
use crate::definition::{Definition, Faces, When};
use crate::keys::Keys;
use crate::movegen::Turning;
use crate::rules::{Rules, RulesError};
use crate::square::CELLS;
use crate::tables::{Geometry, Mover};
use crate::{Bitboard, Color, Kind, Move, Piece, Position, Role};

/// Checks a definition and computes its tables.
pub(crate) fn compile(
    definition: Definition,
    text: &str,
    origin: &str,
) -> Result<Rules, RulesError> {
    let compiler = Compiler { definition: &definition, text, origin };
    compiler.check_sections()?;
    let pieces = compiler.pieces()?;
    let mut rules = compiler.rules(&pieces)?;
    rules.connect();
    rules.mirror_roles = rules.find_mirror_roles();
    compiler.positions(&mut rules)?;
    compiler.contradictions(&rules)?;
    rules.hash = crate::fingerprint::of(&rules, &pieces);
    Ok(rules)
}

/// What a role is and how it moves.
pub(crate) struct RoleDefinition {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) other: Option<Role>,
    pub(crate) movement: Movement,
}

impl Compiler<'_> {
    /// The roles: fronts in the order of the definition, then backs.
    fn pieces(&self) -> Result<Vec<RoleDefinition>, RulesError> {
        let pieces = &self.definition.pieces;
        let mut roles = Vec::new();
        for (index, (letter, piece)) in pieces.iter().enumerate() {
            let key = format!("pieces.{letter}");
            let single = letter.len() == 1 && letter.chars().all(|c| c.is_ascii_uppercase());
            self.require(single, &key, "is no piece's letter; those are A to Z, one each")?;
            let problem = "is 0; it must be at least 1";
            self.require(piece.per_file != Some(0), &format!("{key}.per_file"), problem)?;
            let (limit, ranks) = (piece.per_file.unwrap_or(1), self.definition.board.ranks);
            let problem = format!("is {limit}, but a file has {ranks} squares: it never matters");
            self.require(limit <= ranks, &format!("{key}.per_file"), problem)?;
            let movement = self.movement(&format!("{key}.moves"), &piece.moves)?;
            roles.push(RoleDefinition {
                name: letter.clone(),
                kind: Kind(index as u8),
                other: None,
                movement,
            });
        }
        for (index, (letter, piece)) in pieces.iter().enumerate() {
            let Some(moves) = &piece.promotes else {
                continue;
            };
            let movement = self.movement(&format!("pieces.{letter}.promotes"), moves)?;
            let both_ways = self.definition.promotion.is_some_and(|it| it.when != When::Zone);
            roles[index].other = Some(Role(roles.len() as u8));
            roles.push(RoleDefinition {
                name: format!("+{letter}"),
                kind: Kind(index as u8),
                other: both_ways.then_some(Role(index as u8)),
                movement,
            });
        }
        Ok(roles)
    }

    fn movement(&self, key: &str, moves: &str) -> Result<Movement, RulesError> {
        betza::parse(moves).map_err(|error| self.error(key, format!("\"{moves}\" {error}")))
    }

    fn royal_kind(&self) -> Result<Kind, RulesError> {
        let pieces = self.definition.pieces.iter().enumerate();
        let royals: Vec<(usize, &str)> = pieces
            .filter(|(_, (_, piece))| piece.royal)
            .map(|(index, (letter, _))| (index, letter.as_str()))
            .collect();
        match royals[..] {
            [(royal, _)] => Ok(Kind(royal as u8)),
            [] => Err(self.error("pieces", "none has `royal = true`; exactly one must")),
            _ => {
                let letters: Vec<&str> = royals.iter().map(|&(_, letter)| letter).collect();
                let problem =
                    format!("{} have `royal = true`; exactly one may", letters.join(" and "));
                Err(self.error("pieces", problem))
            }
        }
    }

    fn movers(
        &self,
        geometry: &Geometry,
        roles: &[RoleDefinition],
    ) -> Result<Vec<Mover>, RulesError> {
        let both = |role: &RoleDefinition| {
            Color::BOTH.map(|color| {
                let mut mover = Mover::new(geometry, color, &role.movement);
                mover.other = role.other;
                mover
            })
        };
        let mut movers: Vec<Mover> = roles.iter().flat_map(both).collect();
        let movable: Vec<Bitboard> = movers.iter().map(|mover| mover.movable(geometry)).collect();
        for (index, role) in roles.iter().enumerate() {
            let face = if role.name.starts_with('+') { "promotes" } else { "moves" };
            let letter = &self.definition.pieces.keys()[role.kind.index()];
            let problem = "leads nowhere from any square of this board";
            let key = format!("pieces.{letter}.{face}");
            self.require(!movable[index * 2].is_empty(), &key, problem)?;
        }
        if self.definition.invariants.movable {
            for index in 0..movers.len() {
                movers[index].may_stand = movable[index];
                if let Some(other) = movers[index].other {
                    movers[index].may_turn = movable[other.index() * 2 + index % 2];
                }
            }
        }
        Ok(movers)
    }

    fn turning(&self, geometry: &Geometry) -> Turning {
        let Some(promotion) = self.definition.promotion else {
            return Turning::Never;
        };
        match promotion.when {
            When::Zone => {
                let ranks = promotion.zone.unwrap_or_default().into();
                let zones = Color::BOTH.map(|color| geometry.far_ranks(color, ranks));
                Turning::Zone { zones, forced: promotion.forced }
            }
            When::Capture => Turning::Capture,
            When::Move => Turning::Move,
        }
    }

    /// The faces that may be dropped, by kind.
    fn droppable(&self, roles: &[RoleDefinition], royal: Kind) -> Vec<Role> {
        let Some(drops) = &self.definition.drops else {
            return Vec::new();
        };
        let mut droppable: Vec<Role> = (0..roles.len() as u8)
            .map(Role)
            .filter(|role| roles[role.index()].kind != royal)
            .filter(|role| {
                drops.faces == Faces::Either || role.index() < self.definition.pieces.len()
            })
            .collect();
        droppable.sort_by_key(|role| roles[role.index()].kind);
        droppable
    }

    fn per_file(&self, roles: &[RoleDefinition]) -> Vec<Option<u8>> {
        let fronts = self.definition.pieces.values().map(|piece| piece.per_file);
        fronts.chain(std::iter::repeat(None)).take(roles.len()).collect()
    }

    fn no_mate_by(&self) -> Vec<Kind> {
        let letters = self.definition.drops.iter().flat_map(|drops| &drops.no_mate_by);
        let kind = |letter| self.definition.pieces.get_index_of(letter);
        letters.filter_map(kind).map(|index| Kind(index as u8)).collect()
    }

    /// The rules, but for what depends on the start position.
    fn rules(&self, roles: &[RoleDefinition]) -> Result<Rules, RulesError> {
        let definition = self.definition;
        let geometry = Geometry::new(definition.board.files.into(), definition.board.ranks.into());
        let royal_kind = self.royal_kind()?;
        Ok(Rules {
            source: self.text.to_owned(),
            name: definition.name.clone(),
            hash: 0,
            start: Position::empty(),
            start_sfen: String::new(),
            handicaps: Vec::new(),
            files: (0..geometry.files).map(|column| geometry.column(column)).collect(),
            last_ranks: Color::BOTH.map(|color| geometry.far_ranks(color, 1)),
            kind_names: definition.pieces.keys().cloned().collect(),
            role_names: roles.iter().map(|role| role.name.clone()).collect(),
            kinds_of_roles: roles.iter().map(|role| role.kind).collect(),
            royal_kind,
            mirror_roles: None,
            points: definition.pieces.values().map(|piece| piece.points.unwrap_or(1)).collect(),
            movements: roles.iter().map(|role| role.movement.clone()).collect(),
            hand_maxima: vec![0; definition.pieces.len()],
            movers: self.movers(&geometry, roles)?,
            reach: Box::new([[Bitboard::EMPTY; CELLS]; 2]),
            threat_zones: Box::new([[Bitboard::EMPTY; CELLS]; 2]),
            keys: Keys::new(roles.len(), definition.pieces.len()),
            turning: self.turning(&geometry),
            droppable: self.droppable(roles, royal_kind),
            per_file: self.per_file(roles),
            no_mate_by: self.no_mate_by(),
            hand_limit: definition.drops.as_ref().and_then(|drops| drops.hand_limit),
            royal_safe: definition.invariants.royal_safe,
            movable: definition.invariants.movable,
            goals: definition.goals,
            geometry,
        })
    }

    /// Reads the start position and the handicaps.
    fn positions(&self, rules: &mut Rules) -> Result<(), RulesError> {
        rules.start = self.playable(rules, "start", &self.definition.start)?;
        rules.start_sfen = rules.start.to_sfen(rules);
        for (name, sfen) in &self.definition.handicaps {
            let position = self.playable(rules, &format!("handicaps.{name}"), sfen)?;
            rules.handicaps.push((name.clone(), position.to_sfen(rules)));
        }
        let start = &rules.start;
        let maximum = |kind| {
            if rules.goes_to_hand(kind) { total(rules, start, kind) } else { 0 }
        };
        rules.hand_maxima = rules.kinds().map(maximum).collect();
        Ok(())
    }

    /// Finds what can never happen in the compiled game.
    fn contradictions(&self, rules: &Rules) -> Result<(), RulesError> {
        if let Some((key, problem)) = rules.goals.contradiction(rules) {
            return Err(self.error(key, problem));
        }
        for kind in rules.kinds() {
            let key = format!("pieces.{}", rules.kind_name(kind));
            let problem = "is on no board and in no hand of the start position";
            self.require(total(rules, &rules.start, kind) > 0, &key, problem)?;
        }
        let moves = rules.conceivable_moves();
        for kind in rules.kinds().filter(|&kind| rules.back_of(kind).is_some()) {
            let turns = |&(role, mv): &(Role, Move)| {
                role.0 == kind.0 && matches!(mv, Move::Board { turns: true, .. })
            };
            let key = format!("pieces.{}.promotes", rules.kind_name(kind));
            let either = self.definition.drops.as_ref().is_some_and(|it| it.faces == Faces::Either);
            let problem = "is never seen: no move of the piece turns it over";
            self.require(either || moves.iter().any(turns), &key, problem)?;
        }
        let royal = rules.kind_name(rules.royal_kind);
        let limit = self.definition.pieces[royal].per_file;
        let key = format!("pieces.{royal}.per_file");
        self.require(limit.is_none(), &key, "limits drops, but a royal piece is never dropped")?;
        let nothing = self.definition.drops.is_some() && rules.droppable.is_empty();
        self.require(!nothing, "drops", "is there, but no piece can come into a hand")?;
        let kinds = rules.kinds().filter(|&kind| rules.goes_to_hand(kind));
        let most: u32 = kinds.map(|kind| u32::from(total(rules, &rules.start, kind))).sum();
        let limit = rules.hand_limit.map_or(0, u32::from);
        let problem = format!(
            "is {limit}, but all pieces that can come into a hand are {most}: it never matters"
        );
        self.require(limit == 0 || limit < most, "drops.hand_limit", problem)
    }

    /// A position with both royal pieces, where the side that has just moved cannot lose its
    /// own at once, and a move to make.
    fn playable(&self, rules: &Rules, key: &str, sfen: &str) -> Result<Position, RulesError> {
        let position = Position::from_sfen(rules, sfen)
            .map_err(|error| self.error(key, format!("\"{sfen}\": {error}")))?;
        let moved = position.side.opponent();
        let problem = format!("\"{sfen}\": the game is over before it begins");
        self.require(rules.ending(&position).is_none(), key, problem)?;
        let royal = rules.kind_name(rules.royal_kind);
        let problem = format!("\"{sfen}\": {moved}'s {royal} can be taken by the very first move");
        self.require(!rules.is_royal_attacked(&position, moved), key, problem)?;
        Ok(position)
    }
}

/// How many pieces of a kind a position has, on the board and in hand.
pub(crate) fn total(rules: &Rules, position: &Position, kind: Kind) -> u8 {
    let of_kind = |piece: &Piece| rules.kind_of(piece.role) == kind;
    let on_board = position.occupied().iter().filter_map(|at| position.piece_at(at));
    let in_hand = Color::BOTH.map(|color| usize::from(position.hand(color, kind)));
    let total = on_board.filter(of_kind).count() + in_hand.iter().sum::<usize>();
    total.try_into().unwrap_or(u8::MAX)
}
