//! What tokens cost: a dated table that comes with the program, and what the person's config says instead. Whole numbers
//! only. It reads no file and knows no agent; `costs` applies it.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Deserialize;

use crate::sessions::{SIZES, Size, Tokens};

/// The table that comes with the program; where its prices are from is written in it.
const TABLE: &str = include_str!("prices.json");

/// Prices of one model, millionths of a US dollar per million tokens. A kind without a price is one that nobody is
/// known to bill for it: tokens of that kind have no known cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Rates {
    /// Fresh input.
    pub input: u64,
    /// Output, reasoning included.
    pub output: u64,
    /// Input read from a cache.
    pub cache_read: Option<u64>,
    /// Input written to a cache, with a life of five minutes or none that is told.
    pub cache_write_5m: Option<u64>,
    /// Input written to a cache with a life of one hour.
    pub cache_write_1h: Option<u64>,
}

/// A model's prices at one time, and those for long prompts where the whole request is billed at others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// For a prompt of any length, or up to the bound.
    pub rates: Rates,
    /// The bound, one of [`SIZES`], and the prices above it.
    pub long: Option<(u64, Rates)>,
    /// From when to before when, milliseconds since 1970.
    span: (i64, i64),
}

/// All prices that are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices {
    /// When the table was made, `YYYY-MM-DD`.
    pub date: String,
    /// Each with its prices by time.
    models: BTreeMap<String, Vec<Model>>,
}

#[derive(Deserialize)]
struct Table {
    date: String,
    models: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    #[serde(default)]
    aliases: Vec<String>,
    /// The first day (UTC) of these prices; from ever on without it.
    from: Option<String>,
    /// The first day that they are not those of any more; up to now without it.
    until: Option<String>,
    #[serde(flatten)]
    rates: Rates,
    long_prompt: Option<Long>,
}

#[derive(Deserialize)]
struct Long {
    above: u64,
    #[serde(flatten)]
    rates: Rates,
}

impl Default for Prices {
    /// The table that comes with the program.
    fn default() -> Self {
        // A test reads the same bytes; a program without prices still counts tokens.
        Self::parse(TABLE).unwrap_or_else(|_| Self { date: String::new(), models: BTreeMap::new() })
    }
}

impl Prices {
    fn parse(json: &str) -> Result<Self, String> {
        let table: Table = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let mut models: BTreeMap<String, Vec<Model>> = BTreeMap::new();
        for row in table.models {
            let long = row.long_prompt.map(|long| (long.above, long.rates));
            if let Some((above, _)) = long.filter(|(above, _)| !SIZES.contains(above)) {
                return Err(format!("{}: {above} is no bound that prompts are told apart by", row.id));
            }
            let day = |day: Option<&String>, without: i64| day.map_or(Ok(without), |day| midnight(day));
            let span = (day(row.from.as_ref(), i64::MIN)?, day(row.until.as_ref(), i64::MAX)?);
            for name in row.aliases.into_iter().chain([row.id]) {
                let known = models.entry(name.clone()).or_default();
                if known.iter().any(|other| other.span.0 < span.1 && span.0 < other.span.1) {
                    return Err(format!("{name} has two prices at one time"));
                }
                known.push(Model { rates: row.rates, long, span });
            }
        }
        Ok(Self { date: table.date, models })
    }

    /// Puts the person's price of a model in the place of the table's, for prompts of any length and at any time.
    pub fn set(&mut self, model: &str, rates: Rates) {
        self.models.insert(model.to_owned(), vec![Model { rates, long: None, span: (i64::MIN, i64::MAX) }]);
    }

    /// The prices at one time (milliseconds since 1970) of a model by the id that an agent wrote down; `None` when they are
    /// not known. The id itself is looked
    /// for first, then the one without what only says where or when it is from: `anthropic/`, `[1m]`, `-20250929`.
    /// A name that merely begins like a known one is another model.
    pub fn of(&self, id: &str, at: i64) -> Option<&Model> {
        self.named(id)?.iter().find(|model| (model.span.0..model.span.1).contains(&at))
    }

    fn named(&self, id: &str) -> Option<&Vec<Model>> {
        if let Some(model) = self.models.get(id) {
            return Some(model);
        }
        let plain = id.rsplit('/').next().unwrap_or(id);
        let plain = plain.strip_suffix("[1m]").unwrap_or(plain);
        let plain = plain.strip_suffix("-latest").unwrap_or(plain);
        self.models.get(plain).or_else(|| self.models.get(undated(plain)?))
    }
}

/// Milliseconds since 1970 of the beginning of a day in UTC.
fn midnight(day: &str) -> Result<i64, String> {
    let no_day = |_| format!("{day} is no day");
    let date: Date = day.parse().map_err(no_day)?;
    Ok(TimeZone::UTC.to_timestamp(date.at(0, 0, 0, 0)).map_err(no_day)?.as_millisecond())
}

/// The id without a date at its end: `-20250929`, `@20250929`, `-2025-09-29`.
fn undated(id: &str) -> Option<&str> {
    let ends_with = |shape: &str| {
        let at = id.len().checked_sub(shape.len())?;
        let tail = id.as_bytes().get(at..)?;
        let fits = tail.iter().zip(shape.bytes()).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            b'-' => matches!(byte, b'-' | b'@'),
            _ => false,
        });
        if fits { id.get(..at) } else { None }
    };
    ends_with("-00000000").or_else(|| ends_with("-0000-00-00"))
}

impl Model {
    /// What `tokens` cost, millionths of a US dollar, rounded to the nearest; all their prompts are of `size`. `None` when
    /// a price that is needed is not known: no sum is better than a wrong one (lazyagents.md, Usage).
    pub fn cost(&self, tokens: &Tokens, size: Size) -> Option<u64> {
        let rates = match (self.long, size) {
            (None, _) => self.rates,
            // Which price it was is not known, unless both are the same.
            (Some((_, long)), Size::Unknown) => Some(self.rates).filter(|rates| *rates == long)?,
            (Some((above, long)), Size::Over(over)) => {
                if over >= above {
                    long
                } else {
                    self.rates
                }
            }
        };
        let hour = tokens.cache_write_1h.unwrap_or(0).min(tokens.cache_write);
        let parts = [
            (tokens.input, Some(rates.input)),
            (tokens.cache_read, rates.cache_read),
            (tokens.cache_write - hour, rates.cache_write_5m),
            (hour, rates.cache_write_1h),
            (tokens.output, Some(rates.output)),
        ];
        let mut sum = 0_u128;
        for (count, price) in parts.into_iter().filter(|(count, _)| *count > 0) {
            sum = sum.saturating_add(u128::from(count) * u128::from(price?));
        }
        Some(u64::try_from(sum.saturating_add(500_000) / 1_000_000).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLION: u64 = 1_000_000;
    /// 2026-12-01.
    const NOW: i64 = 1_796_083_200_000;

    #[test]
    fn the_table_is_whole_dated_and_says_where_it_is_from() {
        let prices = Prices::parse(TABLE).unwrap();
        assert!(prices.date.parse::<jiff::civil::Date>().is_ok(), "{}", prices.date);
        assert!(prices.models.len() > 40);
        let whole: serde_json::Value = serde_json::from_str(TABLE).unwrap();
        assert!(whole["sources"].as_array().unwrap().iter().all(|source| source["page"].is_string()));
        for (name, model) in
            prices.models.iter().flat_map(|(name, models)| models.iter().map(move |model| (name, model)))
        {
            let Rates { input, output, cache_read, .. } = model.rates;
            assert!(input > 0 && output >= input && cache_read.unwrap() <= input, "{name}");
            // Somebody mistook dollars for cents, or a thousand tokens for a million.
            assert!((10_000..100 * MILLION).contains(&input), "{name}");
        }
    }

    #[test]
    fn ids_with_a_date_a_provider_or_a_window_are_the_same_model_and_others_are_not() {
        let prices = Prices::default();
        let sonnet = prices.of("claude-sonnet-4-5", NOW).unwrap();
        for id in ["claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5", "claude-sonnet-4-5[1m]"] {
            assert_eq!(prices.of(id, NOW), Some(sonnet), "{id}");
        }
        assert_eq!(prices.of("gpt-5-2025-08-07", NOW), prices.of("gpt-5", NOW));
        assert_eq!(prices.of("models/gemini-2.5-pro", NOW), prices.of("gemini-2.5-pro", NOW));
        for id in
            ["gpt-5.9", "gpt-5-turbo", "claude-sonnet-4-5-fast", "claude", "", "-20250929", "20250929", "é-2025-08-07"]
        {
            assert_eq!(prices.of(id, NOW), None, "{id}");
        }
    }

    #[test]
    fn every_kind_has_its_own_price() {
        // public-reports.md, D7: a million cache reads are not a million of input.
        let opus = *Prices::default().of("claude-opus-4-5", NOW).unwrap();
        let cost = |tokens: Tokens| opus.cost(&tokens, Size::Over(0));
        assert_eq!(cost(Tokens { input: MILLION, ..Tokens::default() }), Some(5 * MILLION));
        assert_eq!(cost(Tokens { cache_read: MILLION, ..Tokens::default() }), Some(MILLION / 2));
        let written = Tokens { cache_write: 2 * MILLION, cache_write_1h: Some(MILLION), ..Tokens::default() };
        assert_eq!(cost(written), Some(6_250_000 + 10 * MILLION));
        assert_eq!(cost(Tokens { output: MILLION, reasoning: Some(MILLION), ..Tokens::default() }), Some(25 * MILLION));
        assert_eq!(cost(Tokens { input: 1, ..Tokens::default() }), Some(5));
    }

    #[test]
    fn a_price_is_that_of_its_time_and_between_known_times_there_is_none() {
        let prices = Prices::default();
        let read = |id: &str, day: &str| prices.of(id, midnight(day).unwrap()).and_then(|model| model.rates.cache_read);
        assert_eq!(read("claude-sonnet-5-5", "2026-10-06"), Some(200_000));
        assert_eq!(read("claude-sonnet-5-5", "2026-10-07"), Some(100_000));
        assert_eq!(read("gpt-5.6", "2026-11-21"), Some(400_000));
        assert_eq!(read("gpt-5.6", "2026-11-22"), None, "nobody has said what came after");
        assert_eq!(read("gpt-6-astra", "2026-09-02"), None);
        let twice = r#"{"date":"2026-12-01","models":[{"id":"a","input":1,"output":1},{"id":"a","from":"2026-01-01","input":1,"output":1}]}"#;
        assert!(Prices::parse(twice).unwrap_err().contains("two prices"));
    }

    #[test]
    fn a_long_prompt_has_its_own_prices_and_one_of_unknown_length_none() {
        let haiku = *Prices::default().of("claude-haiku-5-5", NOW).unwrap();
        let tokens = Tokens { input: MILLION, ..Tokens::default() };
        assert_eq!(haiku.cost(&tokens, Size::Over(0)), Some(100_000));
        assert_eq!(haiku.cost(&tokens, Size::Over(100_000)), Some(500_000));
        assert_eq!(haiku.cost(&tokens, Size::Over(272_000)), Some(500_000));
        assert_eq!(haiku.cost(&tokens, Size::Unknown), None);
        let opus = *Prices::default().of("claude-opus-5", NOW).unwrap();
        assert_eq!(opus.cost(&tokens, Size::Unknown), Some(5 * MILLION));
    }

    #[test]
    fn a_kind_without_a_price_makes_no_sum_and_the_persons_price_wins() {
        let mut prices = Prices::default();
        let written = Tokens { input: 5, cache_write: 1, ..Tokens::default() };
        assert_eq!(prices.of("gemini-2.5-flash", NOW).unwrap().cost(&written, Size::Over(0)), None);
        let own = Rates { input: 2 * MILLION, output: MILLION, ..Rates::default() };
        prices.set("gemini-2.5-flash", own);
        prices.set("local/mine", own);
        let tokens = Tokens { input: MILLION, ..Tokens::default() };
        assert_eq!(prices.of("gemini-2.5-flash", NOW).unwrap().cost(&tokens, Size::Unknown), Some(2 * MILLION));
        assert!(prices.of("local/mine", NOW).is_some() && prices.of("mine", NOW).is_none());
    }

    proptest::proptest! {
        #[test]
        fn no_id_and_no_number_is_a_danger(id in "\\PC{0,40}", counts: [u64; 5], price: u64) {
            let mut prices = Prices::default();
            let _ = prices.of(&id, NOW);
            let own = Rates { input: price, output: price, cache_read: Some(price), cache_write_5m: Some(price), cache_write_1h: Some(price) };
            prices.set(&id, own);
            let [input, cache_read, cache_write, hour, output] = counts;
            let tokens = Tokens { input, cache_read, cache_write, cache_write_1h: Some(hour), output, reasoning: None, requests: 1 };
            let cost = prices.of(&id, NOW).and_then(|model| model.cost(&tokens, Size::Unknown));
            proptest::prop_assert!(cost.is_some());
        }
    }
}
