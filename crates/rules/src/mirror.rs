//! Left and right exchanged: games where that changes nothing, and how things look then.

use crate::{Kind, Move, Role, Rules, Square};

impl Rules {
    /// Whether the mirror image of a game is a game: every piece moves the same with left and
    /// right exchanged, or has a partner that does.
    pub fn is_mirror_symmetric(&self) -> bool {
        self.mirror_roles.is_some()
    }

    /// The square with left and right exchanged.
    pub fn mirror(&self, square: Square) -> Square {
        let (column, rank) = self.column_and_rank(square);
        Square::new(rank * self.files() + self.files() - 1 - column)
    }

    /// The role with left and right exchanged: for nearly all pieces itself.
    pub fn mirror_role(&self, role: Role) -> Role {
        self.mirror_roles.as_ref().map_or(role, |roles| roles[role.index()])
    }

    /// The move with left and right exchanged.
    pub fn mirror_move(&self, mv: Move) -> Move {
        match mv {
            Move::Board { from, to, turns } => {
                Move::Board { from: self.mirror(from), to: self.mirror(to), turns }
            }
            Move::Drop { role, to } => {
                Move::Drop { role: self.mirror_role(role), to: self.mirror(to) }
            }
        }
    }

    /// By role its mirror image, if every role has one.
    pub(crate) fn find_mirror_roles(&self) -> Option<Vec<Role>> {
        let partner = |kind: Kind| {
            let others = self.kinds().filter(|&other| other != kind);
            std::iter::once(kind).chain(others).find(|&other| self.mirrors(kind, other))
        };
        let partners = self.kinds().map(partner).collect::<Option<Vec<Kind>>>()?;
        Some(
            self.roles()
                .map(|role| {
                    let kind = partners[self.kind_of(role).index()];
                    let front = Role(kind.0);
                    let is_front = role.index() < partners.len();
                    let back = || self.back_of(kind).expect("kinds that mirror have equal faces");
                    if is_front { front } else { back() }
                })
                .collect(),
        )
    }

    /// The back of a kind.
    pub(crate) fn back_of(&self, kind: Kind) -> Option<Role> {
        self.roles().skip(self.kind_names.len()).find(|&role| self.kind_of(role) == kind)
    }

    /// Whether one kind is the other with left and right exchanged.
    fn mirrors(&self, kind: Kind, other: Kind) -> bool {
        let movement = |role: Role| &self.movements[role.index()];
        let faces = |kind: Kind| [Some(Role(kind.0)), self.back_of(kind)];
        let same_faces = faces(kind).into_iter().zip(faces(other)).all(|faces| match faces {
            (Some(one), Some(two)) => movement(one).mirrored() == *movement(two),
            (None, None) => true,
            _ => false,
        });
        let limits = |kind: Kind| {
            (
                kind == self.royal_kind,
                self.per_file[kind.index()],
                self.no_mate_by.contains(&kind),
                self.points[kind.index()],
            )
        };
        same_faces && limits(kind) == limits(other)
    }
}
