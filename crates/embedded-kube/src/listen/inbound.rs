//! The bytes of a connection on their way in and out: addresses that are too long for the types of
//! the HTTP library pass by it, and a client that does not read does not wait for ever.
//!
//! The real server takes an address of up to a mebibyte (a label selector can be long); the address
//! type here takes 64 KiB. So the query of a longer one is taken out of the request line, kept
//! beside, and put back when the request is handled. To find the request lines, the bodies between
//! them are followed as far as they say how long they are.

use std::collections::BTreeMap;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::{HeaderName, Request};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::patience::Patience;
use super::{MAX_FIELDS, MAX_HEAD};

/// A query that did not fit into the address of its request.
#[derive(Clone, Debug)]
pub(crate) struct LongQuery(pub(crate) String);

/// The header that says which query belongs to a request.
const MARK: HeaderName = HeaderName::from_static("x-freehold-long-query");

/// A request line of more bytes than this is looked at.
const LONG: usize = 60 * 1024;
/// How much of a header line is needed to know what it says of the body.
const TELLING: usize = 64;

/// The queries that were taken out of the requests of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Queries {
    kept: Arc<Mutex<(u64, BTreeMap<u64, String>)>>,
}

impl Queries {
    fn keep(&self, query: String) -> u64 {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.0 += 1;
        let number = kept.0;
        kept.1.insert(number, query);
        number
    }

    /// Puts the query of a request where the handler looks for it.
    pub(super) fn restore<B>(&self, request: &mut Request<B>) {
        let Some(mark) = request.headers_mut().remove(MARK) else {
            return;
        };
        let number = mark.to_str().ok().and_then(|mark| mark.parse().ok());
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(query) = number.and_then(|number: u64| kept.1.remove(&number)) {
            request.extensions_mut().insert(LongQuery(query));
        }
    }
}

/// A connection.
pub(super) struct Inbound<S> {
    stream: S,
    follower: Follower,
    /// What was read and looked at, and not yet handed on.
    ready: Vec<u8>,
    /// How much of that was handed on.
    given: usize,
    patience: Patience,
}

impl<S> Inbound<S> {
    pub(super) fn new(stream: S, stalled: Duration, queries: Queries) -> Self {
        Self {
            stream,
            follower: Follower::new(MAX_HEAD, MAX_FIELDS, queries),
            ready: Vec::new(),
            given: 0,
            patience: Patience::new(stalled),
        }
    }

    /// What a write came to; one that has waited too long is given up.
    fn or_give_up<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_pending() {
            ready!(self.patience.wait(context));
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Inbound<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.given == this.ready.len() {
            this.ready.clear();
            this.given = 0;
            let mut space = [0; 8192];
            let mut read = ReadBuf::new(&mut space);
            ready!(Pin::new(&mut this.stream).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                this.follower.end(&mut this.ready);
                if this.ready.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                continue;
            }
            this.follower.take(read.filled(), &mut this.ready);
        }
        let rest = &this.ready[this.given..];
        let length = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..length]);
        this.given += length;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Inbound<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        if let Poll::Ready(Ok(count)) = &written {
            this.patience.read(*count);
        }
        this.or_give_up(context, written)
    }

    /// Asked for when there is nothing more to write: then everything is on its way.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        if flushed.is_ready() {
            this.patience.rest();
        }
        this.or_give_up(context, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let shut = Pin::new(&mut this.stream).poll_shutdown(context);
        this.or_give_up(context, shut)
    }
}

/// Where in the stream of requests the next byte is.
enum Place {
    /// In a request line that has not ended yet.
    Line(Vec<u8>),
    /// In the header lines; what is kept of the present one, and what they said of the body.
    Fields { line: Vec<u8>, body: Body },
    /// In a body of this many more bytes.
    Counted(u64),
    /// In the line before a chunk of a body.
    Size(Vec<u8>),
    /// In a chunk, or in the end of line after it.
    Chunk(u64),
    /// In what follows the last chunk.
    Trailer(Vec<u8>),
    /// Nobody knows any more: everything is handed on.
    Lost,
    /// The rest is not listened to.
    Refused,
}

#[derive(Clone, Copy, Default)]
struct Body {
    length: u64,
    chunked: bool,
}

/// Follows requests and their bodies.
struct Follower {
    place: Place,
    max_head: usize,
    max_fields: usize,
    queries: Queries,
}

impl Follower {
    fn new(max_head: usize, max_fields: usize, queries: Queries) -> Self {
        Self {
            place: Place::Line(Vec::new()),
            max_head,
            max_fields,
            queries,
        }
    }

    /// Looks at bytes that came in; `out` is what is handed on.
    fn take(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while !bytes.is_empty() {
            bytes = self.step(bytes, out);
        }
    }

    /// Nothing more comes in.
    fn end(&mut self, out: &mut Vec<u8>) {
        if let Place::Line(line) = &mut self.place {
            out.append(line);
        }
    }

    /// Takes some of the bytes; the answer is the rest.
    fn step<'a>(&mut self, bytes: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
        match &mut self.place {
            Place::Lost => {
                out.extend_from_slice(bytes);
                &[]
            }
            Place::Refused => &[],
            Place::Line(line) => {
                let (part, rest, ended) = to_line_end(bytes);
                line.extend_from_slice(part);
                if line.len() > self.max_head {
                    // The library is shown a head that it finds too large, and says so.
                    out.extend_from_slice(b"GET / HTTP/1.1\r\n");
                    out.extend(b"x:\r\n".repeat(self.max_fields + 1));
                    out.extend_from_slice(b"\r\n");
                    self.place = Place::Refused;
                } else if ended {
                    let line = std::mem::take(line);
                    let blank = line.iter().all(|byte| matches!(byte, b'\r' | b'\n'));
                    self.request_line(line, out);
                    // Empty lines between requests are passed over.
                    if !blank {
                        self.place = Place::Fields {
                            line: Vec::new(),
                            body: Body::default(),
                        };
                    }
                }
                rest
            }
            Place::Fields { line, body } => {
                let (part, rest, ended) = to_line_end(bytes);
                out.extend_from_slice(part);
                keep(line, part);
                if ended {
                    if line.is_empty() {
                        self.place = match *body {
                            Body { chunked: true, .. } => Place::Size(Vec::new()),
                            Body { length: 0, .. } => Place::Line(Vec::new()),
                            Body { length, .. } => Place::Counted(length),
                        };
                    } else {
                        body.hear(line);
                        line.clear();
                    }
                }
                rest
            }
            Place::Counted(left) => {
                let length = usize::try_from(*left).unwrap_or(usize::MAX);
                let (part, rest) = bytes.split_at(length.min(bytes.len()));
                out.extend_from_slice(part);
                *left -= part.len() as u64;
                if *left == 0 {
                    self.place = Place::Line(Vec::new());
                }
                rest
            }
            Place::Size(line) => {
                let (part, rest, ended) = to_line_end(bytes);
                out.extend_from_slice(part);
                keep(line, part);
                if ended {
                    let text = String::from_utf8_lossy(line);
                    let digits = text.split(';').next().unwrap_or_default().trim();
                    self.place = match u64::from_str_radix(digits, 16) {
                        Ok(0) => Place::Trailer(Vec::new()),
                        Ok(size) => Place::Chunk(size.saturating_add(2)),
                        Err(_) => Place::Lost,
                    };
                }
                rest
            }
            Place::Chunk(left) => {
                let length = usize::try_from(*left).unwrap_or(usize::MAX);
                let (part, rest) = bytes.split_at(length.min(bytes.len()));
                out.extend_from_slice(part);
                *left -= part.len() as u64;
                if *left == 0 {
                    self.place = Place::Size(Vec::new());
                }
                rest
            }
            Place::Trailer(line) => {
                let (part, rest, ended) = to_line_end(bytes);
                out.extend_from_slice(part);
                keep(line, part);
                if ended {
                    if line.is_empty() {
                        self.place = Place::Line(Vec::new());
                    } else {
                        line.clear();
                    }
                }
                rest
            }
        }
    }

    /// Hands a request line on; the query of one that is too long stays behind.
    fn request_line(&mut self, mut line: Vec<u8>, out: &mut Vec<u8>) {
        let query = (line.len() > LONG)
            .then(|| line.iter().position(|byte| *byte == b'?'))
            .flatten();
        let Some(start) = query else {
            out.append(&mut line);
            return;
        };
        let end = line[start..].iter().position(|byte| *byte == b' ');
        let end = end.map_or(line.len(), |end| start + end);
        let query = String::from_utf8_lossy(&line[start + 1..end]).into_owned();
        let number = self.queries.keep(query);
        out.extend_from_slice(&line[..start]);
        out.extend_from_slice(&line[end..]);
        out.extend_from_slice(format!("{MARK}: {number}\r\n").as_bytes());
    }
}

impl Body {
    /// What a header line says of the body.
    fn hear(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line).to_ascii_lowercase();
        let Some((name, value)) = line.split_once(':') else {
            return;
        };
        match name.trim() {
            "content-length" => self.length = value.trim().parse().unwrap_or(0),
            "transfer-encoding" => self.chunked = value.contains("chunked"),
            _ => {}
        }
    }
}

/// The bytes up to the end of the line, the rest, and whether the line ends.
fn to_line_end(bytes: &[u8]) -> (&[u8], &[u8], bool) {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => {
            let (line, rest) = bytes.split_at(end + 1);
            (line, rest, true)
        }
        None => (bytes, &[], false),
    }
}

/// Keeps the beginning of a line, without its end.
fn keep(line: &mut Vec<u8>, part: &[u8]) {
    let part = part.iter().filter(|byte| !matches!(byte, b'\r' | b'\n'));
    line.extend(part.take(TELLING.saturating_sub(line.len())));
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// What comes out if the bytes come in pieces of this size.
    fn through(input: &[u8], size: usize) -> (Vec<u8>, Queries) {
        let queries = Queries::default();
        let mut follower = Follower::new(1 << 20, 10, queries.clone());
        let mut out = Vec::new();
        for piece in input.chunks(size) {
            follower.take(piece, &mut out);
        }
        follower.end(&mut out);
        (out, queries)
    }

    #[test]
    fn short_requests_pass_unchanged() {
        let input = b"POST /a?b=1 HTTP/1.1\r\nContent-Length: 5\r\n\r\nGET /\r\n\
            GET /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nx: y\r\n\r\n\
            GET /d HTTP/1.1\r\n\r\n";
        for size in [1, 2, 7, 1000] {
            assert_eq!(through(input, size).0, input, "{size}");
        }
    }

    #[test]
    fn a_long_query_passes_beside() {
        let query = format!("labelSelector={}", "a".repeat(500_000));
        let input = format!(
            "POST /x HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc\
             GET /p?{query} HTTP/1.1\r\nhost: h\r\n\r\nGET /q?r HTTP/1.1\r\n\r\n"
        );
        for size in [1, 1000, 1_000_000] {
            let (out, queries) = through(input.as_bytes(), size);
            let expected = "POST /x HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc\
                GET /p HTTP/1.1\r\nx-freehold-long-query: 1\r\nhost: h\r\n\r\n\
                GET /q?r HTTP/1.1\r\n\r\n";
            assert_eq!(String::from_utf8_lossy(&out), expected);
            let mut request = Request::get("/p").header(MARK, "1").body(()).unwrap();
            queries.restore(&mut request);
            assert_eq!(request.extensions().get::<LongQuery>().unwrap().0, query);
            assert!(request.headers().is_empty());
        }
    }

    #[test]
    fn a_mark_of_the_clients_own_means_nothing() {
        let queries = Queries::default();
        let mut request = Request::get("/p?a").header(MARK, "1").body(()).unwrap();
        queries.restore(&mut request);
        assert!(request.extensions().get::<LongQuery>().is_none());
    }

    /// Writes this much to a client that reads so much of it each second.
    async fn tell(size: usize, each_second: usize) -> (io::Result<()>, usize) {
        let (near, mut far) = tokio::io::duplex(64);
        let minute = Duration::from_mins(1);
        let mut stream = Inbound::new(near, minute, Queries::default());
        let reading = tokio::spawn(async move {
            let (mut read, mut buffer) = (0, vec![0; each_second]);
            loop {
                tokio::time::sleep(Duration::from_secs(1)).await;
                match far.read_exact(&mut buffer).await {
                    Ok(count) => read += count,
                    Err(_) => return read,
                }
            }
        });
        let written = async {
            stream.write_all(&vec![b'x'; size]).await?;
            stream.flush().await
        };
        let written = written.await;
        drop(stream);
        (written, reading.await.unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_too_little_is_given_up() {
        let (written, read) = tell(1 << 20, 10).await;
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
        // It ends when the first minute is over, and not only when it does not read at all.
        assert!((500..=800).contains(&read), "{read}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_enough_may_take_long() {
        // More than two minutes.
        let (written, read) = tell(10 << 20, 70 * 1024).await;
        written.unwrap();
        assert!(read > 9 << 20, "{read}");
    }
}
