#![allow(clippy::unwrap_used)]

use super::*;
use crate::model::host;
use burn::tensor::module::conv2d;
use burn::tensor::ops::ConvOptions;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const BATCH: usize = 3;
const INPUTS: usize = 8;
const OUTPUTS: usize = 5;

fn random(count: usize, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// `[squares, batch, out]` by the definition.
fn reference(x: &[f32], w: &[f32], files: usize, ranks: usize) -> Vec<f64> {
    let mut y = vec![0.0; files * ranks * BATCH * OUTPUTS];
    for (index, sum) in y.iter_mut().enumerate() {
        let (row, output) = (index / OUTPUTS, index % OUTPUTS);
        let (square, board) = (row / BATCH, row % BATCH);
        for tap in 0..9 {
            let rank = (square / files + tap / 3).wrapping_sub(1);
            let column = (square % files + tap % 3).wrapping_sub(1);
            if rank < ranks && column < files {
                for input in 0..INPUTS {
                    let from = ((rank * files + column) * BATCH + board) * INPUTS + input;
                    let weight = w[(output * INPUTS + input) * 9 + tap];
                    *sum += f64::from(x[from]) * f64::from(weight);
                }
            }
        }
    }
    y
}

#[test]
fn convolutions_equal_their_definition() {
    let device = Device::flex();
    for (files, ranks) in
        [(5, 5), (3, 4), (4, 5), (5, 6), (6, 6), (9, 9), (7, 7), (8, 8), (11, 11), (1, 2)]
    {
        let x = random(files * ranks * BATCH * INPUTS, 1);
        let w = random(OUTPUTS * INPUTS * 9, 2);
        let winograd = Winograd::new(files, ranks, &device);
        let expected = reference(&x, &w, files, ranks);
        let x = Tensor::from_data(TensorData::new(x, [files * ranks, BATCH, INPUTS]), &device);
        let w = Tensor::from_data(TensorData::new(w, [OUTPUTS, INPUTS, 3, 3]), &device);
        let found = host(winograd.convolve(x, winograd.transform_weight(w)));
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            let error = (f64::from(*found) - expected).abs();
            assert!(error < 5e-5, "{files}x{ranks}: {found} is not {expected}");
        }
    }
}

#[test]
fn gradients_equal_those_of_burns_own_convolution() {
    let device = Device::flex().autodiff();
    for (files, ranks) in [(5, 5), (3, 4), (4, 5), (6, 6), (9, 9)] {
        let squares = files * ranks;
        let winograd = Winograd::new(files, ranks, &device);
        let tensor = |values: Vec<f32>, shape: [usize; 3]| {
            Tensor::<3>::from_data(TensorData::new(values, shape), &device)
        };
        let leaf = |values: Vec<f32>, shape: [usize; 4]| {
            Tensor::<4>::from_data(TensorData::new(values, shape), &device).require_grad()
        };
        let x =
            tensor(random(squares * BATCH * INPUTS, 1), [squares, BATCH, INPUTS]).require_grad();
        let w = leaf(random(OUTPUTS * INPUTS * 9, 2), [OUTPUTS, INPUTS, 3, 3]);
        let slope = tensor(random(squares * BATCH * OUTPUTS, 3), [squares, BATCH, OUTPUTS]);
        let ours = winograd.convolve(x.clone(), winograd.transform_weight(w.clone()));
        let ours = (ours * slope.clone()).sum().backward();
        // burn's layout is [batch, channels, height, width].
        let image = x.clone().permute([1, 2, 0]).reshape([BATCH, INPUTS, ranks, files]);
        let options = ConvOptions::new([1, 1], [1, 1], [1, 1], 1);
        let theirs = conv2d(image, w.clone(), None, options);
        let theirs = theirs.reshape([BATCH, OUTPUTS, squares]).permute([2, 0, 1]);
        let theirs = (theirs * slope).sum().backward();
        let pairs = [
            (host(x.grad(&ours).unwrap()), host(x.grad(&theirs).unwrap())),
            (host(w.grad(&ours).unwrap()), host(w.grad(&theirs).unwrap())),
        ];
        for (ours, theirs) in pairs {
            let largest = theirs.iter().fold(0.0f32, |max, x| max.max(x.abs()));
            for (ours, theirs) in ours.iter().zip(theirs) {
                assert!((ours - theirs).abs() < 3e-5 * largest, "{files}x{ranks}: {ours} {theirs}");
            }
        }
    }
}
