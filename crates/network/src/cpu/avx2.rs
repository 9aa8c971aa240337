//! The kernels for AVX2 with fused multiplication, and its conversions. Its sixteen registers
//! hold the sums of three squares times 32 outputs, or of six times 16.

use super::pack::LARGEST_ACTIVATION;
use super::walk::{kernel, tap};
use std::arch::x86_64::*;

/// The instructions of 256 bits.
mod wide {
    pub(super) use std::arch::x86_64::{
        _mm256_add_ps as add, _mm256_fmadd_ps as multiply_add, _mm256_load_si256 as load,
        _mm256_loadu_ps as load_floats, _mm256_max_ps as max, _mm256_set1_epi32 as spread,
        _mm256_setzero_ps as zero_floats, _mm256_setzero_si256 as zero,
        _mm256_storeu_ps as store_floats,
    };
    /// Outputs of a vector.
    pub(super) const WIDTH: usize = 8;
}

kernel!(
    floats,
    "avx2,fma",
    wide,
    [1: 4, 2: 4, 3: 4, 4: 2, 5: 2, 6: 2],
    |sum, weights, value| _mm256_castps_si256(_mm256_fmadd_ps(
        _mm256_castsi256_ps(weights),
        _mm256_castsi256_ps(value),
        _mm256_castsi256_ps(sum)
    )),
    |sum| _mm256_castsi256_ps(sum)
);

// Bytes come widened, because the instruction that multiplies bytes saturates its sums. Sixteen
// outputs at a time, so that a register is left for the products.
kernel!(
    shorts,
    "avx2,fma",
    wide,
    [1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2],
    |sum, weights, value| _mm256_add_epi32(sum, _mm256_madd_epi16(weights, value)),
    |sum| _mm256_cvtepi32_ps(sum)
);

/// A kernel of bytes, by the instruction that multiplies them.
macro_rules! bytes {
    ($name:ident, $features:literal, $dot:ident) => {
        kernel!(
            $name,
            $features,
            wide,
            [1: 4, 2: 4, 3: 4, 4: 2, 5: 2, 6: 2],
            |sum, weights, value| $dot(sum, value, weights),
            |sum| _mm256_cvtepi32_ps(sum)
        );
    };
}

bytes!(bytes, "avx2,fma,avxvnni", _mm256_dpbusd_avx_epi32);
// The same instruction as AVX-512 spells it, to test the kernel on processors without AVX-VNNI.
#[cfg(test)]
bytes!(bytes_of_avx512, "avx2,fma,avx512vl,avx512vnni", _mm256_dpbusd_epi32);

/// Eight values as whole numbers from 0 to 255, rounded to nearest, ties to even.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn whole(values: *const f32, per_unit: __m256) -> __m256i {
    // SAFETY: the caller has eight values there.
    let scaled = _mm256_mul_ps(unsafe { _mm256_loadu_ps(values) }, per_unit);
    _mm256_cvtps_epi32(_mm256_min_ps(scaled, _mm256_set1_ps(LARGEST_ACTIVATION)))
}

/// Rounds non-negative f32 to 8 bits, four a word, a value of 255 / `per_unit` being the largest.
///
/// # Safety
/// The processor must have AVX2; `words` has a quarter of the length of `values`, a multiple of 8.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn to_bytes(values: &[f32], per_unit: f32, words: &mut [u32]) {
    debug_assert!(values.len() == 4 * words.len() && words.len().is_multiple_of(8));
    let per_unit = _mm256_set1_ps(per_unit);
    // Packing works on each half of a vector: this puts the groups of four in order.
    let order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (values, words) in values.chunks_exact(32).zip(words.chunks_exact_mut(8)) {
        // SAFETY: 32 values are read and 8 words written, as long as the chunks are.
        unsafe {
            let four = [0, 8, 16, 24].map(|at| whole(values.as_ptr().add(at), per_unit));
            let low = _mm256_packus_epi32(four[0], four[1]);
            let high = _mm256_packus_epi32(four[2], four[3]);
            let bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
            _mm256_storeu_si256(words.as_mut_ptr().cast(), bytes);
        }
    }
}

/// The same 8 bits, two a word.
///
/// # Safety
/// The processor must have AVX2; `words` has half the length of `values`, a multiple of 8.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn to_shorts(values: &[f32], per_unit: f32, words: &mut [u32]) {
    debug_assert!(values.len() == 2 * words.len() && words.len().is_multiple_of(8));
    let per_unit = _mm256_set1_ps(per_unit);
    for (values, words) in values.chunks_exact(16).zip(words.chunks_exact_mut(8)) {
        // SAFETY: 16 values are read and 8 words written, as long as the chunks are.
        unsafe {
            let two = [0, 8].map(|at| whole(values.as_ptr().add(at), per_unit));
            // Packing works on each half of a vector: this puts the groups of four in order.
            let order = _mm256_permute4x64_epi64::<0b11_01_10_00>;
            let shorts = order(_mm256_packus_epi32(two[0], two[1]));
            _mm256_storeu_si256(words.as_mut_ptr().cast(), shorts);
        }
    }
}
