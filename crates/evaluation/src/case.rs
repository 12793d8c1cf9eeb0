//! One line of a file of labelled cases, as what may be looked at and what may not. *No IO.*

use diagnosis::Cause;
use serde::Deserialize;

/// What a verdict may be made of. Labels in the line are skipped unread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseInput {
    /// Its id.
    pub id: String,
    /// What to judge.
    pub material: Material,
}

/// What to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Material {
    /// The text of a log.
    Log(String),
    /// An incident bundle.
    Bundle {
        /// Its directory, relative to the file of cases.
        path: String,
        /// Which replica of it, where that is said.
        subject: Option<String>,
    },
}

/// What is true of a case; read only once its verdict stands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Labels {
    /// Cases of one group come from one source and are not independent.
    #[serde(default)]
    pub group: String,
    /// What killed the node.
    pub cause: Cause,
    /// Whether restoring its data fixed it.
    pub restore_fixes: RestoreFixes,
    /// The lines that show it, where somebody marked them.
    #[serde(default)]
    pub decisive: Vec<DecisiveLabel>,
}

/// Whether restoring the replica's data is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RestoreFixes {
    /// It is.
    Yes,
    /// It is not.
    No,
    /// Nobody knows: hands off is then right, so it counts as no.
    Unknown,
}

/// A line that shows the cause: its number, a part of its text, or an object with one of both.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum DecisiveLabel {
    /// Its number, from 1.
    Number(u64),
    /// A part of its text.
    Text(String),
    /// Both.
    Line {
        /// Its number, from 1.
        line: Option<u64>,
        /// A part of its text.
        text: Option<String>,
    },
}

/// Why a line is no case.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// Not JSON, or not of this shape.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// Neither or both of the two.
    #[error("case {id}: expected either `log` or `bundle`")]
    Material {
        /// The case.
        id: String,
    },
}

impl CaseInput {
    /// Reads what may be looked at.
    pub fn read(line: &[u8]) -> Result<Self, CaseError> {
        #[derive(Deserialize)]
        struct Line {
            id: String,
            log: Option<String>,
            bundle: Option<String>,
            subject: Option<String>,
        }
        let Line { id, log, bundle, subject } = serde_json::from_slice(line)?;
        let material = match (log, bundle) {
            (Some(log), None) => Material::Log(log),
            (None, Some(path)) => Material::Bundle { path, subject },
            _ => return Err(CaseError::Material { id }),
        };
        Ok(Self { id, material })
    }
}

impl Labels {
    /// Reads what is true of a case.
    pub fn read(line: &[u8]) -> Result<Self, CaseError> {
        Ok(serde_json::from_slice(line)?)
    }

    /// Whether restoring its data fixes it.
    #[must_use]
    pub fn is_positive(&self) -> bool {
        self.restore_fixes == RestoreFixes::Yes
    }
}

impl DecisiveLabel {
    /// Whether a line that was shown is the marked one.
    #[must_use]
    pub fn is(&self, line: u64, text: &str) -> bool {
        let (number, part) = match self {
            Self::Number(number) => (Some(*number), None),
            Self::Text(part) => (None, Some(part)),
            Self::Line { line, text } => (*line, text.as_ref()),
        };
        match (number, part) {
            (Some(number), _) => number == line,
            (None, Some(part)) => !part.is_empty() && (text.contains(part.as_str()) || part.contains(text)),
            (None, None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_has_no_labels_and_the_labels_no_input() {
        let line = br#"{"id":"a","group":"g","cause":"oom","restore_fixes":"unknown","log":"x","decisive":[3,"y",{"line":4}]}"#;
        assert_eq!(
            CaseInput::read(line).expect("an input"),
            CaseInput { id: "a".to_owned(), material: Material::Log("x".to_owned()) }
        );
        let labels = Labels::read(line).expect("labels");
        assert_eq!((labels.cause, labels.is_positive(), labels.decisive.len()), (Cause::Oom, false, 3));
    }

    #[test]
    fn a_broken_line_says_what_is_wrong() {
        let error = |line: &[u8]| match CaseInput::read(line).and_then(|_| Labels::read(line)) {
            Ok(labels) => panic!("read: {labels:?}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(error(b"{"), "EOF while parsing an object at line 1 column 1");
        assert_eq!(error(br#"{"id":"a"}"#), "case a: expected either `log` or `bundle`");
        assert_eq!(error(br#"{"id":"a","log":"","bundle":""}"#), "case a: expected either `log` or `bundle`");
        assert_eq!(error(br#"{"id":"a","log":""}"#), "missing field `cause` at line 1 column 19");
        let unknown = error(br#"{"id":"a","log":"","cause":"gremlins","restore_fixes":"no"}"#);
        assert!(unknown.starts_with("`gremlins` is no known cause"), "{unknown}");
    }

    #[test]
    fn a_decisive_line_is_told_by_number_else_by_text() {
        assert!(DecisiveLabel::Number(3).is(3, ""));
        assert!(!DecisiveLabel::Number(3).is(4, ""));
        assert!(DecisiveLabel::Text("checksum".to_owned()).is(9, "panic: checksum mismatch"));
        assert!(!DecisiveLabel::Text(String::new()).is(9, "panic: checksum mismatch"));
        assert!(DecisiveLabel::Line { line: None, text: Some("1:23 panic: x".to_owned()) }.is(9, "panic: x"));
    }
}
