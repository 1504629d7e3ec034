//! The only door to the network: one GET with a bearer token, without redirects, within a time and a size. Only `limits`
//! opens it, and only when the person asked for it; nothing else in this program talks to anybody.

use std::time::Duration;

use agents::limits::{Question, on_this_machine};
use sys::Env;
use ureq::http::{HeaderMap, Uri};
use ureq::{Agent, Error, Proxy};

/// How long everything together may take.
pub(crate) const WITHIN: Duration = Duration::from_secs(10);
/// The longest answer that is read, bytes.
const LONGEST: u64 = 256 << 10;
/// The longest pause that a service may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(24 * 3600);

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It was not asked: the address is none that a token may be sent to.
    Refused,
    /// Nobody was reached: no network, no such host, no trust in its certificate.
    Unreachable(String),
    /// It did not answer in time.
    Slow,
    /// It sent us elsewhere, and the token does not go there.
    Elsewhere,
    /// It answered with more than [`LONGEST`] bytes.
    Long,
    /// It answered with this status, and maybe with the pause that it wants.
    Status(u16, Option<Duration>),
}

impl Trouble {
    /// In words for people.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Refused => "its address is not https".to_owned(),
            Self::Unreachable(why) => format!("nobody was reached: {why}"),
            Self::Slow => format!("no answer within {} s", WITHIN.as_secs()),
            Self::Elsewhere => "it sent us elsewhere, which is not followed".to_owned(),
            Self::Long => format!("an answer of more than {}", sys::text::human::bytes(LONGEST)),
            Self::Status(401, _) => "it does not know the sign-in any more (401)".to_owned(),
            Self::Status(403, _) => "the sign-in may not see limits (403)".to_owned(),
            Self::Status(429, _) => "it was asked too often (429)".to_owned(),
            Self::Status(code, _) => format!("it answered with status {code}"),
        }
    }
}

/// Asks. The token goes to the question's own host, over https or to this machine, and nowhere else.
///
/// # Errors
/// See [`Trouble`]; nothing in it is secret. `now`, in seconds since 1970, is what a date to wait for is counted from.
pub(crate) fn get(question: &Question, env: &Env, now: i64) -> Result<Vec<u8>, Trouble> {
    let here = on_this_machine(&question.url);
    let uri: Uri = question.url.parse().map_err(|_| Trouble::Refused)?;
    if !here && uri.scheme_str() != Some("https") {
        return Err(Trouble::Refused);
    }
    let agent: Agent = Agent::config_builder()
        .https_only(!here)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .timeout_global(Some(WITHIN))
        .max_response_header_size(32 << 10)
        // Its own default reads the process' environment.
        .proxy(if here { None } else { proxy(env, uri.host().unwrap_or_default())? })
        .user_agent(concat!("lazyagents/", env!("CARGO_PKG_VERSION")))
        .accept("application/json")
        .build()
        .into();
    let mut request = agent.get(uri).header("authorization", format!("Bearer {}", question.token.reveal()));
    for (name, value) in &question.headers {
        request = request.header(*name, value);
    }
    let mut response = request.call().map_err(|error| trouble(&error))?;
    match response.status().as_u16() {
        200 => response.body_mut().with_config().limit(LONGEST).read_to_vec().map_err(|error| trouble(&error)),
        300..=399 => Err(Trouble::Elsewhere),
        code => Err(Trouble::Status(code, pause(response.headers(), now))),
    }
}

/// What went wrong below HTTP, without anything that came from the other side but the system's own words.
fn trouble(error: &Error) -> Trouble {
    match error {
        Error::Timeout(_) | Error::BodyStalled => Trouble::Slow,
        Error::BodyExceedsLimit(_) => Trouble::Long,
        Error::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => Trouble::Slow,
        Error::Io(error) => Trouble::Unreachable(sys::text::clean(&sys::failure::plain(error))),
        Error::HostNotFound => Trouble::Unreachable("no such host".to_owned()),
        Error::ConnectionFailed => Trouble::Unreachable("no connection".to_owned()),
        Error::Rustls(error) => Trouble::Unreachable(sys::text::clean(&error.to_string())),
        Error::ConnectProxyFailed(_) | Error::InvalidProxyUrl => Trouble::Unreachable("the proxy refused".to_owned()),
        Error::RedirectFailed | Error::TooManyRedirects => Trouble::Elsewhere,
        _ => Trouble::Unreachable("it does not speak HTTP as it should".to_owned()),
    }
}

/// `Retry-After`: seconds, or a date (RFC 9110, 10.2.3). 0 is no pause at all.
fn pause(headers: &HeaderMap, now: i64) -> Option<Duration> {
    let text = headers.get("retry-after")?.to_str().ok()?.trim();
    let seconds = match text.parse::<u64>() {
        Ok(seconds) => seconds,
        Err(_) => {
            let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
            u64::try_from(date.as_second().saturating_sub(now)).ok()?
        }
    };
    (seconds > 0).then(|| Duration::from_secs(seconds).min(LONGEST_PAUSE))
}

/// The proxy that the environment names for a host, as other programs read it.
fn proxy(env: &Env, host: &str) -> Result<Option<Proxy>, Trouble> {
    let named = |names: [&str; 2]| names.into_iter().find_map(|name| env.text(name));
    if named(["NO_PROXY", "no_proxy"]).is_some_and(|except| excepted(except, host)) {
        return Ok(None);
    }
    let Some(url) = named(["HTTPS_PROXY", "https_proxy"]).or_else(|| named(["ALL_PROXY", "all_proxy"])) else {
        return Ok(None);
    };
    Proxy::new(url).map(Some).map_err(|_| Trouble::Unreachable("the proxy's address is not understood".to_owned()))
}

/// True when a list like `example.com,.example.org,*` names the host or a domain that it is in.
fn excepted(list: &str, host: &str) -> bool {
    list.split(',').map(|entry| entry.trim().trim_start_matches("*.").trim_start_matches('.')).any(|entry| {
        let inside = host.strip_suffix(entry).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        entry == "*" || !entry.is_empty() && inside
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_seconds_or_a_date_and_never_longer_than_a_day() {
        let told = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", text.parse().unwrap());
            pause(&headers, 1_796_069_565).map(|pause| pause.as_secs())
        };
        assert_eq!(told("120"), Some(120));
        assert_eq!(told("Mon, 30 Nov 2026 20:13:45 GMT"), Some(60));
        assert_eq!(told("99999999999"), Some(86_400));
        for none in ["0", "-5", "soon", "", "Mon, 30 Nov 2026 20:00:00 GMT"] {
            assert_eq!(told(none), None, "{none}");
        }
        assert_eq!(pause(&HeaderMap::new(), 0), None);
    }

    #[test]
    fn a_proxy_is_taken_from_the_environment_that_was_handed_down() {
        let env: Env =
            [("HTTPS_PROXY", "http://proxy.example:3128"), ("NO_PROXY", "inside.example, .corp")].into_iter().collect();
        let proxy = |host: &str| proxy(&env, host).unwrap().map(|proxy| proxy.host().to_owned());
        assert_eq!(proxy("api.example").as_deref(), Some("proxy.example"));
        assert_eq!([proxy("inside.example"), proxy("a.inside.example"), proxy("x.corp")], [None, None, None]);
        assert!(proxy("notinside.example").is_some() && excepted("*", "api.example") && !excepted(",", "api.example"));
    }

    proptest::proptest! {
        #[test]
        fn no_header_and_no_variable_is_a_danger(text in "[ -~]{0,60}", list in "\\PC{0,60}", host in "[a-z.:]{0,30}") {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", text.parse().unwrap());
            proptest::prop_assert!(pause(&headers, 0).is_none_or(|pause| pause <= LONGEST_PAUSE));
            let env: Env = [("ALL_PROXY", text.as_str()), ("NO_PROXY", list.as_str())].into_iter().collect();
            let _ = proxy(&env, &host);
        }
    }

    #[test]
    fn a_token_is_not_sent_in_the_clear() {
        let token = || agents::limits::Secret::new("t").unwrap();
        for url in ["http://api.example/x", "ftp://127.0.0.1/", "", "http://localhost@api.example/"] {
            let question = Question { url: url.to_owned(), headers: vec![], token: token() };
            assert_eq!(get(&question, &Env::empty(), 0), Err(Trouble::Refused), "{url}");
        }
    }
}
