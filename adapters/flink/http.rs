//! Requests over HTTP and HTTPS.

use std::error::Error as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use nexmark_driver::config::Settings;
use nexmark_driver::engine::EngineError;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::multipart::{Form, Part};
use reqwest::{Certificate, Client, ClientBuilder, Url};

use crate::credentials;
use crate::transport::{Body, Method, NoReply, Reply, Request, Transport};

/// How a browser would call a jar.
const JAR_TYPE: &str = "application/x-java-archive";
/// Headers that hold secrets, which a configuration file may not.
const SECRET: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

/// A cluster's REST interface.
pub(crate) struct Http {
    client: Client,
    address: String,
}

impl Http {
    /// Reads address, certificate, headers and credentials from an engine's section; reaches no network.
    pub(crate) fn new(settings: &Settings) -> Result<Self, EngineError> {
        let address = address(settings.text("address"))?;
        let builder = client().connect_timeout(settings.duration("deadline.connect"));
        let builder = builder.default_headers(headers(settings)?);
        let builder = match settings.text("ca.file") {
            "" => builder,
            file => builder.tls_certs_merge(certificates(Path::new(file))?),
        };
        let client = builder.build().map_err(|error| {
            EngineError::new(format!("cannot make a client for {address}: {}", causes(&error)))
        })?;
        Ok(Self { client, address })
    }
}

/// A client that goes straight to where it is sent.
pub(crate) fn client() -> ClientBuilder {
    // A second one in the same process finds the provider installed, which is as good.
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder().no_proxy()
}

#[async_trait]
impl Transport for Http {
    async fn send(&self, request: &Request) -> Result<Reply, NoReply> {
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Patch => reqwest::Method::PATCH,
            Method::Delete => reqwest::Method::DELETE,
        };
        let url = format!("{}{}", self.address, request.path);
        let builder = self.client.request(method, url).timeout(request.limit);
        let no_reply = |error| no_reply(&error, request.limit);
        let builder = match &request.body {
            Body::Empty => builder,
            Body::Json(value) => builder.header("content-type", "application/json").body(value.to_string()),
            Body::File { name, bytes } => {
                let part = Part::bytes(bytes.clone()).file_name(name.clone());
                builder.multipart(Form::new().part("jarfile", part.mime_str(JAR_TYPE).map_err(no_reply)?))
            }
        };
        let response = builder.send().await.map_err(no_reply)?;
        let status = response.status().as_u16();
        let body = response.bytes().await.map_err(no_reply)?;
        Ok(Reply { status, body: body.to_vec() })
    }

    fn address(&self) -> &str {
        &self.address
    }
}

/// An address without a slash at its end; a base path may follow the host.
fn address(text: &str) -> Result<String, EngineError> {
    let refuse = |reason: &str| {
        EngineError::new(format!(
            "address is {text:?}, {reason}; allowed is http:// or https://, a host, a port and a base path, as in \
             http://localhost:8081 or https://example.org/flink"
        ))
    };
    let url = Url::parse(text).map_err(|error| refuse(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(refuse("which is no address of a web server"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        // The text is not repeated, for it holds a password.
        return Err(EngineError::new(format!("address holds a user or password; {}", credentials::WHERE)));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refuse("which has a query or a fragment"));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

fn headers(settings: &Settings) -> Result<HeaderMap, EngineError> {
    let mut headers = HeaderMap::new();
    for header in settings.text("headers").split(';').map(str::trim).filter(|header| !header.is_empty()) {
        let refuse = |reason: &str| {
            let allowed = "allowed is \"Name: value\", several joined by ;";
            EngineError::new(format!("headers holds {header:?}, {reason}; {allowed}"))
        };
        let (name, value) = header.split_once(':').ok_or_else(|| refuse("which has no colon"))?;
        let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|bad| refuse(&bad.to_string()))?;
        if SECRET.contains(&name.as_str()) {
            return Err(EngineError::new(format!("headers holds {name}; {}", credentials::WHERE)));
        }
        let value = HeaderValue::from_str(value.trim()).map_err(|bad| refuse(&bad.to_string()))?;
        headers.append(name, value);
    }
    if let Some(mut value) = credentials::authorization(settings.text("credentials.file"))? {
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

fn certificates(file: &Path) -> Result<Vec<Certificate>, EngineError> {
    let shown = file.display();
    let text =
        fs::read(file).map_err(|error| EngineError::new(format!("cannot read ca.file {shown}: {error}")))?;
    let certificates = Certificate::from_pem_bundle(&text)
        .map_err(|error| EngineError::new(format!("ca.file {shown}: {}", causes(&error))))?;
    if certificates.is_empty() {
        return Err(EngineError::new(format!("ca.file {shown} holds no certificate in PEM form")));
    }
    Ok(certificates)
}

fn no_reply(error: &reqwest::Error, limit: Duration) -> NoReply {
    let reason = if error.is_timeout() && !error.is_connect() {
        format!("not answered in full within {limit:?}")
    } else {
        causes(error)
    };
    NoReply { reason, unsent: error.is_connect() || error.is_builder() }
}

/// The deepest cause says what happened; the outer ones repeat the address.
fn causes(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    if error.source().is_none() { error.to_string() } else { cause.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lose_their_slash_and_keep_their_path() {
        for (given, kept) in [
            ("http://localhost:8081", "http://localhost:8081"),
            ("http://localhost:8081/", "http://localhost:8081"),
            ("https://[::1]:8443/flink/a/", "https://[::1]:8443/flink/a"),
        ] {
            assert_eq!(address(given).unwrap(), kept);
        }
    }

    #[test]
    fn addresses_that_cannot_be_are_refused() {
        for (given, reason) in [
            ("localhost:8081", "no address of a web server"),
            ("ftp://localhost", "no address of a web server"),
            ("", "address is \"\""),
            ("http://", "empty host"),
            ("http://a:99999", "invalid port number"),
            ("http://a/?x=1", "query"),
        ] {
            let message = address(given).unwrap_err().message;
            assert!(message.contains(reason) && message.contains("allowed is http://"), "{given}: {message}");
        }
        let secret = address("http://me:hush@host").unwrap_err().message;
        assert!(secret.contains("NEXMARK_FLINK_CREDENTIALS") && !secret.contains("hush"), "{secret}");
    }
}
