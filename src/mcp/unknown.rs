//! What is asked for and isn't there: every unknown method is answered with what there is.

use std::borrow::Cow;

use rmcp::model::{ErrorCode, ProtocolVersion};
use rmcp::service::{NotificationContext, RequestContext, Service, ServiceRole};
use rmcp::{ErrorData, RoleServer};

use super::server::McpServer;

/// The server, with words for what it lacks: rmcp's own error is the bare name of the method.
pub(super) struct Named(pub(super) McpServer);

impl Service<RoleServer> for Named {
    async fn handle_request(
        &self,
        request: <RoleServer as ServiceRole>::PeerReq,
        context: RequestContext<RoleServer>,
    ) -> Result<<RoleServer as ServiceRole>::Resp, ErrorData> {
        let answer = Service::handle_request(&self.0, request, context).await;
        answer.map_err(|error| match error.code {
            ErrorCode::METHOD_NOT_FOUND => self.0.unknown_method(&error.message),
            _ => error,
        })
    }

    async fn handle_notification(
        &self,
        notification: <RoleServer as ServiceRole>::PeerNot,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.0, notification, context).await
    }

    fn get_info(&self) -> <RoleServer as ServiceRole>::Info {
        Service::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Service::supported_protocol_versions(&self.0)
    }
}
