//! Credentials come from the environment or from a file that only its owner may read, so that they are on no command line, in
//! no configuration file and in no result.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use nexmark_driver::credentials::private_text;
use nexmark_driver::engine::EngineError;
use reqwest::header::HeaderValue;

/// The variable that holds them.
const VARIABLE: &str = "NEXMARK_FLINK_CREDENTIALS";
/// Where they belong, for messages.
pub(crate) const WHERE: &str = "credentials are taken from the environment variable NEXMARK_FLINK_CREDENTIALS or from a file of \
    mode 0600 that credentials.file names: user:password, or \"Bearer TOKEN\"";

/// The header that carries them; the file is asked first.
pub(crate) fn authorization(file: &str) -> Result<Option<HeaderValue>, EngineError> {
    if !file.is_empty() {
        let text = private_text(Path::new(file)).map_err(EngineError::new)?;
        return header(&text, file).map(Some);
    }
    match std::env::var(VARIABLE) {
        Ok(text) if !text.is_empty() => header(&text, VARIABLE).map(Some),
        Err(std::env::VarError::NotUnicode(_)) => Err(EngineError::new(format!("{VARIABLE} is not UTF-8"))),
        Ok(_) | Err(std::env::VarError::NotPresent) => Ok(None),
    }
}

/// The text itself is in no message.
fn header(text: &str, from: &str) -> Result<HeaderValue, EngineError> {
    let text = text.trim();
    let value = match text.strip_prefix("Bearer ") {
        Some(token) if !token.trim().is_empty() => format!("Bearer {}", token.trim()),
        None if text.contains(':') => format!("Basic {}", STANDARD.encode(text)),
        _ => {
            return Err(EngineError::new(format!("{from} holds no credentials; {WHERE}")));
        }
    };
    HeaderValue::from_str(&value)
        .map_err(|_bad| EngineError::new(format!("{from} holds a character that no header may have")))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "Aladdin:open sesame").unwrap();
        let path = file.path().to_str().unwrap();
        let set = |mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        set(0o600);
        assert_eq!(authorization(path).unwrap().unwrap(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        set(0o640);
        let message = authorization(path).unwrap_err().message;
        assert!(message.contains("mode 0640") && message.contains("0600"), "{message}");
        assert!(!message.contains("sesame"), "{message}");
    }

    #[test]
    fn text_is_a_pair_or_a_token_and_is_never_shown() {
        assert_eq!(header(" Bearer a.b \n", "x").unwrap(), "Bearer a.b");
        for bad in ["", "sesame", "Bearer ", "Bearer sesame\u{7}"] {
            let message = header(bad, "the file").unwrap_err().message;
            assert!(message.starts_with("the file holds") && !message.contains("sesame"), "{message}");
        }
        assert!(authorization("/no/such/file").unwrap_err().message.contains("/no/such/file"));
    }
}
