//! Paths in files of ours: as text, and where they are no UTF-8 with their bytes beside the words. For serde's `with`.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Bytes { shown: String, bytes: Vec<u8> },
}

pub(super) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => Form::Text(text.to_owned()),
        None => Form::Bytes {
            shown: path.to_string_lossy().into_owned(),
            bytes: path.as_os_str().as_encoded_bytes().to_vec(),
        },
    }
    .serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    Ok(match Form::deserialize(from)? {
        Form::Text(text) => text.into(),
        #[cfg(unix)]
        Form::Bytes { bytes, .. } => {
            PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes))
        }
        #[cfg(not(unix))]
        Form::Bytes { shown, .. } => shown.into(),
    })
}
