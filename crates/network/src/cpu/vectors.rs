//! Numbers that begin at a cache line.

use super::pack::LANES;

/// So many numbers, at a cache line.
#[derive(Copy, Clone, Debug)]
#[repr(C, align(64))]
struct Aligned([f32; LANES]);

/// Numbers that begin at a cache line, so that no vector of a row of whole vectors spans two.
#[derive(Clone, Debug, Default)]
pub(super) struct Vectors(Vec<Aligned>);

impl Vectors {
    /// At least so many zeros.
    pub(super) fn zeros(length: usize) -> Vectors {
        Vectors(vec![Aligned([0.0; LANES]); length.div_ceil(LANES)])
    }

    /// Adds zeros until there are at least so many numbers.
    pub(super) fn grow(&mut self, length: usize) {
        if self.len() < length {
            self.0.resize(length.div_ceil(LANES), Aligned([0.0; LANES]));
        }
    }
}

impl std::ops::Deref for Vectors {
    type Target = [f32];

    #[allow(unsafe_code, reason = "arrays of numbers, seen as the numbers they are")]
    fn deref(&self) -> &[f32] {
        // SAFETY: `Aligned` is sixteen numbers and nothing else.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * LANES) }
    }
}

impl std::ops::DerefMut for Vectors {
    #[allow(unsafe_code, reason = "arrays of numbers, seen as the numbers they are")]
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: `Aligned` is sixteen numbers and nothing else; any bits are numbers.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * LANES) }
    }
}
