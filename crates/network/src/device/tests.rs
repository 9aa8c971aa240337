#![allow(clippy::unwrap_used)]

use super::*;
use keiko_rules::Rules;
use std::sync::Arc;

fn name(text: &str) -> DeviceName {
    text.parse().unwrap()
}

fn message(text: &str) -> String {
    text.parse::<DeviceName>().unwrap_err().to_string()
}

fn minishogi() -> Encoding {
    Encoding::new(Arc::new(Rules::load("minishogi").unwrap()))
}

#[test]
fn names_are_read_and_written() {
    for (text, full) in [
        ("cpu", "cpu"),
        ("vulkan", "vulkan:0"),
        ("vulkan:0", "vulkan:0"),
        ("metal", "metal:0"),
        ("cuda:3", "cuda:3"),
        ("rocm:12", "rocm:12"),
    ] {
        assert_eq!(name(text).to_string(), full);
        assert_eq!(name(full), name(text));
        assert_eq!(name(text).is_gpu(), text != "cpu");
    }
    assert_eq!(name("cpu"), DeviceName::CPU);
}

#[test]
fn what_is_no_device_is_refused_with_what_was_perhaps_meant() {
    let known = "is no device: those are cpu, vulkan:0, metal:0, cuda:0 and rocm:0";
    assert_eq!(message("gpu"), format!("`gpu` {known}; did you mean `cpu`?"));
    assert_eq!(message("vulcan:1"), format!("`vulcan:1` {known}; did you mean `vulkan`?"));
    assert_eq!(message("tpu-pod:0"), format!("`tpu-pod:0` {known}"));
    for text in ["vulkan:", "vulkan:x", "cuda:-1", "cpu:0", "cuda:0:1"] {
        let expected = format!(
            "`{text}` is no device: a GPU's number follows its kind, as in vulkan:0; cpu has none"
        );
        assert_eq!(message(text), expected);
    }
}

#[test]
fn what_is_not_built_in_is_refused_with_what_is() {
    let missing: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| !kind.is_built()).collect();
    for kind in missing {
        let device = DeviceName { kind, index: 0 };
        let error = device.open().unwrap_err();
        assert_eq!(Err(error.clone()), device.check_built());
        let text = error.to_string();
        let kind = kind.name();
        let begin =
            format!("device = \"{kind}:0\": this program was built without {kind}; it has cpu");
        assert!(text.starts_with(&begin), "{text}");
        assert_eq!(text.contains("it has cpu, vulkan"), cfg!(feature = "vulkan"), "{text}");
    }
}

#[test]
fn this_processor_opens_and_needs_no_test() {
    let cpu = DeviceName::CPU.open().unwrap();
    assert_eq!(cpu, ComputeDevice::cpu());
    assert!(!cpu.is_gpu());
    assert_eq!(cpu.to_string(), "cpu");
    cpu.self_test(&minishogi(), Architecture::plain(16, 1)).unwrap();
}

#[test]
fn a_panic_becomes_its_message() {
    assert_eq!(quietly(|| 7), Ok(7));
    assert_eq!(quietly(|| panic!("no {}", "driver")), Err::<(), _>("no driver".to_owned()));
    assert_eq!(quietly(|| panic!("no driver")), Err::<(), _>("no driver".to_owned()));
    let odd = quietly(|| std::panic::panic_any(7));
    assert_eq!(odd, Err::<(), _>("its driver gives no reason".to_owned()));
}

#[test]
fn answers_that_differ_or_are_no_numbers_are_noticed() {
    let encoding = minishogi();
    let architecture = Architecture::plain(16, 2);
    let weights = made_up_weights(&encoding, architecture);
    let positions = golden::positions(&encoding);
    let exact = Answers::of(&weights, &encoding, &positions);
    let cpu = ComputeDevice::cpu();
    let model = Model::fixed(&encoding, &weights, cpu.tensors());
    for &rows in cpu.passes().iter().chain(GPU_PASSES) {
        let answers = Answers::on(&cpu, &model, &encoding, &positions, rows);
        let difference = answers.relative_difference(&exact);
        assert!(difference < 1e-5, "{rows} rows: {difference}");
    }
    // Answers worth comparing: neither all alike nor all near zero.
    let most = exact.policy.iter().fold(0.0f32, |max, x| max.max(x.abs()));
    assert!(most > 1.0, "{most}");
    let mut other = exact.clone();
    other.policy[7] += 0.01;
    assert!(other.relative_difference(&exact) > TOLERANCE);
    other.wdl[3] = f32::NAN;
    assert!(other.relative_difference(&exact).is_nan());
    assert!(other.difference(&exact).is_nan());
}

#[test]
fn a_failed_self_test_says_by_how_much() {
    let error = DeviceError::Wrong { name: name("cuda:0"), rows: 32, difference: 0.25 };
    let expected = "device = \"cuda:0\": it fails its self-test and is not used: in passes of 32 \
                    its answers to 64 positions differ from this processor's by 2.5e-1; allowed is 1e-3";
    assert_eq!(error.to_string(), expected);
}

#[cfg(feature = "vulkan")]
#[test]
fn a_vulkan_device_passes_its_self_test() {
    let vulkan = name("vulkan:0").open().unwrap();
    assert!(vulkan.is_gpu());
    assert!(vulkan.to_string().starts_with("vulkan:0 ("), "{vulkan}");
    vulkan.self_test(&minishogi(), Architecture::plain(16, 2)).unwrap();
    // Opened a second time it is the same.
    assert_eq!(name("vulkan").open().unwrap(), vulkan);
}

#[cfg(feature = "vulkan")]
#[test]
fn a_vulkan_device_that_is_not_here_is_refused() {
    let text = name("vulkan:99").open().unwrap_err().to_string();
    let begin = "device = \"vulkan:99\": there is no such device: the drivers of this machine show";
    assert!(text.starts_with(begin), "{text}");
}
