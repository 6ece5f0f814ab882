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
    "flows/Research_Digest.json",
    "flows/Support_Reply.json",
    "flows/Weekly_Status.json",
    "flows/engineering/Code_Review.json",
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
    "templates/Executive_Summary.json",
    "templates/Extract_Findings.json",
    "templates/Follow_Up_Questions.json",
    "templates/Incident_Review.json",
    "templates/Launch_Brief_Text.json",
    "templates/Launch_Facts.json",
    "templates/Launch_Messages.json",
    "templates/Launch_Risks.json",
    "templates/Review_Clarity.json",
    "templates/Review_Correctness.json",
    "templates/Review_Summary.json",
    "templates/Status_Report.json",
    "templates/Status_Sort.json",
    "templates/Ticket_Reply.json",
    "templates/Ticket_Triage.json",
];
