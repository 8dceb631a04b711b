//! Numbers for people: four digits at most and an SI prefix. Units stand in the header or behind.

use crate::stats::Interval;

const PREFIXES: [&str; 5] = ["", " k", " M", " G", " T"];

/// As in `12.3 M`, `845` or `0.12`.
pub fn si(value: f64) -> String {
    let mut scaled = value;
    let mut prefix = 0;
    // 999.5 rounds to the next prefix.
    while scaled.abs() >= 999.5 && prefix + 1 < PREFIXES.len() {
        scaled /= 1000.0;
        prefix += 1;
    }
    format!("{}{}", digits(scaled, prefix == 0 && value.fract() == 0.0), PREFIXES[prefix])
}

/// Seconds or cores, as in `0.052`, `1.25`, `12.3` or `180`.
pub fn decimal(value: f64) -> String {
    match value.abs() {
        // Below a microsecond the clocks say nothing.
        magnitude if magnitude < 1e-6 => digits(value, value == 0.0),
        magnitude if magnitude < 0.01 => format!("{value:.6}").trim_end_matches('0').to_owned(),
        magnitude if magnitude < 0.1 => format!("{value:.3}"),
        _ => digits(value, false),
    }
}

/// A ratio, as in `0.0132`, `0.987`, `1.052`, `12.3` or `1234`.
pub fn ratio(value: f64) -> String {
    match value.abs() {
        magnitude if magnitude < 0.001 => format!("{value:.1e}"),
        magnitude if magnitude < 0.01 => format!("{value:.5}"),
        magnitude if magnitude < 0.1 => format!("{value:.4}"),
        magnitude if magnitude < 9.9995 => format!("{value:.3}"),
        _ => digits(value, false),
    }
}

/// Both ends of an interval of ratios.
pub fn interval(interval: Interval) -> String {
    format!("{} to {}", ratio(interval.low), ratio(interval.high))
}

/// A share as a percentage, as in `0.3 %`, `4.2 %` or `120 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

fn digits(value: f64, whole: bool) -> String {
    match value.abs() {
        _ if whole => format!("{value:.0}"),
        magnitude if magnitude < 9.995 => format!("{value:.2}"),
        magnitude if magnitude < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (7.0, "7"),
            (845.0, "845"),
            (999.6, "1.00 k"),
            (1000.0, "1.00 k"),
            (12_345_678.0, "12.3 M"),
            (999_999.0, "1.00 M"),
            (1e9, "1.00 G"),
            (5e15, "5000 T"),
            (0.125, "0.12"),
        ] {
            assert_eq!(si(value), text, "{value}");
        }
        let ratios = [0.9874, 1.0, 1.0523, 12.34, 0.0001, 0.01318, 0.001318].map(ratio);
        assert_eq!(ratios, ["0.987", "1.000", "1.052", "12.3", "1.0e-4", "0.0132", "0.00132"]);
        assert_eq!(interval(Interval { low: 0.95, high: 1.2 }), "0.950 to 1.200");
        assert_eq!([0.0, 0.0421, 0.1234, 1.2].map(percent), ["0.0 %", "4.2 %", "12 %", "120 %"]);
        let decimals = [0.0, 0.000442, 0.0052, 0.0523, 1.25, 12.34, 180.4].map(decimal);
        assert_eq!(decimals, ["0", "0.000442", "0.0052", "0.052", "1.25", "12.3", "180"]);
    }
}
