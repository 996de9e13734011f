//! Typed looks at the members of a payload. A required one that is absent or of a wrong type makes the payload bad;
//! an optional one of a wrong type counts as absent and is said.

use super::Ground;
use crate::blobs;
use crate::tape::{Kind, Val};
use chipdeck_event::{Code, Finding, Id, Json, Text};
use std::borrow::Cow;

/// The payload folds as nothing; the finding was made.
pub(super) struct Bad;

pub(super) type Checked<T> = Result<T, Bad>;

/// The members of an object (the payload, or an item in it) and what is needed to judge them.
pub(super) struct Fields<'a, 'g> {
    object: Val<'a>,
    ground: &'a mut Ground<'g>,
}

/// An integer as JSON writes one: no fraction, no exponent.
pub(super) fn integer(value: Val<'_>) -> Option<i64> {
    (value.kind() == Kind::Number).then(|| value.raw().parse().ok())?
}

impl<'a, 'g> Fields<'a, 'g> {
    pub(super) fn new(object: Val<'a>, ground: &'a mut Ground<'g>) -> Fields<'a, 'g> {
        Fields { object, ground }
    }

    pub(super) fn value(&self, name: &str) -> Option<Val<'a>> {
        self.object.get(name)
    }

    pub(super) fn ground(&mut self) -> &mut Ground<'g> {
        self.ground
    }

    pub(super) fn bad<T>(&mut self, what: impl Into<String>) -> Checked<T> {
        self.ground.find(Code::BadPayload, what);
        Err(Bad)
    }

    fn required<T>(&mut self, name: &str, kind: &str, found: Option<T>) -> Checked<T> {
        match found {
            Some(found) => Ok(found),
            None if self.value(name).is_none() => self.bad(format!("the payload lacks `{name}`")),
            None => self.bad(format!("`{name}` of the payload is no {kind}")),
        }
    }

    fn optional<T>(&mut self, name: &str, kind: &str, found: Option<T>) -> Option<T> {
        if found.is_none() && self.value(name).is_some() {
            self.ground.find(
                Code::BadField,
                format!("`{name}` of the payload is no {kind}: ignored"),
            );
        }
        found
    }

    /// A string that is held in memory; one that lies in a blob is read now.
    fn short(&mut self, name: &str) -> Option<Cow<'a, str>> {
        let value = self.value(name)?;
        if let Some(text) = value.str() {
            return Some(text);
        }
        let sha256 = blobs::reference(value)?;
        let text = self.ground.blob(&sha256);
        crate::text::load_text(&text, self.ground.source).map(|text| Cow::Owned(text.to_string()))
    }

    fn long(&mut self, name: &str) -> Option<Text> {
        let value = self.value(name)?;
        if value.is_string() {
            return Some(self.ground.text(value));
        }
        let sha256 = blobs::reference(value)?;
        Some(self.ground.blob(&sha256))
    }

    pub(super) fn str(&mut self, name: &str) -> Checked<Cow<'a, str>> {
        let found = self.short(name);
        self.required(name, "string", found)
    }

    pub(super) fn opt_str(&mut self, name: &str) -> Option<Cow<'a, str>> {
        let found = self.short(name);
        self.optional(name, "string", found)
    }

    pub(super) fn opt_box(&mut self, name: &str) -> Option<Box<str>> {
        self.opt_str(name).map(|text| text.into())
    }

    pub(super) fn id(&mut self, name: &str) -> Checked<Id> {
        let found = self.str(name)?;
        Ok(self.ground.id(&found))
    }

    pub(super) fn opt_id(&mut self, name: &str) -> Option<Id> {
        let found = self.opt_str(name)?;
        Some(self.ground.id(&found))
    }

    pub(super) fn text(&mut self, name: &str) -> Checked<Text> {
        let found = self.long(name);
        self.required(name, "string", found)
    }

    pub(super) fn opt_text(&mut self, name: &str) -> Option<Text> {
        let found = self.long(name);
        self.optional(name, "string", found)
    }

    pub(super) fn int(&mut self, name: &str) -> Checked<i64> {
        let found = self.value(name).and_then(integer);
        self.required(name, "integer", found)
    }

    pub(super) fn opt_int(&mut self, name: &str) -> Option<i64> {
        let found = self.value(name).and_then(integer);
        self.optional(name, "integer", found)
    }

    pub(super) fn opt_number(&mut self, name: &str) -> Option<()> {
        let found = self
            .value(name)
            .filter(|v| v.kind() == Kind::Number)
            .map(|_| ());
        self.optional(name, "number", found)
    }

    pub(super) fn object(&mut self, name: &str) -> Checked<Val<'a>> {
        let found = self.value(name).filter(|v| v.is_object());
        self.required(name, "object", found)
    }

    pub(super) fn list(&mut self, name: &str) -> Checked<Val<'a>> {
        let found = self.value(name).filter(|v| v.is_array());
        self.required(name, "list", found)
    }

    pub(super) fn opt_list(&mut self, name: &str) -> Option<Val<'a>> {
        let found = self.value(name).filter(|v| v.is_array());
        self.optional(name, "list", found)
    }

    /// Any value, required.
    pub(super) fn any(&mut self, name: &str) -> Checked<Json> {
        let found = self.opt_any(name);
        self.required(name, "value", (found != Json::Absent).then_some(found))
    }

    pub(super) fn opt_any(&mut self, name: &str) -> Json {
        self.value(name)
            .map_or(Json::Absent, |value| self.ground.json(value))
    }

    /// A string of a closed list.
    pub(super) fn one_of<T>(
        &mut self,
        name: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Checked<T> {
        let text = self.str(name)?;
        match parse(&text) {
            Some(found) => Ok(found),
            None => {
                let shown: String = text.chars().take(40).collect();
                self.bad(format!(
                    "`{name}` of the payload is `{shown}`, which the catalogue does not list"
                ))
            }
        }
    }
}

impl Ground<'_> {
    pub(super) fn find(&mut self, code: Code, message: impl Into<String>) {
        let mut finding = Finding::new(code, self.file, self.line, message);
        finding.event_id = Some(self.event_id.to_string());
        self.findings.push(finding);
    }

    pub(super) fn id(&mut self, name: &str) -> Id {
        self.names.get(name)
    }

    fn blob(&mut self, sha256: &str) -> Text {
        let text = self.blobs.text(sha256, self.source);
        if text == Text::Missing {
            self.find(
                Code::BlobMissing,
                format!("the blob {sha256} is missing or has another content"),
            );
        }
        text
    }

    /// A string value of the payload, also inside a list or object of it.
    pub(super) fn text(&self, value: Val<'_>) -> Text {
        self.origin.text(value)
    }

    pub(super) fn text_or_blob(&mut self, value: Val<'_>) -> Option<Text> {
        if value.is_string() {
            return Some(self.text(value));
        }
        let sha256 = blobs::reference(value)?;
        Some(self.blob(&sha256))
    }

    fn json(&self, value: Val<'_>) -> Json {
        self.origin.json(value)
    }
}
