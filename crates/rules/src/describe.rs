//! A variant explained back in words and boards, for whoever wrote it down.

use crate::betza::{Movement, Offset, Paths, UNLIMITED};
use crate::movegen::Turning;
use crate::{Kind, Role, Rules, board_text};

/// The farthest that a move diagram looks from its centre.
const LARGEST_RADIUS: i8 = 3;
/// What the signs of a diagram mean.
const LEGEND: &str = "o steps or leaps there, | - / \\ slides on to the edge or the first piece, # \
                      slides but no further, m only moves there, x only captures there";

impl Rules {
    /// The game in words and boards: its start, each piece with a move diagram, what turns
    /// pieces over, drops, and how it ends.
    ///
    /// ```
    /// let rules = keiko_rules::Rules::load("minishogi")?;
    /// let text = rules.describe();
    /// assert!(text.contains("turns over by choice"));
    /// assert!(text.contains("loses for whoever made the game's first move"));
    /// # Ok::<(), keiko_rules::RulesError>(())
    /// ```
    pub fn describe(&self) -> String {
        let mut text = format!("{} on {}x{}\n\n", self.name(), self.files(), self.ranks());
        text += &board_text(self, &self.start);
        text += &format!("\nPieces ({LEGEND})\n");
        let radius = self.movements.iter().map(extent).max().unwrap_or(1).clamp(1, LARGEST_RADIUS);
        for kind in self.kinds() {
            text += &format!("\n{}", self.describe_kind(kind, radius));
        }
        text += "\nPromotion\n";
        text += &lines(self.promotion_words());
        text += "Drops\n";
        text += &lines(self.drop_words());
        text += "How it ends\n";
        text += &lines(self.goals.words(self));
        if !self.handicaps.is_empty() {
            text += "Handicaps\n";
            text += &lines(self.handicaps().map(|(name, sfen)| format!("{name}: {sfen}")));
        }
        text
    }

    /// A kind's faces with their diagrams side by side, and what is special about it.
    fn describe_kind(&self, kind: Kind, radius: i8) -> String {
        let front = Role(kind.0);
        let faces: Vec<Role> = [Some(front), self.back_of(kind)].into_iter().flatten().collect();
        let width = 4 * radius as usize + 5;
        let row = |cells: Vec<String>| {
            let padded: String = cells.iter().map(|cell| format!("{cell:<width$}")).collect();
            format!("  {}\n", padded.trim_end())
        };
        let mut text = row(faces.iter().map(|&face| self.role_name(face).to_owned()).collect());
        for forward in (-radius..=radius).rev() {
            let cell = |&face: &Role| diagram_row(&self.movements[face.index()], forward, radius);
            text += &row(faces.iter().map(cell).collect());
        }
        text + &lines(self.kind_words(kind))
    }

    fn kind_words(&self, kind: Kind) -> Vec<String> {
        let name = self.kind_name(kind);
        let mut words = Vec::new();
        if kind == self.royal_kind {
            words.push(format!("{name} is royal."));
        }
        if let Some(limit) = self.per_file[kind.index()] {
            words.push(format!(
                "{name} may not be dropped on a file with {limit} own {name} (front up)."
            ));
        }
        if self.no_mate_by.contains(&kind) {
            words.push(format!("{name} may not be dropped to mate."));
        }
        words
    }

    fn promotion_words(&self) -> Vec<String> {
        let turning: Vec<&str> = self
            .kinds()
            .filter(|&kind| self.back_of(kind).is_some())
            .map(|kind| self.kind_name(kind))
            .collect();
        let names = turning.join(" ");
        let mut words = match self.turning {
            Turning::Never => vec!["No piece turns over.".to_owned()],
            Turning::Zone { zones, forced } => {
                let ranks = zones[0].len() / self.files();
                let how = if forced { "always turns over" } else { "turns over by choice" };
                vec![
                    match ranks {
                        1 => "The zone is the last rank.".to_owned(),
                        _ => format!("The zone is the last {ranks} ranks."),
                    },
                    format!("{names}: a move that begins or ends in the zone {how}."),
                ]
            }
            Turning::Capture => vec![format!("{names}: every capture turns the piece over.")],
            Turning::Move => vec![format!("{names}: every move turns the piece over.")],
        };
        if self.movable {
            words.push("No piece may come to stand where it could never move again.".into());
        }
        words
    }

    fn drop_words(&self) -> Vec<String> {
        if self.droppable.is_empty() {
            return vec!["Captured pieces are gone.".into()];
        }
        let names: Vec<&str> = self.droppable.iter().map(|&role| self.role_name(role)).collect();
        let mut words = vec![format!(
            "Captured pieces come to the captor's hand and are dropped as: {}.",
            names.join(" ")
        )];
        if let Some(limit) = self.hand_limit {
            words.push(format!(
                "With {limit} in hand nothing may be captured but {}.",
                self.kind_name(self.royal_kind)
            ));
        }
        words
    }
}

/// Sentences as an indented list.
fn lines(words: impl IntoIterator<Item = String>) -> String {
    words.into_iter().map(|sentence| format!("  {sentence}\n")).collect()
}

/// How far a movement goes, slides to the edge shown two squares long.
fn extent(movement: &Movement) -> i8 {
    let far = |paths: &Paths| {
        let leaps = paths.leaps.iter().map(|(right, forward)| right.abs().max(forward.abs()));
        let slides = paths.slides.iter().map(|&(_, range)| match range {
            UNLIMITED => 2,
            range => range as i8 + 1,
        });
        leaps.chain(slides).max().unwrap_or(0)
    };
    far(&movement.captures).max(far(&movement.quiet))
}

/// One row of a move diagram, the piece in its middle moving up.
fn diagram_row(movement: &Movement, forward: i8, radius: i8) -> String {
    let cells: Vec<String> = (-radius..=radius)
        .map(|right| match (right, forward) {
            (0, 0) => "@".to_owned(),
            to => sign(movement, to).to_string(),
        })
        .collect();
    cells.join(" ")
}

/// What a movement does at an offset.
fn sign(movement: &Movement, to: Offset) -> char {
    match (reached(&movement.captures, to), reached(&movement.quiet, to)) {
        (Some(sign), Some(_)) => sign,
        (Some(_), None) => 'x',
        (None, Some(_)) => 'm',
        (None, None) => '.',
    }
}

/// The sign of the way that leads to an offset.
fn reached(paths: &Paths, (right, forward): Offset) -> Option<char> {
    if paths.leaps.contains(&(right, forward)) {
        return Some('o');
    }
    let distance = right.abs().max(forward.abs());
    let unit = (right.signum(), forward.signum());
    let along = (unit.0 * distance, unit.1 * distance) == (right, forward);
    let slide =
        paths.slides.iter().find(|&&(to, range)| along && to == unit && range >= distance as u8);
    slide.map(|&(_, range)| match unit {
        _ if range != UNLIMITED => '#',
        (0, _) => '|',
        (_, 0) => '-',
        (right, forward) if right == forward => '/',
        _ => '\\',
    })
}
