//! The kernels for AVX-512, up to six squares times 64 outputs at a time, and its conversions.

use super::walk::{kernel, tap};
use std::arch::x86_64::*;

/// The instructions of 512 bits.
mod wide {
    pub(super) use std::arch::x86_64::{
        _mm512_add_ps as add, _mm512_fmadd_ps as multiply_add, _mm512_load_si512 as load,
        _mm512_loadu_ps as load_floats, _mm512_max_ps as max, _mm512_set1_epi32 as spread,
        _mm512_setzero_ps as zero_floats, _mm512_setzero_si512 as zero,
        _mm512_storeu_ps as store_floats,
    };
    /// Outputs of a vector.
    pub(super) const WIDTH: usize = 16;
}

kernel!(
    floats,
    "avx512f",
    wide,
    [1: 4, 2: 4, 3: 4, 4: 4, 5: 4, 6: 4],
    |sum, weights, value| _mm512_castps_si512(_mm512_fmadd_ps(
        _mm512_castsi512_ps(weights),
        _mm512_castsi512_ps(value),
        _mm512_castsi512_ps(sum)
    )),
    |sum| _mm512_castsi512_ps(sum)
);

/// The same bits as pairs of bf16.
#[inline]
fn halves(words: __m512i) -> __m512bh {
    // SAFETY: both are 512 bits, and every pattern is a value of either.
    unsafe { std::mem::transmute(words) }
}

kernel!(
    halves,
    "avx512f,avx512bf16",
    wide,
    [1: 4, 2: 4, 3: 4, 4: 4, 5: 4, 6: 4],
    |sum, weights, value| _mm512_castps_si512(_mm512_dpbf16_ps(
        _mm512_castsi512_ps(sum),
        halves(weights),
        halves(value)
    )),
    |sum| _mm512_castsi512_ps(sum)
);

kernel!(
    bytes,
    "avx512f,avx512vnni",
    wide,
    [1: 4, 2: 4, 3: 4, 4: 4, 5: 4, 6: 4],
    |sum, weights, value| _mm512_dpbusd_epi32(sum, value, weights),
    |sum| _mm512_cvtepi32_ps(sum)
);

// What there is before VNNI: its byte products saturate, so bytes come in words of their own.
kernel!(
    shorts,
    "avx512f,avx512bw",
    wide,
    [1: 4, 2: 4, 3: 4, 4: 4, 5: 4, 6: 4],
    |sum, weights, value| _mm512_add_epi32(sum, _mm512_madd_epi16(weights, value)),
    |sum| _mm512_cvtepi32_ps(sum)
);

/// Rounds f32 to bf16 words, two a word.
///
/// # Safety
/// The processor must have the features; `words` has half the length of `values`, a multiple of 16.
#[target_feature(enable = "avx512f,avx512bf16")]
pub(super) unsafe fn to_bf16(values: &[f32], words: &mut [u32]) {
    debug_assert!(values.len() == 2 * words.len() && words.len().is_multiple_of(16));
    for (values, words) in values.chunks_exact(32).zip(words.chunks_exact_mut(16)) {
        // SAFETY: 32 values are read and 16 words written, as long as the chunks are.
        unsafe {
            let low = _mm512_loadu_ps(values.as_ptr());
            let high = _mm512_loadu_ps(values.as_ptr().add(16));
            let both = std::mem::transmute::<__m512bh, __m512i>(_mm512_cvtne2ps_pbh(high, low));
            _mm512_storeu_si512(words.as_mut_ptr().cast(), both);
        }
    }
}

/// Rounds non-negative f32 to 8 bits, four a word, a value of 255 / `per_unit` being the largest.
///
/// # Safety
/// The processor must have the features; `words` has a quarter of the length of `values`, a
/// multiple of 16.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn to_bytes(values: &[f32], per_unit: f32, words: &mut [u32]) {
    debug_assert!(values.len() == 4 * words.len() && values.len().is_multiple_of(16));
    let (per_unit, words) = (_mm512_set1_ps(per_unit), words.as_mut_ptr().cast::<u8>());
    for (index, values) in values.chunks_exact(16).enumerate() {
        // SAFETY: 16 values are read and 16 bytes written, of which `words` has enough.
        unsafe {
            let scaled = _mm512_mul_ps(_mm512_loadu_ps(values.as_ptr()), per_unit);
            // Rounds to nearest, ties to even; too large ones saturate.
            let bytes = _mm512_cvtusepi32_epi8(_mm512_cvtps_epu32(scaled));
            _mm_storeu_si128(words.add(index * 16).cast(), bytes);
        }
    }
}
