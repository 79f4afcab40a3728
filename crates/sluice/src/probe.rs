//! Looks for model servers on this machine, by asking their usual ports for their models.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use serde::Deserialize;
use sluice_providers::call::read_whole;
use sluice_providers::transport::HttpUpstream;
use sluice_providers::upstream::Upstream;

use crate::config::{LocalServer, local_candidates};

/// How long a server on this machine may take to list its models.
const PATIENCE: Duration = Duration::from_millis(500);

#[derive(Deserialize)]
struct ModelList {
    data: Vec<ListedModel>,
}

#[derive(Deserialize)]
struct ListedModel {
    id: String,
}

/// The servers that answered with a list of models.
pub(crate) async fn local_servers(own_ports: &[u16]) -> Vec<LocalServer> {
    let upstream = HttpUpstream::new(PATIENCE);
    let mut found = Vec::new();
    for candidate in local_candidates(own_ports) {
        let models = tokio::time::timeout(PATIENCE, models(&upstream, &candidate.probe_url)).await;
        if let Ok(Some(models)) = models {
            found.push(LocalServer { kind: candidate.kind.to_owned(), models });
        }
    }
    found
}

async fn models(upstream: &HttpUpstream, url: &str) -> Option<Vec<String>> {
    let request = Request::get(url).body(Bytes::new()).ok()?;
    let response = upstream.send(request).await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let body = read_whole(response.into_body(), 4 << 20).await.ok()?;
    let list: ModelList = serde_json::from_slice(&body).ok()?;
    Some(list.data.into_iter().map(|model| model.id).collect())
}
