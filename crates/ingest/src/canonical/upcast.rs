//! Old payload shapes lifted to today's while they are read; the bytes on disk stay.
//!
//! The catalogue is at version 1 everywhere, so the table is empty. A type that goes to version 2 raises its number
//! in [`super::payload::known_version`] and adds a step here: `("file.change", 1, lift)` makes version 2 of version 1.

use super::payload;
use super::Ground;
use crate::tape::{Tape, Val};
use chipdeck_event::{Code, Payload};

/// One step: the payload's JSON text of a version to that of the next; `None` when it is not of that shape.
pub(super) type Lift = fn(&str) -> Option<String>;

/// (type, from version, step).
pub(super) const STEPS: &[(&str, u32, Lift)] = &[];

/// A payload of an older version, lifted step by step.
pub(super) fn read(
    type_name: &str,
    version: u32,
    old: Val<'_>,
    ground: &mut Ground<'_>,
) -> Payload {
    read_with(
        STEPS,
        payload::known_version(type_name).unwrap_or(1),
        type_name,
        version,
        old,
        ground,
    )
}

fn read_with(
    steps: &[(&str, u32, Lift)],
    known: u32,
    type_name: &str,
    version: u32,
    old: Val<'_>,
    ground: &mut Ground<'_>,
) -> Payload {
    let mut text = old.raw().to_owned();
    for from in version..known {
        let step = steps
            .iter()
            .find(|(name, at, _)| *name == type_name && *at == from);
        match step.and_then(|(_, _, lift)| lift(&text)) {
            Some(lifted) => text = lifted,
            None => {
                ground.find(
                    Code::BadPayload,
                    format!("the payload is not of the shape of version {from}"),
                );
                return Payload::Bad;
            }
        }
    }
    let mut tape = Tape::default();
    if tape.read(&text).is_err() {
        return Payload::Bad;
    }
    // Computed texts have no place in the log.
    ground.origin.line = super::NOWHERE;
    payload::read(type_name, tape.root(&text), ground)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blobs::Blobs;
    use crate::names::Names;
    use crate::source::MemorySource;
    use chipdeck_event::Text;

    #[test]
    fn an_old_shape_is_lifted() {
        let text = r#"{"file":"a","text":"x\n"}"#;
        let mut tape = Tape::default();
        tape.read(text).unwrap();
        let (mut names, mut blobs, source) =
            (Names::default(), Blobs::default(), MemorySource::new());
        let mut findings = Vec::new();
        let mut ground = Ground {
            file: 0,
            line: 1,
            event_id: "e".into(),
            origin: super::super::Lie {
                file: 0,
                line: 0,
                start: 0,
                gaps: &[],
            },
            names: &mut names,
            blobs: &mut blobs,
            source: &source,
            findings: &mut findings,
        };
        let lift: Lift = |old| {
            Some(
                old.replacen("file", "path", 1)
                    .replacen("text", "content", 1),
            )
        };
        let steps: &[(&str, u32, Lift)] = &[("file.create", 1, lift)];
        let lifted = read_with(steps, 2, "file.create", 1, tape.root(text), &mut ground);
        assert_eq!(
            lifted,
            Payload::FileCreate {
                path: "a".into(),
                content: Text::inline("x\n")
            }
        );
        let unknown = read_with(steps, 3, "file.create", 1, tape.root(text), &mut ground);
        assert_eq!(unknown, Payload::Bad);
        assert_eq!(findings.len(), 1);
    }
}
