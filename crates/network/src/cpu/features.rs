//! What the processor can do, and which kernel that means.

use super::pack::{Held, Precision};
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
    /// 8-bit products for 256 bits, AVX-VNNI: newer processors have it that lack AVX-512.
    pub avx_vnni: bool,
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
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            Features {
                avx2,
                avx512,
                bf16: avx512 && is_x86_feature_detected!("avx512bf16"),
                vnni: avx512 && is_x86_feature_detected!("avx512vnni"),
                avx_vnni: avx2 && is_x86_feature_detected!("avxvnni"),
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        Features::default()
    }

    /// Whether a precision has kernels of its own here: without them it is slower than f32. AVX2
    /// alone computes 8 bits exactly and still faster, by widening them.
    pub fn has(self, precision: Precision) -> bool {
        match precision {
            Precision::F32 => true,
            Precision::Bf16 => self.bf16,
            Precision::Int8 => self.avx2 || self.vnni || self.avx_vnni,
        }
    }

    /// How words hold a precision for the kernels that run here.
    pub(super) fn held(self, precision: Precision) -> Held {
        match precision {
            Precision::F32 => Held::Floats,
            Precision::Bf16 => Held::Halves,
            Precision::Int8 if self.avx2 && !self.vnni && !self.avx_vnni => Held::Shorts,
            Precision::Int8 => Held::Bytes,
        }
    }

    /// How words hold numbers in the heads behind a trunk of this precision.
    pub(super) fn outer(self, trunk: Precision) -> Held {
        match trunk {
            Precision::Int8 if self.bf16 => Held::Halves,
            Precision::Int8 => Held::Floats,
            same => self.held(same),
        }
    }

    /// Runs one convolution.
    #[allow(unsafe_code, reason = "kernels for instructions that were detected")]
    pub(super) fn convolve(self, job: &mut Job<'_>) {
        #[cfg(target_arch = "x86_64")]
        {
            use super::{avx2, avx512};
            // SAFETY: the features were detected, jobs are made by `Job::new`, and each kernel
            // reads the words that the job's weights are packed in.
            unsafe {
                match job.packed.held {
                    Held::Floats if self.avx512 => return avx512::floats::convolve(job),
                    Held::Halves if self.bf16 => return avx512::halves::convolve(job),
                    Held::Bytes if self.vnni => return avx512::bytes::convolve(job),
                    Held::Shorts if self.avx512 => return avx512::shorts::convolve(job),
                    Held::Floats if self.avx2 => return avx2::floats::convolve(job),
                    Held::Bytes if self.avx_vnni => return avx2::bytes::convolve(job),
                    Held::Shorts if self.avx2 => return avx2::shorts::convolve(job),
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
        held: Held,
        input: &[f32],
        per_unit: f32,
        needed: usize,
        words: &mut [u32],
    ) {
        // Whole vectors: what stands behind the values is there, and of no consequence.
        let words = &mut words[..needed.next_multiple_of(16)];
        let values = words.len() * held.channels_a_word();
        let input = &input[..values.min(input.len())];
        #[cfg(target_arch = "x86_64")]
        if input.len() == values {
            use super::{avx2, avx512};
            // SAFETY: the features were detected; the lengths fit.
            unsafe {
                match held {
                    Held::Halves if self.bf16 => return avx512::to_bf16(input, words),
                    Held::Bytes if self.avx512 => return avx512::to_bytes(input, per_unit, words),
                    Held::Bytes if self.avx2 => return avx2::to_bytes(input, per_unit, words),
                    Held::Shorts if self.avx2 => return avx2::to_shorts(input, per_unit, words),
                    _ => {}
                }
            }
        }
        match held {
            Held::Floats => {
                for (word, value) in words.iter_mut().zip(input) {
                    *word = value.to_bits();
                }
            }
            Held::Halves => portable::to_bf16(input, words),
            Held::Bytes => portable::to_bytes(input, per_unit, words),
            Held::Shorts => portable::to_shorts(input, per_unit, words),
        }
    }
}
