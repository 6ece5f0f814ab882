//! Lines of a client.

use flowy::internals::mcp::{ReadLine, read_line};
use flowy::internals::rpc::{Line, Split, halves_replaced};
use serde_json::Value;
use tokio_util::bytes::BytesMut;
use tokio_util::codec::Decoder as _;

/// The longest line of this law, in bytes.
const LONGEST: usize = 600;

/// All lines of a stream that comes in pieces of one size.
fn split(stream: &[u8], piece: usize) -> Vec<Result<Vec<u8>, usize>> {
    let (mut split, mut buffer, mut lines) = (Split::of(LONGEST), BytesMut::new(), Vec::new());
    let mut take = |line: Line| match line {
        Line::Whole(line) => lines.push(Ok(line.to_vec())),
        Line::TooLong { bytes, .. } => lines.push(Err(bytes)),
    };
    for piece in stream.chunks(piece) {
        buffer.extend_from_slice(piece);
        while let Some(line) = split.decode(&mut buffer).unwrap() {
            take(line);
        }
    }
    while let Some(line) = split.decode_eof(&mut buffer).unwrap() {
        take(line);
    }
    lines
}

/// The size of the pieces in which a stream comes, and the stream.
pub fn lines(bytes: &[u8]) {
    let [piece, stream @ ..] = bytes else { return };
    let lines = split(stream, stream.len().max(1));
    assert_eq!(lines, split(stream, usize::from(*piece).max(1)), "lines are the same however they come");
    let length: usize = lines.iter().map(|line| line.as_ref().map_or_else(|bytes| *bytes, Vec::len)).sum();
    assert_eq!(length, stream.len(), "nothing is lost and nothing is added");
    for line in lines.into_iter().flatten() {
        assert!(line.len() <= LONGEST);
        if let Ok(text) = std::str::from_utf8(&line) {
            let fixed = halves_replaced(text);
            assert!(fixed.is_none_or(|fixed| halves_replaced(&fixed).is_none()), "what is fixed is whole");
        }
        let id = serde_json::from_slice::<Value>(&line).ok().and_then(|message| message.get("id").cloned());
        if let ReadLine::Refused(answer) = read_line(&line) {
            assert_eq!(answer["jsonrpc"], "2.0");
            assert!(answer["error"]["code"].is_i64() && answer["error"]["message"].is_string(), "{answer}");
            // Whoever can tell which request it was is told so.
            if let Some(id) = id.filter(|id| id.is_string() || id.is_number()) {
                assert_eq!(answer["id"], id);
            }
        }
    }
}
