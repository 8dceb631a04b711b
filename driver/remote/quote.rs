//! Text for a shell.

/// The word as a shell reads it back.
pub fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=./,:+@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The words as a shell reads them back.
pub(super) fn joined<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_shell_reads_the_same_words(words in proptest::collection::vec("[^\0]{0,12}", 1..4)) {
            let text = joined(words.iter().map(String::as_str));
            let output = Command::new("sh").arg("-c").arg(format!("printf '%s\\0' {text}")).output().unwrap();
            let expected: String = words.iter().map(|word| format!("{word}\0")).collect();
            prop_assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
        }
    }
}
