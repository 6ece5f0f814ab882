//! A flow as a page that stands alone: its picture, and beside it what each node reads, says and gives.
//!
//! The page loads nothing. Its one script moves the picture and says which node is told of; without it
//! everything is there, one below the other.

use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use sha2::{Digest as _, Sha256};

use super::drawing::Drawing;
use super::svg::Use;
use super::told::{overview, told};
use super::{LONGEST_LABEL, Picture};
use crate::names::shown;
use crate::report::markup::{HtmlText, page};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

impl Picture<'_> {
    /// The graph as a page.
    pub fn html(&self) -> String {
        let hash = BASE64_STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
        let mut out = page(&format!("{} – flow", shown(self.flow.name.as_str(), 200)), STYLE, Some(&hash));
        let _ = writeln!(out, "<header>\n<h1>{}</h1>", HtmlText(&shown(self.flow.name.as_str(), 200)));
        if let Some(description) = &self.flow.description {
            let _ = writeln!(out, "<p class=\"task\">{}</p>", HtmlText(description));
        }
        let facts: Vec<String> = std::iter::once(self.facts()).chain(self.went()).collect();
        let _ = writeln!(out, "<p class=\"counts\">{}</p>\n</header>", HtmlText(&facts.join(" – ")));
        let drawing = Drawing::of(self);
        let name = shown(self.flow.name.as_str(), LONGEST_LABEL);
        let _ = writeln!(
            out,
            "<main>\n<section class=\"canvas\" aria-label=\"Picture of {}\">\n<div class=\"stage\">\n<div class=\"view\" tabindex=\"0\" aria-label=\"Drag to \
             move; Ctrl and the wheel, + and - zoom; arrows lead from step to step\">\n{}</div>\n<div class=\"tools\"><button \
             type=\"button\" data-do=\"out\" aria-label=\"Zoom out\">−</button><button type=\"button\" data-do=\"in\" \
             aria-label=\"Zoom in\">+</button><button type=\"button\" data-do=\"fit\">Fit</button></div>\n</div>\n<p class=\"legend\">{}</p>\n\
             </section>\n<aside class=\"told\" aria-live=\"polite\">",
            HtmlText(&name),
            self.drawn(&drawing, Use::InPage),
            drawing.legend()
        );
        overview(&mut out, self);
        told(&mut out, self, "", "");
        // No text of the catalog is in the script, so that its hash is the same for all flows.
        let _ = write!(out, "</aside>\n</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n");
        out
    }
}
