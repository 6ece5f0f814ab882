//! The example catalog, built into the program: it needs neither a network nor a setting.

macro_rules! examples {
    ($($path:literal),* $(,)?) => {
        /// Every file of the example catalog; the same files stand in the repository's own
        /// catalog folders, and a test holds the two together.
        pub const EXAMPLES: &[(&str, &[u8])] = &[$(($path, include_bytes!(concat!("../../", $path)))),*];
    };
}

examples![
    "contracts/design.json",
    "contracts/review.json",
    "flows/Blog_Article.json",
    "flows/Launch_Brief.json",
    "flows/Marketing_Strategy.json",
    "flows/Meeting_Kit.json",
    "flows/Research_Article.json",
    "flows/Research_Digest.flow.md",
    "flows/Support_Reply.flow.md",
    "flows/Weekly_Status.flow.md",
    "flows/engineering/Code_Review.flow.md",
    "flows/engineering/Feature_Development.json",
    "flows/engineering/Folder_Review.json",
    "flows/engineering/Incident_Report.json",
    "flows/engineering/_category.json",
    "personas/architect.md",
    "personas/implementer.md",
    "personas/reviewer.md",
    "templates/Article_Draft.json",
    "templates/Article_Edit.json",
    "templates/Article_Outline.json",
    "templates/Brand_Positioning.json",
    "templates/Campaign_Plan.json",
    "templates/Executive_Summary.md",
    "templates/Extract_Findings.md",
    "templates/Follow_Up_Questions.md",
    "templates/Incident_Review.json",
    "templates/Launch_Brief_Text.json",
    "templates/Launch_Facts.json",
    "templates/Launch_Messages.json",
    "templates/Launch_Risks.json",
    "templates/Review_Clarity.md",
    "templates/Review_Correctness.md",
    "templates/Review_Summary.md",
    "templates/Status_Report.md",
    "templates/Status_Sort.md",
    "templates/Ticket_Reply.md",
    "templates/Ticket_Triage.md",
];

/// Whether the example catalog has a flow of that name.
pub fn is_example(name: &str) -> bool {
    let flows = EXAMPLES.iter().filter(|(path, _)| path.starts_with("flows/"));
    flows.map(|(path, _)| crate::names::file_stem(path)).any(|stem| stem == name)
}
