//! One window per person: the first start holds a lock and listens, a later one hands its paths over and ends.
//!
//! Works without a session bus: a lock file and a Unix socket (elsewhere a loopback port with a secret) in
//! `$XDG_RUNTIME_DIR`, else in our data folder. The lock decides who is first and is freed by the system when a
//! process dies, however it dies, so a socket that is still lying there is known to be stale. Left out: handing
//! over anything but paths.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// First bytes of a hand-over; another version's is refused, not guessed.
const GREETING: &[u8] = b"chipdeck-open-1\0";
const ANSWER: &[u8] = b"ok\n";
/// A command line is at most 2 MiB on the systems we run on.
const LIMIT: u64 = 4 << 20;
/// A first start that holds the lock listens within this time, or it hangs.
const PATIENCE: Duration = Duration::from_secs(5);

/// What this start turned out to be.
pub enum Start {
    /// The first: it listens for later ones.
    First(Listener),
    /// Another one took the paths and comes to the front.
    HandedOver,
    /// Nobody could be asked, and later starts can't reach this one: a window all the same, and the reason.
    Alone(io::Error),
}

/// Holds the lock and the listening end.
pub struct Listener {
    _lock: File,
    door: transport::Door,
}

/// Where the lock and the socket lie: `$XDG_RUNTIME_DIR`, else `fallback` (our data folder, made 0700).
pub fn place(runtime_dir: Option<PathBuf>, fallback: &Path) -> io::Result<PathBuf> {
    if let Some(dir) = runtime_dir.filter(|d| d.is_absolute() && d.is_dir()) {
        return Ok(dir);
    }
    let mut make = std::fs::DirBuilder::new();
    make.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut make, 0o700);
    make.create(fallback)?;
    Ok(fallback.to_owned())
}

/// Becomes the first, or hands `paths` (absolute) to it.
///
/// # Errors
/// When the first start holds the lock but does not answer.
pub fn start(dir: &Path, paths: &[PathBuf]) -> io::Result<Start> {
    let lock = match OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(dir.join("chipdeck.lock"))
    {
        Ok(lock) => lock,
        Err(error) => return Ok(Start::Alone(error)),
    };
    let until = Instant::now() + PATIENCE;
    loop {
        let first = match lock.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            // A file system without locks: whoever answers is the first.
            Err(TryLockError::Error(_)) => {
                if hand_over(dir, paths).is_ok() {
                    return Ok(Start::HandedOver);
                }
                true
            }
        };
        if first {
            return Ok(match transport::Door::open(dir) {
                Ok(door) => Start::First(Listener { _lock: lock, door }),
                Err(error) => Start::Alone(error),
            });
        }
        match hand_over(dir, paths) {
            Ok(()) => return Ok(Start::HandedOver),
            // It is just starting, or just ending: look at the lock again.
            Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(25)),
            Err(error) => {
                let what = format!("Chipdeck is already running but does not answer ({error})");
                return Err(io::Error::new(error.kind(), what));
            }
        }
    }
}

fn hand_over(dir: &Path, paths: &[PathBuf]) -> io::Result<()> {
    let mut stream = transport::connect(dir)?;
    stream.write_all(GREETING)?;
    for path in paths {
        stream.write_all(path.as_os_str().as_encoded_bytes())?;
        stream.write_all(b"\0")?;
    }
    transport::end_of_writing(&stream)?;
    let mut answer = Vec::new();
    stream.take(64).read_to_end(&mut answer)?;
    if answer == ANSWER {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "an answer that is not Chipdeck's",
        ))
    }
}

impl Listener {
    /// Calls `opened` with the paths of each later start, from a thread of its own, until the process ends.
    pub fn listen(self, opened: impl Fn(Vec<PathBuf>) + Send + 'static) -> io::Result<()> {
        let serve = move || {
            // The whole of it, lock included, moves into the thread: a closure takes single fields otherwise.
            let listener = self;
            loop {
                let Ok(mut stream) = listener.door.accept() else {
                    std::thread::sleep(Duration::from_millis(200));
                    continue;
                };
                if let Ok(paths) = receive(&mut stream) {
                    opened(paths);
                    let _ = stream.write_all(ANSWER);
                }
            }
        };
        std::thread::Builder::new()
            .name("instance".into())
            .spawn(serve)?;
        Ok(())
    }
}

fn receive(stream: &mut transport::Stream) -> io::Result<Vec<PathBuf>> {
    transport::set_patience(stream, Duration::from_secs(2))?;
    let mut bytes = Vec::new();
    Read::take(&mut *stream, LIMIT).read_to_end(&mut bytes)?;
    parse(&bytes).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "not a hand-over"))
}

/// The paths of a hand-over; relative ones, which no start of ours sends, are dropped.
fn parse(bytes: &[u8]) -> Option<Vec<PathBuf>> {
    let rest = bytes.strip_prefix(GREETING)?;
    if !rest.is_empty() && rest.last() != Some(&0) {
        return None;
    }
    let paths = rest
        .split(|b| *b == 0)
        .filter(|p| !p.is_empty())
        .filter_map(transport::path_of);
    Some(paths.filter(|p| p.is_absolute()).collect())
}

#[cfg(unix)]
mod transport {
    use std::io;
    use std::net::Shutdown;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    pub type Stream = UnixStream;
    pub struct Door(UnixListener);

    fn socket(dir: &Path) -> PathBuf {
        dir.join("chipdeck.sock")
    }

    impl Door {
        /// Only called with the lock held: what lies there is of a process that is gone.
        pub fn open(dir: &Path) -> io::Result<Door> {
            let socket = socket(dir);
            match std::fs::remove_file(&socket) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            Ok(Door(UnixListener::bind(socket)?))
        }

        pub fn accept(&self) -> io::Result<Stream> {
            Ok(self.0.accept()?.0)
        }
    }

    pub fn connect(dir: &Path) -> io::Result<Stream> {
        let stream = UnixStream::connect(socket(dir))?;
        set_patience(&stream, Duration::from_secs(5))?;
        Ok(stream)
    }

    pub fn set_patience(stream: &Stream, time: Duration) -> io::Result<()> {
        stream.set_read_timeout(Some(time))?;
        stream.set_write_timeout(Some(time))
    }

    pub fn end_of_writing(stream: &Stream) -> io::Result<()> {
        stream.shutdown(Shutdown::Write)
    }

    pub fn path_of(bytes: &[u8]) -> Option<PathBuf> {
        Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
    }
}

#[cfg(not(unix))]
mod transport {
    //! A loopback port whose number and secret stand in a file that only this person's account can read.

    use std::io::{self, Read, Write};
    use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    pub type Stream = TcpStream;
    pub struct Door {
        listener: TcpListener,
        secret: [u8; 32],
    }

    fn note(dir: &Path) -> PathBuf {
        dir.join("chipdeck.port")
    }

    fn fresh_secret() -> [u8; 32] {
        use std::hash::{BuildHasher, Hasher};
        let mut secret = [0; 32];
        for part in secret.chunks_mut(8) {
            // `RandomState` is seeded by the system's random source.
            let word = std::collections::hash_map::RandomState::new()
                .build_hasher()
                .finish();
            part.copy_from_slice(&word.to_le_bytes());
        }
        secret
    }

    impl Door {
        pub fn open(dir: &Path) -> io::Result<Door> {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let secret = fresh_secret();
            let mut text = listener.local_addr()?.port().to_le_bytes().to_vec();
            text.extend_from_slice(&secret);
            std::fs::write(note(dir), text)?;
            Ok(Door { listener, secret })
        }

        pub fn accept(&self) -> io::Result<Stream> {
            let mut stream = self.listener.accept()?.0;
            set_patience(&stream, Duration::from_secs(2))?;
            let mut said = [0; 32];
            stream.read_exact(&mut said)?;
            if said == self.secret {
                Ok(stream)
            } else {
                Err(io::Error::new(
                    io::ErrorKind::PermissionDenied,
                    "wrong secret",
                ))
            }
        }
    }

    pub fn connect(dir: &Path) -> io::Result<Stream> {
        let text = std::fs::read(note(dir))?;
        let (port, secret) = text
            .split_first_chunk::<2>()
            .ok_or(io::ErrorKind::InvalidData)?;
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, u16::from_le_bytes(*port)))?;
        set_patience(&stream, Duration::from_secs(5))?;
        stream.write_all(secret)?;
        Ok(stream)
    }

    pub fn set_patience(stream: &Stream, time: Duration) -> io::Result<()> {
        stream.set_read_timeout(Some(time))?;
        stream.set_write_timeout(Some(time))
    }

    pub fn end_of_writing(stream: &Stream) -> io::Result<()> {
        stream.shutdown(Shutdown::Write)
    }

    pub fn path_of(bytes: &[u8]) -> Option<PathBuf> {
        Some(PathBuf::from(std::str::from_utf8(bytes).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn first(dir: &Path) -> mpsc::Receiver<Vec<PathBuf>> {
        let Start::First(listener) = start(dir, &[]).unwrap() else {
            panic!("somebody else is first")
        };
        let (send, got) = mpsc::channel();
        listener
            .listen(move |paths| send.send(paths).unwrap())
            .unwrap();
        got
    }

    #[test]
    fn a_second_start_hands_its_paths_over() {
        let dir = tempfile::tempdir().unwrap();
        let got = first(dir.path());
        let paths = [
            PathBuf::from("/tmp/a log.jsonl"),
            PathBuf::from("/tmp/订单\nservice"),
        ];
        assert!(matches!(
            start(dir.path(), &paths).unwrap(),
            Start::HandedOver
        ));
        assert_eq!(got.recv_timeout(Duration::from_secs(2)).unwrap(), paths);
        assert!(matches!(start(dir.path(), &[]).unwrap(), Start::HandedOver));
        assert_eq!(
            got.recv_timeout(Duration::from_secs(2)).unwrap(),
            Vec::<PathBuf>::new()
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_stale_socket_stops_nobody() {
        let dir = tempfile::tempdir().unwrap();
        // Bound and dropped: the file stays, nobody listens.
        drop(std::os::unix::net::UnixListener::bind(dir.path().join("chipdeck.sock")).unwrap());
        assert!(dir.path().join("chipdeck.sock").exists());
        first(dir.path());
    }

    #[test]
    fn many_starts_at_once_are_one_first() {
        let dir = tempfile::tempdir().unwrap();
        let starts: Vec<_> = (0..8)
            .map(|n| {
                let dir = dir.path().to_owned();
                std::thread::spawn(move || {
                    match start(&dir, &[PathBuf::from(format!("/{n}"))]).unwrap() {
                        Start::First(listener) => {
                            listener.listen(|_| ()).unwrap();
                            true
                        }
                        Start::HandedOver => false,
                        Start::Alone(error) => panic!("{error}"),
                    }
                })
            })
            .collect();
        assert_eq!(
            starts
                .into_iter()
                .map(|t| t.join().unwrap())
                .filter(|first| *first)
                .count(),
            1
        );
    }

    #[test]
    fn nonsense_is_refused() {
        assert_eq!(parse(b"GET / HTTP/1.1\r\n\r\n"), None);
        assert_eq!(parse(b"chipdeck-open-1\0/cut of"), None);
        assert_eq!(
            parse(b"chipdeck-open-1\0relative\0/abs\0"),
            Some(vec![PathBuf::from("/abs")])
        );
    }

    #[test]
    fn the_runtime_folder_goes_before_ours() {
        let dir = tempfile::tempdir().unwrap();
        let ours = dir.path().join("data/chipdeck");
        assert_eq!(place(Some(dir.path().into()), &ours).unwrap(), dir.path());
        assert_eq!(place(Some("/does/not/exist".into()), &ours).unwrap(), ours);
        assert_eq!(place(None, &ours).unwrap(), ours);
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&ours.metadata().unwrap().permissions())
                & 0o777,
            0o700
        );
    }
}
