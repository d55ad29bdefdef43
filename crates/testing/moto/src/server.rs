//! Starts moto's server on loopback and stops it.

use std::{
    fs, io,
    net::Ipv4Addr,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use test_programs::{Process, free_port, temporary_folder};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::Moto;

/// How long it may take until it is ready, on a machine that is busy with a build besides.
const READY_WITHIN: Duration = Duration::from_mins(2);
const ASK_EVERY: Duration = Duration::from_millis(100);

/// Between choosing a free port and listening on it somebody else may take it.
const ATTEMPTS: u32 = 3;

/// A running server.
///
/// # Guarantees
/// Dropping it stops it, by its process id. The same happens when the process that holds it panics,
/// exits without dropping it (a `static`), or is killed.
///
/// # Assumptions
/// A Linux or another Unix with `sh`, `sleep`, `rm` and `kill`.
#[derive(Debug)]
pub struct MotoServer {
    _process: Process,
    url: String,
    accounts: AtomicU64,
}

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It could not be run.
    #[error("cannot prepare moto: {doing}")]
    Prepare {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// It ended instead of serving.
    #[error("moto ended before it was ready; it last wrote:\n{last_words}")]
    Ended {
        /// The end of its log.
        last_words: String,
    },
    /// It did not get ready.
    #[error("moto was not ready within {} s; it last wrote:\n{last_words}", READY_WITHIN.as_secs())]
    NotReady {
        /// The end of its log.
        last_words: String,
    },
}

impl MotoServer {
    /// Starts one and waits until it is ready.
    ///
    /// # Errors
    /// See [`StartError`]; what was started is stopped again.
    pub async fn start(moto: &Moto) -> Result<Self, StartError> {
        let mut attempt = 1;
        loop {
            match Self::try_start(moto).await {
                Err(StartError::Ended { last_words })
                    if attempt < ATTEMPTS && last_words.contains("in use") =>
                {
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    async fn try_start(moto: &Moto) -> Result<Self, StartError> {
        let base = temporary_folder("moto").map_err(prepare("make a folder"))?;
        let folder = base.join("server");
        fs::create_dir(&folder).map_err(prepare("make a folder"))?;
        let port = free_port().map_err(prepare("find a free port"))?;
        let arguments = ["-H", "127.0.0.1", "-p", &port.to_string()].map(str::to_owned);
        let mut process = Process::start("moto_server", moto.program(), &arguments, &folder)
            .map_err(prepare("run a program"))?;
        wait_until_ready(&mut process, port).await?;
        Ok(Self {
            _process: process,
            url: format!("http://127.0.0.1:{port}"),
            accounts: AtomicU64::new(0),
        })
    }

    /// Where AWS is: what `AWS_ENDPOINT_URL` must say.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The id of an account that nobody else of this server's users has. It has a default VPC, as
    /// new accounts do, and nothing else.
    ///
    /// It is entered by taking on any role of it: moto trusts everybody, and gives whoever does so
    /// credentials of that account.
    pub fn new_account(&self) -> String {
        let number = self.accounts.fetch_add(1, Ordering::Relaxed);
        format!("{:012}", 200_000_000_000 + number)
    }
}

async fn wait_until_ready(process: &mut Process, port: u16) -> Result<(), StartError> {
    let ready = async {
        loop {
            if process.has_ended().unwrap_or(true) {
                return false;
            }
            if answers(port).await.unwrap_or(false) {
                return true;
            }
            tokio::time::sleep(ASK_EVERY).await;
        }
    };
    match tokio::time::timeout(READY_WITHIN, ready).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(StartError::Ended {
            last_words: process.last_words(),
        }),
        Err(_) => Err(StartError::NotReady {
            last_words: process.last_words(),
        }),
    }
}

/// Whether moto's own API answers.
async fn answers(port: u16) -> io::Result<bool> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    let request = "GET /moto-api/data.json HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n";
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let status = answer.split_whitespace().nth(1);
    Ok(status == Some("200"))
}

fn prepare(doing: &'static str) -> impl FnOnce(io::Error) -> StartError {
    move |source| StartError::Prepare { doing, source }
}
