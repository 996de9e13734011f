//! Findings: bad or doubtful input, as data.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    Info,
    Warning,
    Error,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

macro_rules! codes {
    ($($severity:ident: $($variant:ident $name:literal)*;)*) => {
        /// What was found. The string form is stable: scripts compare it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $($($variant,)*)* }

        impl Code {
            pub const ALL: &'static [Code] = &[$($(Code::$variant,)*)*];

            pub fn as_str(self) -> &'static str {
                match self { $($(Code::$variant => $name,)*)* }
            }

            pub fn severity(self) -> Severity {
                match self { $($(Code::$variant => Severity::$severity,)*)* }
            }
        }
    };
}

codes! {
    Error:
        TornLine "torn-line" NotJson "not-json" NotAnObject "not-an-object" MissingField "missing-field"
        BadPayload "bad-payload" ConflictingDuplicate "conflicting-duplicate" EditFailed "edit-failed"
        HashMismatch "hash-mismatch" BlobMissing "blob-missing" HandlerTimeout "handler-timeout"
        NotIdempotent "not-idempotent" DriftUnsupportedSuccess "drift-unsupported-success";
    Warning:
        AmbiguousOrder "ambiguous-order" MissingSeq "missing-seq" SeqRegress "seq-regress"
        ParentMissing "parent-missing" ParentLater "parent-later" ChangeOnMissing "change-on-missing"
        CreateOnExisting "create-on-existing" DeleteOnMissing "delete-on-missing"
        UnknownVersion "unknown-version" DriftUnsupportedFailure "drift-unsupported-failure"
        ResultWithoutCall "result-without-call" CallWithoutResult "call-without-result"
        BadField "bad-field" UnknownId "unknown-id";
    Info:
        ClockRegress "clock-regress" UnknownType "unknown-type" DuplicateEvent "duplicate-event"
        GluedLine "glued-line" ForeignLog "foreign-log";
}

/// One finding, at a line of a file of the log set.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    pub code: Code,
    /// One sentence for people.
    pub message: String,
    /// Index into the log set's list of files.
    pub file: u32,
    /// Physical line, from 1.
    pub line: u64,
    pub event_id: Option<String>,
    pub path: Option<String>,
    pub call_id: Option<String>,
    /// Drift: what the dialogue says.
    pub dialogue: Option<String>,
    /// Drift: what the execution says; `Some(None)` prints as null.
    pub execution: Option<Option<String>>,
}

impl Finding {
    pub fn new(code: Code, file: u32, line: u64, message: impl Into<String>) -> Finding {
        Finding {
            code,
            message: message.into(),
            file,
            line,
            event_id: None,
            path: None,
            call_id: None,
            dialogue: None,
            execution: None,
        }
    }
}
