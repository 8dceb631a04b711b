//! The console examples of README.md do what it shows. Those that measure something are only planned, and those that
//! look at what was measured are only read.

use std::path::Path;
use std::process::Command;

use crate::program::{Place, root};

/// A command line of an example, and what it prints.
struct Example {
    command: String,
    output: String,
}

fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    for block in text.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for line in block.lines() {
            match (line.strip_prefix("$ "), examples.last_mut()) {
                (Some(command), _) => {
                    examples.push(Example { command: command.to_owned(), output: String::new() });
                }
                (None, Some(example)) => example.output += &format!("{line}\n"),
                (None, None) => panic!("{line:?} belongs to no command"),
            }
        }
    }
    examples
}

/// What a shell prints on stdout that finds the program by its name.
fn shell(place: &Place, command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_nexmark")).parent().unwrap().display();
    let path = format!("{program}:{}", std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).current_dir(place.path("")).env("PATH", path).env("NO_COLOR", "1");
    let output = shell.output().unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn examples_print_what_is_shown() {
    let examples = examples(&std::fs::read_to_string(root().join("README.md")).unwrap());
    assert!(examples.len() > 6, "{} examples", examples.len());
    let place = Place::new();
    place.write("nexmark-main", b"the build that an example compares with");
    for Example { command, output } in examples {
        let plain = command.replace("cargo run --release --", "nexmark");
        if let Some(file) = command.strip_prefix("cat ") {
            place.write(file, output.as_bytes());
        } else if plain.starts_with("nexmark run ") || plain.starts_with("nexmark bench ") {
            shell(&place, &format!("{plain} --dry-run"));
        } else if ["compare", "report", "history"]
            .iter()
            .any(|name| plain.starts_with(&format!("nexmark {name} ")))
        {
            // There are no results; a flag that does not exist is refused before help is given.
            shell(&place, &format!("{plain} --help"));
        } else {
            assert_eq!(shell(&place, &plain), output, "{command}");
        }
    }
}

#[test]
fn settings_that_are_shown_are_accepted() {
    let page = std::fs::read_to_string(root().join("adapters/flink/README.md")).unwrap();
    let blocks: Vec<&str> =
        page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let place = Place::new();
        place.write("nexmark.toml", block.as_bytes());
        let ran = place.run(&["config", "--config", "nexmark.toml"]);
        let shown = ran.data().lines().filter(|line| line.contains(" nexmark.toml:")).count();
        assert_eq!(shown, block.lines().filter(|line| line.contains(" = ")).count(), "{ran:?}");
    }
}
