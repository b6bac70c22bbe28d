//! Times as APIs and records write them.

/// `2026-08-31T17:05:09Z` for seconds since 1970.
pub fn rfc3339(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years that begin with March end with the day that some of them have.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month < 3);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The seconds since 1970 of such a time, in whatever zone; parts of a second are left out.
pub fn seconds(time: &str) -> Option<u64> {
    let (date, rest) = time.split_at_checked(10)?;
    let mut parts = date.split('-').map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(1970..=9999).contains(&year) {
        return None;
    }
    let (clock, zone) = rest.strip_prefix(['T', 't', ' '])?.split_at_checked(8)?;
    let mut parts = clock.split(':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let zone = zone.trim_start_matches(|sign: char| sign == '.' || sign.is_ascii_digit());
    let ahead = match zone {
        "Z" | "z" => 0,
        _ => {
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
            if zone.starts_with('-') { -minutes } else { minutes }
        }
    };
    // Years that begin with March, as above.
    let shifted_year = year - u64::from(month < 3);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let leaps = shifted_year / 4 - shifted_year / 100 + shifted_year / 400;
    let days = (shifted_year * 365 + leaps + day_of_year).checked_sub(719_468)?;
    let local = days * 86_400 + hour * 3_600 + minute * 60 + second;
    local.checked_add_signed(-ahead * 60)
}

#[cfg(test)]
mod tests {
    use super::{rfc3339, seconds};

    #[test]
    fn days_are_counted_over_leap_years() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_798_761_600, "2027-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(seconds), date);
            assert_eq!(super::seconds(date), Some(seconds));
        }
    }

    #[test]
    fn times_are_read_in_any_zone() {
        for (time, expected) in [
            ("2000-02-29T00:00:00.123456Z", Some(951_782_400)),
            ("2000-02-29T02:30:00+02:30", Some(951_782_400)),
            ("2000-02-28 19:00:00-05:00", Some(951_782_400)),
            ("2000-02-29", None),
            ("2000-13-01T00:00:00Z", None),
            ("1969-12-31T23:59:59Z", None),
            ("2000-02-29T00:00:00", None),
            ("ä000-02-29T00:00:00Z", None),
            ("", None),
        ] {
            assert_eq!(seconds(time), expected, "{time}");
        }
    }
}
