//! `check` says what it found, and exits by it.

use crate::program::Place;

#[test]
fn the_embedded_engine_is_always_there() {
    let ran = Place::new().run(&["check"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{ran:?}");
    let version = format!("native {}", env!("CARGO_PKG_VERSION"));
    assert!(ran.stdout.contains(&version), "{ran:?}");
    assert!(ran.stdout.contains("threads of this program whose name begins with"), "{ran:?}");
}
