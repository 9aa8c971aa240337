//! What the processor can do, and which kernel that means.

use super::pack::Precision;
use super::portable;
use super::tiles::Job;

/// What the processor can do, or may be used for.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub struct Features {
    /// AVX2 and fused multiplication.
    pub avx2: bool,
    /// AVX-512 as every processor since Skylake's servers has it: F, VL, BW, DQ.
    pub avx512: bool,
    /// AVX-512 bfloat16 products.
    pub bf16: bool,
    /// AVX-512 8-bit products.
    pub vnni: bool,
}

impl Features {
    /// What this processor can do.
    pub fn detect() -> Features {
        #[cfg(target_arch = "x86_64")]
        {
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq");
            Features {
                avx2: is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
                avx512,
                bf16: avx512 && is_x86_feature_detected!("avx512bf16"),
                vnni: avx512 && is_x86_feature_detected!("avx512vnni"),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Features::default()
    }

    /// Whether a precision has kernels of its own here: without them it is slower than f32.
    pub fn has(self, precision: Precision) -> bool {
        match precision {
            Precision::F32 => true,
            Precision::Bf16 => self.bf16,
            Precision::Int8 => self.vnni,
        }
    }

    /// The precision of the heads behind a trunk of this one.
    pub(super) fn outer(self, trunk: Precision) -> Precision {
        match trunk {
            Precision::Int8 if self.bf16 => Precision::Bf16,
            Precision::Int8 => Precision::F32,
            same => same,
        }
    }

    /// Runs one convolution.
    #[allow(unsafe_code, reason = "kernels for instructions that were detected")]
    pub(super) fn convolve(self, job: &mut Job<'_>) {
        #[cfg(target_arch = "x86_64")]
        {
            use super::{avx2, avx512};
            // SAFETY: the features were detected, and jobs are made by `Job::new`.
            unsafe {
                match job.packed.precision {
                    Precision::F32 if self.avx512 => return avx512::f32::convolve(job),
                    Precision::Bf16 if self.bf16 => return avx512::bf16::convolve(job),
                    Precision::Int8 if self.vnni => return avx512::int8::convolve(job),
                    Precision::F32 if self.avx2 => return avx2::convolve(job),
                    _ if self.avx2 => return portable::convolve_avx2(job),
                    _ => {}
                }
            }
        }
        portable::convolve(job);
    }

    /// Turns the first values of `input` into `needed` words.
    #[allow(unsafe_code, reason = "kernels for instructions that were detected")]
    pub(super) fn convert(
        self,
        precision: Precision,
        input: &[f32],
        per_unit: f32,
        needed: usize,
        words: &mut [u32],
    ) {
        // Whole vectors: what stands behind the values is there, and of no consequence.
        let words = &mut words[..needed.next_multiple_of(16)];
        let values = words.len() * precision.channels_a_word();
        let input = &input[..values.min(input.len())];
        #[cfg(target_arch = "x86_64")]
        if input.len() == values {
            use super::avx512;
            // SAFETY: the features were detected; the lengths fit.
            unsafe {
                match precision {
                    Precision::Bf16 if self.bf16 => return avx512::to_bf16(input, words),
                    Precision::Int8 if self.avx512 => {
                        return avx512::to_bytes(input, per_unit, words);
                    }
                    _ => {}
                }
            }
        }
        match precision {
            Precision::F32 => {
                for (word, value) in words.iter_mut().zip(input) {
                    *word = value.to_bits();
                }
            }
            Precision::Bf16 => portable::to_bf16(input, words),
            Precision::Int8 => portable::to_bytes(input, per_unit, words),
        }
    }
}
