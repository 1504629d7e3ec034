use proptest::prelude::*;

use super::*;

/// Made once: that takes longer than to use it.
static MASKER: std::sync::LazyLock<Masker> = std::sync::LazyLock::new(|| Masker::new().unwrap());

fn mask(text: &str) -> (String, u64) {
    let mut count = Count::default();
    let masked = MASKER.mask(text, &mut count);
    (masked, count.total())
}

/// One of each shape. They are put together here so that no scanner takes this file for a leak.
fn secrets() -> Vec<String> {
    let body = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0";
    [
        ("sk-", body),
        ("sk-ant-api03-", body),
        ("sk-proj-", body),
        ("ghp_", body),
        ("gho_", body),
        ("ghs_", body),
        ("github_pat_", body),
        ("glpat-", body),
        ("AKIA", "ABCDEFGH23456789"),
        ("ASIA", "ABCDEFGH23456789"),
        ("xoxb-", "123456789012-abcdefABCDEF"),
        ("xapp-1-", "A123456789-abcdef"),
        ("AIza", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"),
        ("ya29.", body),
        ("sk_live_", body),
        ("npm_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
        ("hf_", body),
        ("xai-", body),
        ("gsk_", body),
        ("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMQ"),
    ]
    .map(|(prefix, rest)| format!("{prefix}{rest}"))
    .to_vec()
}

#[test]
fn every_shape_is_masked_wherever_it_stands() {
    for secret in secrets() {
        for text in [
            secret.clone(),
            format!("use {secret}, please"),
            format!("\"{secret}\""),
            format!("{{\"key\":\"a\\n{secret}\\nb\"}}"),
            format!("https://x.test/?q={secret}&r=1"),
            format!("a\n{secret}\nb\n"),
            format!("`{secret}`"),
            format!("({secret})"),
        ] {
            let (masked, count) = mask(&text);
            assert!(!masked.contains(&secret) && count == 1, "{text}: {masked}");
            assert_eq!(mask(&masked), (masked.clone(), 0), "a mask is no secret");
        }
    }
}

#[test]
fn assignments_headers_and_urls_lose_their_value_only() {
    for (text, shown) in [
        ("password=hunter2 and on", "password=[masked: password] and on"),
        ("DB_PASSWORD=hunter2\nX=1", "DB_PASSWORD=[masked: password]\nX=1"),
        ("password: hunter2", "password: [masked: password]"),
        ("{\"password\": \"correct horse\"}", "{\"password\": \"[masked: password]\"}"),
        (r#"{\"password\":\"correct horse\"}"#, r#"{\"password\":\"[masked: password]\"}"#),
        ("token=abcdef123456", "token=[masked: token]"),
        ("api_key = 'abcdef123456'", "api_key = '[masked: token]'"),
        ("X-Api-Key: 0123456789abcdef", "X-Api-Key: [masked: token]"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "aws_secret_access_key = [masked: token]"),
        ("Authorization: Bearer abc.def-123456789", "Authorization: Bearer [masked: authorization]"),
        ("-H 'authorization: Basic dXNlcjpwYXNz'", "-H 'authorization: Basic [masked: authorization]'"),
        ("postgres://me:s3cret@db/x", "postgres://me:[masked: password]@db/x"),
        ("?user=a&access_token=abcdef123456&x=1", "?user=a&access_token=[masked: token]&x=1"),
    ] {
        assert_eq!(mask(text), (shown.to_owned(), 1), "{text}");
    }
}

#[test]
fn private_keys_go_whole() {
    let key = |kind: &str| {
        let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC";
        format!("-----BEGIN {kind}PRIVATE KEY-----\n{line}\n{line}==\n-----END {kind}PRIVATE KEY-----")
    };
    for kind in ["", "RSA ", "OPENSSH ", "EC ", "ENCRYPTED "] {
        let text = format!("before {} after", key(kind));
        assert_eq!(mask(&text), ("before [masked: private key] after".to_owned(), 1));
        let json = text.replace('\n', "\\n");
        assert_eq!(mask(&json), ("before [masked: private key] after".to_owned(), 1));
    }
    let cut = &key("RSA ")[..60];
    assert_eq!(mask(&format!("{cut}\u{2026} (cut)")).0, "[masked: private key]\u{2026} (cut)");
    assert_eq!(mask(&format!("{}\n{}", key(""), key("EC "))).1, 2);
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "",
        "The token count was 15000; input_tokens: 123, max_tokens=4096.",
        "password: string",
        "const token = getToken();",
        "token = response.token",
        "token=self.token",
        "let api_key: &str = &config.api_key;",
        "password=$PASSWORD token=${TOKEN} api_key=<your key>",
        "\"password\": \"\"",
        "password = \"********\"",
        ".sk-folding-cube-container { color: red }",
        "task-1234567890abcdef12 disk-1234567890abcdef12",
        "Enter your password: then press return",
        "a secret garden, an authorization header, the bearer of bad news",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "http://localhost:8080/path@2 https://example.org:443",
        "3d41b5bd-323c-4072-927f-fee3519551f5",
        "key: value, keys: 12, monkey=banana123456",
        "secret: shh",
        "https://github.com/a/b/blob/main/src/token.rs",
        "session_id: 3d41b5bd323c4072927f",
    ] {
        assert_eq!(mask(text), (text.to_owned(), 0), "{text}");
    }
}

#[test]
fn kinds_are_counted() {
    let mut count = Count::default();
    let text = format!("{} {} password=abc", secrets()[3], secrets()[4]);
    MASKER.mask(&text, &mut count);
    assert_eq!(count.kinds().iter().map(|(k, n)| (*k, *n)).collect::<Vec<_>>(), [("GitHub token", 2), ("password", 1)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn it_never_panics_and_ends(text in any::<String>()) {
        let _ = mask(&text);
    }

    #[test]
    fn hostile_pieces_never_panic(pieces in proptest::collection::vec(prop_oneof![
        Just("password=".to_owned()), Just("-----BEGIN PRIVATE KEY-----".to_owned()), Just("é\u{202e}".to_owned()),
        Just("\\\"".to_owned()), Just("token: '".to_owned()), Just("eyJ".to_owned()), Just("sk-".to_owned()),
        Just("://a:".to_owned()), Just("\\".to_owned()), "\\PC{0,6}",
    ], 0..12)) {
        let text = pieces.concat();
        let _ = mask(&text);
    }

    #[test]
    fn planted_secrets_are_gone(
        before in "(\\PC|\n){0,40}", after in "(\\PC|\n){0,40}", which in 0..20_usize, left in "[ \n\"'=(,:\\[]", right in "[ \n\"')\\],;]",
    ) {
        let secret = &secrets()[which];
        let (masked, count) = mask(&format!("{before}{left}{secret}{right}{after}"));
        prop_assert!(!masked.contains(secret.as_str()) && count >= 1, "{masked}");
    }

    #[test]
    fn plain_words_are_left_alone(text in "([a-z]{1,12}[ .,\n]){0,40}") {
        prop_assert_eq!(mask(&text), (text, 0));
    }
}
