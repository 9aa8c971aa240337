//! What players of shogi call pieces: by how they move, whatever letter a variant gives them.

use crate::betza;
use crate::{Kind, Role, Rules};

/// Movement, kanji, CSA letters.
const KNOWN: [(&str, &str, &str); 10] = [
    ("K", "玉", "OU"),
    ("R", "飛", "HI"),
    ("B", "角", "KA"),
    ("WfF", "金", "KI"),
    ("FfW", "銀", "GI"),
    ("ffN", "桂", "KE"),
    ("fR", "香", "KY"),
    ("fW", "歩", "FU"),
    ("RF", "龍", "RY"),
    ("BW", "馬", "UM"),
];

/// Backs that move like a gold, by what their front moves like.
const GOLDEN: [(&str, &str, &str); 3] =
    [("FfW", "成銀", "NG"), ("ffN", "成桂", "NK"), ("fR", "成香", "NY")];

/// The back of a pawn, and of all others that move like a gold.
const TOKIN: (&str, &str) = ("と", "TO");

impl Rules {
    /// A role's name in kanji, where every front of the game has one; else its letters.
    pub fn kanji(&self, role: Role) -> &str {
        self.known_name(role).map_or(self.role_name(role), |(kanji, _)| kanji)
    }

    /// A role's two letters in a CSA record: the usual ones where every front of the game has
    /// some, else its own.
    pub(crate) fn csa_name(&self, role: Role) -> String {
        let own = || format!("{:_>2}", self.role_name(role));
        self.known_name(role).map_or_else(own, |(_, letters)| letters.to_owned())
    }

    fn known_name(&self, role: Role) -> Option<(&'static str, &'static str)> {
        // One unknown front, or two of one name, and the game's own letters are clearer.
        let fronts = self.kinds().map(|kind| self.find(&KNOWN, Role(kind.0)));
        let names: Vec<_> = fronts.collect::<Option<_>>()?;
        if names.iter().enumerate().any(|(index, name)| names[..index].contains(name)) {
            return None;
        }
        let front = Role(self.kind_of(role).0);
        let golden = self.find(&KNOWN, role).is_some_and(|(kanji, _)| kanji == "金");
        if role != front && golden {
            return Some(self.find(&GOLDEN, front).unwrap_or(TOKIN));
        }
        self.find(&KNOWN, role)
    }

    fn find(
        &self,
        table: &[(&str, &'static str, &'static str)],
        role: Role,
    ) -> Option<(&'static str, &'static str)> {
        let movement = &self.movements[role.index()];
        let same = |moves: &str| betza::parse(moves).is_ok_and(|it| it == *movement);
        table.iter().find(|(moves, _, _)| same(moves)).map(|&(_, kanji, csa)| (kanji, csa))
    }

    /// A kind's name in kanji, as it lies in a hand.
    pub(crate) fn kanji_of_kind(&self, kind: Kind) -> &str {
        self.kanji(Role(kind.0))
    }
}
