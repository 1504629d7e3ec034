//! Numbers, sizes and times as people read them (design "screens": `3 min`, `yesterday`, then the date). It never
//! reads the clock or the time zone: callers give the times. Anyone who draws or prints calls it.

use std::time::{Duration, SystemTime};

/// A count with three digits at most: "950", "12.3k", "1.24M"; then G, T, P and E.
pub fn count(number: u64) -> String {
    if number < 1000 {
        return number.to_string();
    }
    let (digits, unit) = scaled(number, 1000, &["k", "M", "G", "T", "P", "E"]);
    format!("{digits}{unit}")
}

/// A size in bytes, in powers of 1024 and with three digits at most: "950 B", "1.4 MiB".
pub fn bytes(number: u64) -> String {
    if number < 1024 {
        return format!("{number} B");
    }
    let (digits, unit) = scaled(number, 1024, &["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]);
    format!("{digits} {unit}")
}

/// A time span with its one or two largest units, rounded down: "250 ms", "12 s", "3 min", "1 h 5 min", "2 d 3 h".
pub fn duration(span: Duration) -> String {
    let seconds = span.as_secs();
    let two = |large: u64, large_unit: &str, small: u64, small_unit: &str| match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    };
    match seconds {
        0 => format!("{} ms", span.subsec_millis()),
        1..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => two(seconds / 3600, "h", seconds / 60 % 60, "min"),
        _ => two(seconds / 86_400, "d", seconds / 3600 % 24, "h"),
    }
}

/// How long before `now` something was: "just now" (also for what lies ahead by less than a day, since clocks
/// differ), "3 min", "2 h", "yesterday" (24 to 48 hours), then the date as `YYYY-MM-DD` in UTC.
pub fn ago(then: SystemTime, now: SystemTime) -> String {
    const DAY: u64 = 86_400;
    let (seconds, ahead) = match now.duration_since(then) {
        Ok(past) => (past.as_secs(), false),
        Err(error) => (error.duration().as_secs(), true),
    };
    match seconds {
        0..60 => "just now".to_owned(),
        60..DAY if ahead => "just now".to_owned(),
        60..3600 => format!("{} min", seconds / 60),
        3600..DAY => format!("{} h", seconds / 3600),
        DAY..172_800 if !ahead => "yesterday".to_owned(),
        _ => date(then),
    }
}

/// `YYYY-MM-DD` in UTC; "unknown" for a time no calendar holds.
pub fn date(time: SystemTime) -> String {
    match jiff::Timestamp::try_from(time) {
        Ok(stamp) => stamp.strftime("%Y-%m-%d").to_string(),
        Err(_) => "unknown".to_owned(),
    }
}

/// `number` (at least `base`) in the largest unit that keeps it below 1000, rounded to three digits.
fn scaled(number: u64, base: u128, units: &[&'static str]) -> (String, &'static str) {
    let number = u128::from(number);
    let mut one = base;
    let mut units = units.iter().copied();
    let mut unit = units.next().unwrap_or_default();
    loop {
        // Hundredths for one digit before the point, tenths for two, ones for three.
        for (factor, limit) in [(100, 1000), (10, 1000), (1, 1000)] {
            let digits = (number * factor + one / 2) / one;
            if digits < limit {
                return (decimal(digits, factor), unit);
            }
        }
        match units.next() {
            Some(next) => (one, unit) = (one * base, next),
            None => return (decimal(number / one, 1), unit),
        }
    }
}

/// `digits / factor` without zeros at the end of the fraction.
fn decimal(digits: u128, factor: u128) -> String {
    let (whole, part) = (digits / factor, digits % factor);
    match factor {
        _ if part == 0 => whole.to_string(),
        100 if part % 10 == 0 => format!("{whole}.{}", part / 10),
        100 => format!("{whole}.{part:02}"),
        _ => format!("{whole}.{part}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_three_digits() {
        let table = [
            (0, "0"),
            (950, "950"),
            (999, "999"),
            (1000, "1k"),
            (1234, "1.23k"),
            (9_996, "10k"),
            (12_345, "12.3k"),
            (999_499, "999k"),
            (999_500, "1M"),
            (1_240_000, "1.24M"),
            (5_000_000_000, "5G"),
            (u64::MAX, "18.4E"),
        ];
        for (number, shown) in table {
            assert_eq!(count(number), shown);
        }
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        let table = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1_468_006, "1.4 MiB"),
            (1_023 * 1024, "1 MiB"),
            (u64::MAX, "16 EiB"),
        ];
        for (number, shown) in table {
            assert_eq!(bytes(number), shown);
        }
    }

    #[test]
    fn spans_show_their_largest_units() {
        let table = [
            (0, "0 ms"),
            (250, "250 ms"),
            (12_900, "12 s"),
            (180_000, "3 min"),
            (3_600_000, "1 h"),
            (3_900_000, "1 h 5 min"),
            (183_600_000, "2 d 3 h"),
        ];
        for (milliseconds, shown) in table {
            assert_eq!(duration(Duration::from_millis(milliseconds)), shown);
        }
    }

    #[test]
    fn past_times_become_dates() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_772_366_400);
        let table = [
            (0, "just now"),
            (59, "just now"),
            (200, "3 min"),
            (7_200, "2 h"),
            (86_400, "yesterday"),
            (172_800, "2026-02-27"),
            (1_772_366_400, "1970-01-01"),
        ];
        for (seconds, shown) in table {
            assert_eq!(ago(now - Duration::from_secs(seconds), now), shown);
        }
        assert_eq!(ago(now + Duration::from_secs(300), now), "just now");
        assert_eq!(ago(now + Duration::from_secs(200_000), now), "2026-03-03");
    }
}
