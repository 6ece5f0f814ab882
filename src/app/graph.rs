//! A flow's graph and its inputs: what `graph` and `schema` print.

use std::sync::Arc;

use crate::app::{App, Error, Origin, Prepared, ShowRequest};

impl App {
    /// The flow whose graph is to be drawn, also one that can't be executed, and where it comes from.
    ///
    /// # Errors
    /// When it isn't there.
    pub async fn graph(&self, request: &ShowRequest) -> Result<(Arc<Prepared>, Origin), Error> {
        let catalog = self.catalog(request.git_ref.as_deref(), request.refresh).await?;
        let prepared = catalog.prepare(&request.name).await?;
        let origin = catalog.origin_of(&prepared, &request.name);
        Ok((prepared, origin))
    }

    /// The flow whose inputs are to be described, which must have a plan, and where it comes from.
    ///
    /// # Errors
    /// When it isn't there or can't be executed.
    pub async fn inputs(&self, request: &ShowRequest) -> Result<(Arc<Prepared>, Origin), Error> {
        let (prepared, origin) = self.graph(request).await?;
        prepared.plan()?;
        Ok((prepared, origin))
    }
}
