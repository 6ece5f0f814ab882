//! What was counted, for people: a table of flows with a picture of their last days, and a table of
//! what listings cost.

use std::fmt::Write as _;

use chrono::{Days, NaiveDate};

use super::table::Column;
use super::{HEADING, Look, count, grouped, table, time, whole};
use crate::app::{FlowStats, ListingTotals, ModelStats, Stats, StatsRequest};
use crate::names::{quoted, shown};

/// The longest name, in characters.
const LINE: usize = 300;
/// How many days a picture shows, today last.
const PICTURED: u64 = 14;
/// Bars from low to high.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// How much flows are used, and what listings cost; nothing where nothing was counted.
pub fn stats(stats: &Stats, look: Look) -> String {
    let mut flows = vec![
        whole("flow"),
        whole("uses"),
        whole("success"),
        whole("average"),
        whole("p95").spare(),
        whole("7 days").spare(),
        whole("30 days").spare(),
        whole("score").spare(),
        whole("popularity"),
    ];
    if look.terminal {
        flows.push(whole("last 14 days").spare());
    }
    let models =
        [whole("model"), whole("flow"), whole("answers"), whole("tokens in"), whole("tokens out"), whole("cost")];
    let listings = [
        whole("mode"),
        whole("calls"),
        whole("entries").spare(),
        whole("characters").spare(),
        whole("≈ tokens"),
        whole("≈ tokens each"),
        whole("average").spare(),
        whole("deprecated").spare(),
    ];
    let section = |what: &str, columns: &[Column], rows: Vec<Vec<String>>| {
        (!rows.is_empty()).then(|| heading(what, stats, look) + &table(columns, &rows, 0, look))
    };
    let sections = [
        section("Flows", &flows, stats.flows.iter().map(|flow| row(flow, stats.today, look)).collect()),
        section("Models", &models, stats.models.iter().map(model).collect()),
        section("Listings", &listings, stats.listings.iter().map(listing).collect()),
    ];
    sections.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn heading(what: &str, stats: &Stats, look: Look) -> String {
    let days = stats.days.map(|days| format!(", last {}", of_days(days))).unwrap_or_default();
    format!("{}\n", look.paint(HEADING, &format!("{what} of {}{days}", shown(&stats.source, LINE))))
}

fn row(flow: &FlowStats, today: NaiveDate, look: Look) -> Vec<String> {
    let (usage, score) = (&flow.usage, flow.overall.score());
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
    let mut row = vec![
        shown(&flow.name, LINE),
        grouped(usage.uses),
        or_none(usage.success_rate().map(|rate| format!("{rate} %"))),
        or_none(usage.average().map(time)),
        or_none(usage.p95().map(time)),
        grouped(usage.last_7_days),
        grouped(usage.last_30_days),
        format!("{:.2}", score.value()),
        score.popularity().word().to_owned(),
    ];
    if look.terminal {
        row.push(picture(&flow.by_day, today));
    }
    row
}

fn model(model: &ModelStats) -> Vec<String> {
    vec![
        shown(&model.model, LINE),
        shown(&model.flow, LINE),
        grouped(model.spent.answers),
        grouped(model.spent.input),
        grouped(model.spent.output),
        model.cost.as_ref().map_or_else(|| "–".to_owned(), super::execution::money),
    ]
}

fn listing(listing: &ListingTotals) -> Vec<String> {
    vec![
        shown(&listing.mode, LINE),
        grouped(listing.calls),
        grouped(listing.entries),
        grouped(listing.characters),
        grouped(listing.tokens),
        grouped(listing.tokens.checked_div(listing.calls).unwrap_or(0)),
        time(listing.average()),
        grouped(listing.deprecated),
    ]
}

fn of_days(days: u32) -> String {
    count(usize::try_from(days).unwrap_or(usize::MAX), "day", "days")
}

/// A bar for each of the last days; the highest day is as high as it gets.
fn picture(by_day: &[(NaiveDate, u64)], today: NaiveDate) -> String {
    let uses: Vec<u64> = (0..PICTURED)
        .rev()
        .map(|ago| today.checked_sub_days(Days::new(ago)))
        .map(|day| by_day.iter().find(|(other, _)| Some(*other) == day).map_or(0, |(_, uses)| *uses))
        .collect();
    let most = uses.iter().copied().max().unwrap_or(0).max(1);
    let bar = |uses: u64| match uses {
        0 => '·',
        uses => {
            let place = (u128::from(uses) * 8).div_ceil(u128::from(most));
            usize::try_from(place).ok().and_then(|place| BARS.get(place.saturating_sub(1))).copied().unwrap_or('█')
        }
    };
    uses.into_iter().map(bar).collect()
}

/// What to know about it.
pub fn stats_notes(stats: &Stats, request: &StatsRequest) -> String {
    let source = shown(&stats.source, LINE);
    if !stats.counting {
        return format!("nothing is counted for {source}: counting is switched off by the setting no_usage\n");
    }
    let mut text = String::new();
    if stats.flows.is_empty() {
        let what =
            request.flow.as_ref().map_or_else(|| "no use".to_owned(), |flow| format!("no use of {}", quoted(flow)));
        let days = stats.days.map(|days| format!(" in the last {}", of_days(days)));
        text = format!(
            "{what} was counted for {source}{}: `flowy run NAME`, the executions of MCP clients and finished guided ones count\n",
            days.unwrap_or_default()
        );
    }
    if stats.flows.is_empty() && stats.listings.is_empty() && !stats.others.is_empty() {
        let others: Vec<String> = stats.others.iter().map(|other| shown(other, LINE)).collect();
        let _ = writeln!(text, "counts are kept of {}; --source chooses", others.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_shows_two_weeks_with_today_last() {
        let day = |text: &str| text.parse::<NaiveDate>().unwrap();
        let by_day = [("2025-12-01", 99), ("2025-12-24", 1), ("2026-01-05", 4), ("2026-01-06", 8)];
        let by_day = by_day.map(|(date, uses)| (day(date), uses));
        assert_eq!(picture(&by_day, day("2026-01-06")), "▁···········▄█");
        assert_eq!(picture(&[], day("2026-01-06")), "·".repeat(14));
    }
}
