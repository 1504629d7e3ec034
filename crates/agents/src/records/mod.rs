//! Records of foreign JSON: objects whose values are looked at one by one, so that a wrong one costs itself and not
//! its record. It reads text that it is given and files of lines; it knows no agent and never writes. The rooms below
//! `adapters` call it.

pub(crate) mod book;
pub(crate) mod frame;
pub(crate) mod lines;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::sessions::Tokens;

/// A value that nobody has looked into yet.
pub(crate) type Raw<'a> = &'a RawValue;

/// One JSON object. Nothing in it is read before it is asked for; of a key written twice the last one counts, as in
/// the JavaScript that wrote it. Deep nesting costs nothing: each level is read when it is asked for.
#[derive(Debug, Default)]
pub(crate) struct Record<'a>(Vec<(Cow<'a, str>, Raw<'a>)>);

impl<'a> Record<'a> {
    /// The object that `text` is.
    ///
    /// # Errors
    /// In words for people, without a position, when it is no JSON object.
    pub(crate) fn parse(text: &'a str) -> Result<Self, &'static str> {
        match serde_json::from_str(text) {
            Ok(record) => Ok(record),
            Err(error) if error.is_eof() => Err("a record that ends too early"),
            Err(error) if error.is_data() => Err("not a JSON object"),
            Err(_) => Err("not JSON"),
        }
    }

    /// The value of `key`; `None` for null as for a key that is not there.
    pub(crate) fn raw(&self, key: &str) -> Option<Raw<'a>> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, raw)| *raw).filter(|raw| raw.get() != "null")
    }

    /// Keys and values in the order of the text.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, Raw<'a>)> {
        self.0.iter().map(|(key, raw)| (key.as_ref(), *raw))
    }

    /// The text of `key`; `None` when it is no text.
    pub(crate) fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        self.raw(key).and_then(text)
    }

    /// True when the text of `key` is `value`.
    pub(crate) fn is(&self, key: &str, value: &str) -> bool {
        self.text(key).is_some_and(|text| text == value)
    }

    /// The object of `key`.
    pub(crate) fn object(&self, key: &str) -> Option<Record<'a>> {
        self.raw(key).and_then(object)
    }

    /// The members of the list of `key`; none when it is no list.
    pub(crate) fn list(&self, key: &str) -> Vec<Raw<'a>> {
        self.raw(key).map(list).unwrap_or_default()
    }

    /// The objects in the list of `key`; other members are passed over.
    pub(crate) fn objects(&self, key: &str) -> impl Iterator<Item = Record<'a>> {
        self.list(key).into_iter().filter_map(object)
    }

    /// The count of `key`: 0 where there is no number, [`Tokens::IMPOSSIBLE`] for one that cannot be a count.
    pub(crate) fn count(&self, key: &str) -> u64 {
        self.known_count(key).unwrap_or(0)
    }

    /// As [`Record::count`], but `None` where there is no number.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    pub(crate) fn known_count(&self, key: &str) -> Option<u64> {
        let text = self.raw(key)?.get();
        if let Ok(count) = text.parse() {
            return Some(count);
        }
        // JSON's other ways to write a whole number: 12.0, 1e3.
        let number: f64 = text.parse().ok()?;
        let whole = number >= 0.0 && number.fract() == 0.0 && number < (1_u64 << 53) as f64;
        Some(if whole { number as u64 } else { Tokens::IMPOSSIBLE })
    }

    /// The number of `key`; never infinite and never "not a number".
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        let text = self.raw(key)?.get();
        text.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// The truth of `key`, where it is true or false.
    pub(crate) fn truth(&self, key: &str) -> Option<bool> {
        match self.raw(key)?.get() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The instant of `key`: RFC 3339 text, or a number of milliseconds since 1970. See [`instant`].
    #[allow(clippy::cast_possible_truncation)]
    pub(crate) fn time(&self, key: &str) -> Option<i64> {
        match self.text(key) {
            Some(text) => instant(&text),
            None => self.number(key).map(|number| number as i64).and_then(sane),
        }
    }

    /// A cost of `key` in US dollars, as millionths. `None` for what is not above 0: agents write 0 for what they do
    /// not know.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(crate) fn dollars(&self, key: &str) -> Option<u64> {
        self.number(key).filter(|cost| *cost > 0.0).map(|cost| (cost * 1e6).round() as u64)
    }
}

/// The text of a JSON string. Half of a surrogate pair, which some agents write where they cut a text, becomes
/// U+FFFD.
pub(crate) fn text(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    if !raw.get().starts_with('"') {
        return None;
    }
    serde_json::from_str::<Text<'_>>(raw.get()).ok().map(|text| text.0)
}

/// The object that a value is.
pub(crate) fn object(raw: Raw<'_>) -> Option<Record<'_>> {
    raw.get().starts_with('{').then(|| Record::parse(raw.get()).ok()).flatten()
}

/// The members of the list that a value is.
pub(crate) fn list(raw: Raw<'_>) -> Vec<Raw<'_>> {
    if !raw.get().starts_with('[') {
        return Vec::new();
    }
    serde_json::from_str::<Members<'_>>(raw.get()).map(|members| members.0).unwrap_or_default()
}

/// A value for people: a string's text, anything else as it is written.
pub(crate) fn shown(raw: Raw<'_>) -> String {
    text(raw).map_or_else(|| raw.get().to_owned(), Cow::into_owned)
}

/// Milliseconds since 1970 of a time in RFC 3339. One without a zone is taken as UTC, which is what all agents write.
/// `None` for what is no time or lies before 2000 or after 2200: such a record is one without a time.
pub(crate) fn instant(text: &str) -> Option<i64> {
    let at = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let civil = text.parse::<jiff::civil::DateTime>().ok()?;
        jiff::tz::TimeZone::UTC.to_timestamp(civil).ok()
    })?;
    sane(at.as_millisecond())
}

fn sane(at: i64) -> Option<i64> {
    const YEAR_2000: i64 = 946_684_800_000;
    const YEAR_2200: i64 = 7_258_118_400_000;
    (YEAR_2000..YEAR_2200).contains(&at).then_some(at)
}

struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seen;
        impl<'de> Visitor<'de> for Seen {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(Text(String::from_utf8_lossy(bytes)))
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(String::from_utf8_lossy(bytes).into_owned())))
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        // As bytes: only so does serde_json accept half of a surrogate pair.
        deserializer.deserialize_bytes(Seen)
    }
}

impl<'de> Deserialize<'de> for Record<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seen;
        impl<'de> Visitor<'de> for Seen {
            type Value = Record<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some((Text(key), raw)) = map.next_entry::<Text<'de>, Raw<'de>>()? {
                    entries.push((key, raw));
                }
                Ok(Record(entries))
            }
        }
        deserializer.deserialize_map(Seen)
    }
}

struct Members<'a>(Vec<Raw<'a>>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seen;
        impl<'de> Visitor<'de> for Seen {
            type Value = Members<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(raw) = seq.next_element()? {
                    members.push(raw);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_seq(Seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_value_costs_itself_only() {
        let record = Record::parse(r#"{"a":{"b":1},"n":-3,"f":12.0,"t":"x\ud800y","t2":7,"o":[1,{"k":"v"}],"z":null}"#);
        let record = record.unwrap();
        assert_eq!(record.text("t").unwrap(), "x\u{fffd}\u{fffd}\u{fffd}y");
        assert_eq!(record.text("t2"), None);
        assert_eq!((record.count("n"), record.count("f"), record.known_count("a")), (Tokens::IMPOSSIBLE, 12, None));
        assert_eq!(record.objects("o").filter(|o| o.is("k", "v")).count(), 1);
        assert!(record.raw("z").is_none() && record.object("t").is_none() && record.list("a").is_empty());
    }

    #[test]
    fn of_a_key_written_twice_the_last_counts_and_depth_is_no_danger() {
        assert_eq!(Record::parse(r#"{"a":1,"a":2}"#).unwrap().count("a"), 2);
        let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(list(Record::parse(&deep).unwrap().raw("a").unwrap()).len(), 1);
    }

    #[test]
    fn what_is_no_time_is_none() {
        assert_eq!(instant("2026-11-30T20:12:45.010Z"), Some(1_796_069_565_010));
        assert_eq!(instant("2026-11-30T22:12:45.010+02:00"), Some(1_796_069_565_010));
        assert_eq!(instant("2026-11-30T20:12:45.010"), Some(1_796_069_565_010));
        assert_eq!([instant(""), instant("yesterday"), instant("9999-01-01T00:00:00Z")], [None; 3]);
    }

    #[test]
    fn says_what_is_wrong_with_a_line() {
        assert_eq!(Record::parse("{\"a\":").unwrap_err(), "a record that ends too early");
        assert_eq!(Record::parse("[1]").unwrap_err(), "not a JSON object");
        assert_eq!(Record::parse("hello").unwrap_err(), "not JSON");
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_a_danger(text in "\\PC{0,200}") {
            if let Ok(record) = Record::parse(&text) {
                for (key, raw) in record.entries() {
                    let _ = (record.time(key), record.dollars(key), record.known_count(key), shown(raw), list(raw));
                }
            }
        }
    }
}
