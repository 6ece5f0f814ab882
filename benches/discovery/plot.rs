//! The picture: what an answer costs, against how often it holds the right flow; below it, how often a
//! request that nothing fits is answered so.

use std::fmt::Write as _;
use std::path::Path;

/// One way to ask.
pub(crate) struct Point {
    pub(crate) name: String,
    /// What its answer costs on average, in tokens.
    pub(crate) tokens: f64,
    /// How often the answer holds the right flow, from 0 to 1.
    pub(crate) holds: f64,
    /// Whether it is this program's.
    pub(crate) ours: bool,
}

/// One way to ask, for requests that nothing fits.
pub(crate) struct Bar {
    pub(crate) name: String,
    /// How often it says that nothing fits, from 0 to 1.
    pub(crate) says_so: f64,
    /// Whether it is this program's.
    pub(crate) ours: bool,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 430.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 64.0;
/// How high the picture is with so many bars below the points.
fn height(bars: usize) -> f64 {
    HEIGHT + 76.0 + BAR * bars as f64
}
/// How far bars stand apart.
const BAR: f64 = 24.0;
/// Where bars begin, behind their names.
const BARS: f64 = 264.0;
/// How far labels stand apart, at least.
const LINE: f64 = 16.0;
/// Where the upright axis begins: every way finds more than that.
const LOWEST: f64 = 0.8;

/// Writes the picture; it has colours for light and for dark.
pub(crate) fn write(file: &Path, (title, points): (&str, &[Point]), (below, bars): (&str, &[Bar])) {
    let whole = height(bars.len());
    let (least, most) = (100.0_f64.log10(), 100_000.0_f64.log10());
    let x = |tokens: f64| LEFT + (tokens.log10() - least) / (most - least) * (WIDTH - LEFT - RIGHT);
    let y = |share: f64| HEIGHT - BOTTOM - (share - LOWEST) / (1.0 - LOWEST) * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {whole}" width="{WIDTH}" height="{whole}" role="img" aria-labelledby="t">
<title id="t">{title}. {below}</title>
<style>
:root {{ color-scheme: light dark; }}
text {{ font: 13px system-ui, sans-serif; fill: #24292f; }}
.small {{ font-size: 12px; fill: #57606a; }}
.grid {{ stroke: #d0d7de; stroke-width: 1; }}
.lead {{ stroke: #8c959f; stroke-width: 1; }}
.other {{ fill: #57606a; }}
.ours {{ fill: #0969da; }}
text.ours {{ font-weight: 600; }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6edf3; }} .small, .other {{ fill: #9198a1; }} .grid {{ stroke: #3d444d; }} .lead {{ stroke: #656c76; }} .ours {{ fill: #4493f8; }}
}}
</style>
<text x="{LEFT}" y="24">{title}</text>
"#
    );
    for tenth in [0.8, 0.85, 0.9, 0.95, 1.0] {
        let at = y(tenth);
        let _ = writeln!(
            svg,
            r#"<line class="grid" x1="{LEFT}" x2="{:.1}" y1="{at:.1}" y2="{at:.1}"/><text class="small" x="{:.1}" y="{:.1}" text-anchor="end">{:.0} %</text>"#,
            WIDTH - RIGHT,
            LEFT - 8.0,
            at + 4.0,
            tenth * 100.0
        );
    }
    for (tokens, name) in [(100.0, "100"), (1_000.0, "1,000"), (10_000.0, "10,000"), (100_000.0, "100,000")] {
        let at = x(tokens);
        let _ = writeln!(
            svg,
            r#"<line class="grid" x1="{at:.1}" x2="{at:.1}" y1="{TOP}" y2="{:.1}"/><text class="small" x="{at:.1}" y="{:.1}" text-anchor="middle">{name}</text>"#,
            HEIGHT - BOTTOM,
            HEIGHT - BOTTOM + 20.0
        );
    }
    let _ = writeln!(
        svg,
        r#"<text class="small" x="{:.1}" y="{:.1}" text-anchor="middle">tokens of the answer (o200k, logarithmic)</text>"#,
        f64::midpoint(LEFT, WIDTH - RIGHT),
        HEIGHT - 18.0
    );
    // Labels of points that lie close together are moved apart, from the top down.
    let mut order: Vec<&Point> = points.iter().collect();
    order.sort_by(|a, b| b.holds.total_cmp(&a.holds).then(a.tokens.total_cmp(&b.tokens)));
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for point in order {
        let (at, up) = (x(point.tokens), y(point.holds));
        let mut label = up + 4.0;
        while let Some((_, other)) = taken.iter().find(|(x, y)| (x - at).abs() < 30.0 && (y - label).abs() < LINE) {
            label = other + LINE;
        }
        taken.push((at, label));
        let class = if point.ours { "ours" } else { "other" };
        let _ = writeln!(
            svg,
            r#"<line class="lead" x1="{at:.1}" y1="{up:.1}" x2="{:.1}" y2="{:.1}"/><circle class="{class}" cx="{at:.1}" cy="{up:.1}" r="5"/><text class="{class}" x="{:.1}" y="{label:.1}">{} ({:.0} %)</text>"#,
            at + 14.0,
            label - 4.0,
            at + 17.0,
            point.name,
            point.holds * 100.0
        );
    }
    draw_bars(&mut svg, below, bars);
    svg.push_str("</svg>\n");
    std::fs::write(file, svg).unwrap();
}

fn draw_bars(svg: &mut String, title: &str, bars: &[Bar]) {
    let (top, width) = (HEIGHT + 32.0, WIDTH - RIGHT - BARS);
    let end = top + 12.0 + BAR * bars.len() as f64;
    let _ = writeln!(svg, r#"<text x="{LEFT}" y="{top:.1}">{title}</text>"#);
    for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let at = BARS + width * part;
        let _ = writeln!(
            svg,
            r#"<line class="grid" x1="{at:.1}" x2="{at:.1}" y1="{:.1}" y2="{end:.1}"/><text class="small" x="{at:.1}" y="{:.1}" text-anchor="middle">{:.0} %</text>"#,
            top + 12.0,
            end + 20.0,
            part * 100.0
        );
    }
    for (place, bar) in bars.iter().enumerate() {
        let at = top + 20.0 + BAR * place as f64;
        let class = if bar.ours { "ours" } else { "other" };
        let _ = writeln!(
            svg,
            r#"<text class="{class}" x="{:.1}" y="{:.1}" text-anchor="end">{}</text><rect class="{class}" x="{BARS}" y="{at:.1}" width="{:.1}" height="12" rx="2"/><text class="{class}" x="{:.1}" y="{:.1}">{:.0} %</text>"#,
            BARS - 8.0,
            at + 11.0,
            bar.name,
            (width * bar.says_so).max(1.0),
            BARS + width * bar.says_so + 8.0,
            at + 11.0,
            bar.says_so * 100.0
        );
    }
}
