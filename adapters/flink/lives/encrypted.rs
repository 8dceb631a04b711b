//! A cluster behind https, whose certificate is of an authority of one's own. The certificates below `tests/tls` are for tests
//! alone and hold for a hundred years.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use nexmark_driver::engine::Engine as _;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::settings;
use crate::engine::Flink;
use crate::recorded::response;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tls").join(name)
}

/// Replies as a cluster to whoever trusts it. Returns its port.
async fn serve() -> u16 {
    let certificate = CertificateDer::from_pem_file(file("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            // Whoever does not trust the certificate hangs up.
            drop(reply(&acceptor, stream).await);
        }
    });
    port
}

async fn reply(acceptor: &TlsAcceptor, stream: TcpStream) -> std::io::Result<()> {
    let mut stream = acceptor.accept(stream).await?;
    let mut request = vec![0; 4096];
    let length = stream.read(&mut request).await?;
    let request = String::from_utf8_lossy(&request[..length]).into_owned();
    let name = match request.split_whitespace().nth(1) {
        Some("/config") => "config",
        Some("/overview") => "overview",
        Some("/taskmanagers") => "taskmanagers",
        _ => "jobmanager-config",
    };
    let body = response(name).to_string();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).await?;
    stream.shutdown().await
}

#[tokio::test]
async fn a_certificate_is_trusted_by_its_authority_alone() {
    let port = serve().await;
    let address = format!("address=https://localhost:{port}");
    let (trusting, _jar) = settings(&[&address, &format!("ca.file={}", file("ca.pem").display())]);
    let description = Flink::new(&trusting).unwrap().describe().await.unwrap();
    assert_eq!(description.version, "2.3.0");
    let (doubting, _jar) = settings(&[&address]);
    let message = Flink::new(&doubting).unwrap().describe().await.unwrap_err().message;
    assert!(message.contains("certificate"), "{message}");
}
