//! The shapes of secrets, each with where it is written down. A new one is a line here and one in the tests.
//! "gitleaks" is the rule of that name in gitleaks' `config/gitleaks.toml`.

/// A secret that is known by its shape. The group `s` is what is masked.
pub(super) struct Shape {
    /// What it is, for people.
    pub(super) name: &'static str,
    /// The shape.
    pub(super) pattern: &'static str,
    /// It has letters and digits, or it is something else.
    pub(super) mixed: bool,
}

/// What may stand before a secret whose beginning could be the end of a word: no part of a word, or an escape of JSON.
macro_rules! apart {
    ($shape:literal) => {
        concat!(r"(?:\A|[^0-9A-Za-z_\-]|\\[nrtbf]|\\u[0-9A-Fa-f]{4})(?<s>", $shape, ")")
    };
}

pub(super) const SHAPES: &[Shape] = &[
    // Anthropic's API docs ("sk-ant-api03-..."); gitleaks anthropic-api-key.
    Shape { name: "Anthropic key", pattern: r"(?<s>sk-ant-[0-9A-Za-z_\-]{16,})", mixed: true },
    // OpenAI's API docs; gitleaks openai-api-key; OpenRouter ("sk-or-") and others give the same shape.
    Shape { name: "API key", pattern: apart!(r"sk-[0-9A-Za-z_\-]{16,}"), mixed: true },
    // GitHub docs, "About authentication to GitHub", token formats; gitleaks github-*.
    Shape { name: "GitHub token", pattern: r"(?<s>gh[pousr]_[0-9A-Za-z]{20,})", mixed: true },
    Shape { name: "GitHub token", pattern: r"(?<s>github_pat_[0-9A-Za-z_]{20,})", mixed: true },
    // GitLab docs, "Token prefixes"; gitleaks gitlab-*.
    Shape {
        name: "GitLab token",
        pattern: r"(?<s>gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat)-[0-9A-Za-z_\-]{20,})",
        mixed: false,
    },
    // AWS IAM docs, "IAM identifiers", unique id prefixes; gitleaks aws-access-token.
    Shape { name: "AWS key id", pattern: r"(?<s>(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16})", mixed: false },
    // Slack docs, "Token types" and "Incoming webhooks"; gitleaks slack-*.
    Shape { name: "Slack token", pattern: r"(?<s>xox[a-z](?:\.xox[a-z])?-[0-9A-Za-z\-]{10,})", mixed: true },
    Shape { name: "Slack token", pattern: r"(?<s>xapp-[0-9]-[0-9A-Za-z\-]{10,})", mixed: true },
    Shape {
        name: "Slack webhook",
        pattern: r"hooks\.slack\.com/(?:services|workflows|triggers)/(?<s>[0-9A-Za-z/_\-]{20,})",
        mixed: true,
    },
    // Google Cloud docs, "API keys"; gitleaks gcp-api-key. OAuth: Google Identity docs, token formats.
    Shape { name: "Google key", pattern: r"(?<s>AIza[0-9A-Za-z_\-]{35})", mixed: false },
    Shape { name: "Google token", pattern: r"(?<s>ya29\.[0-9A-Za-z_\-]{20,})", mixed: false },
    Shape { name: "Google secret", pattern: r"(?<s>GOCSPX-[0-9A-Za-z_\-]{20,})", mixed: false },
    // Stripe docs, "API keys"; gitleaks stripe-access-token.
    Shape {
        name: "Stripe key",
        pattern: apart!(r"(?:sk|rk|whsec)_(?:live_|test_|prod_)?[0-9A-Za-z]{16,}"),
        mixed: true,
    },
    // Each giver's docs; gitleaks npm-access-token, pypi-upload-token, huggingface-access-token, digitalocean-*, sendgrid-*.
    Shape { name: "npm token", pattern: r"(?<s>npm_[0-9A-Za-z]{36})", mixed: true },
    Shape { name: "PyPI token", pattern: r"(?<s>pypi-AgE[0-9A-Za-z_\-]{30,})", mixed: false },
    Shape { name: "Hugging Face token", pattern: apart!(r"hf_[0-9A-Za-z]{30,}"), mixed: false },
    Shape { name: "DigitalOcean token", pattern: r"(?<s>do[opr]_v1_[0-9a-f]{64})", mixed: false },
    Shape { name: "SendGrid key", pattern: r"(?<s>SG\.[0-9A-Za-z_\-]{20,24}\.[0-9A-Za-z_\-]{39,50})", mixed: false },
    Shape { name: "API key", pattern: apart!(r"xai-[0-9A-Za-z]{32,}"), mixed: true },
    Shape { name: "API key", pattern: apart!(r"gsk_[0-9A-Za-z]{32,}"), mixed: true },
    Shape { name: "API key", pattern: apart!(r"pplx-[0-9A-Za-z]{32,}"), mixed: true },
    // RFC 7519 and RFC 7516: three or five parts, the first of which begins with `{"`.
    Shape {
        name: "JWT",
        pattern: r"(?<s>eyJ[0-9A-Za-z_\-]{8,}\.[0-9A-Za-z_\-]{8,}(?:\.[0-9A-Za-z_\-]*){1,3})",
        mixed: false,
    },
    // RFC 6750 and RFC 7617.
    Shape {
        name: "authorization",
        pattern: r#"(?i)authorization(?:\\?["'])?\s*[:=]\s*(?:\\?["'])?(?:(?:bearer|basic|token|digest|apikey)\s+)?(?<s>[0-9a-z._~+/=\-]{8,})"#,
        mixed: false,
    },
    Shape { name: "authorization", pattern: r"(?i)bearer\s+(?<s>[0-9a-z._~+/=\-]{16,})", mixed: true },
    // RFC 3986, 3.2.1: the password of a URL.
    Shape {
        name: "password",
        pattern: r#"[a-zA-Z][a-zA-Z0-9+.\-]{1,20}://[^\s/:@"'<>`\\$\[]{0,100}:(?<s>[^\s/:@"'<>`\\${\[]{3,200})@[0-9A-Za-z\[]"#,
        mixed: false,
    },
];

/// RFC 7468 (`PRIVATE KEY`), OpenSSH's and OpenSSL's forms of it, RFC 4880 (`PGP PRIVATE KEY BLOCK`).
pub(super) const KEY_BEGIN: &str = r"-----BEGIN [0-9A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----";
pub(super) const KEY_END: &str = r"-----END [0-9A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----";

/// `name = value` in the forms of shells, JSON (also inside of a JSON string), YAML, headers, URLs and code. Names as in
/// gitleaks generic-api-key.
pub(super) const ASSIGNED: &str = concat!(
    r"(?i)(?<name>pass(?:word|wd|phrase)|(?:client|app|api|auth|access|refresh|secret|session|id|bot|private|signing|encryption)[_\-.]?(?:secret|key|token)",
    r"|secret[_\-.]?access[_\-.]?key|x-api-key|apikey|\btoken|[_\-]token|\bpwd|\bsecret|[_\-]secret)",
    r#"(?<sign>(?:\\?["'])?[ \t]{0,8}(?::|=>?|:=)[ \t]{0,8})"#,
    r#"(?:\\?"(?<double>[^"\\\r\n]{1,500})|\\?'(?<single>[^'\\\r\n]{1,500})|(?<bare>[^\s"'`,;&|<>(){}\[\]\\]{1,500}))"#,
);

/// What a name says of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Something that a person may have chosen: short, any words.
    Password,
    /// Something that a machine made: long, letters and digits.
    Token,
}

pub(super) fn kind_of_name(name: &str) -> Kind {
    let name = name.to_ascii_lowercase();
    if name.starts_with("pass") || name == "pwd" { Kind::Password } else { Kind::Token }
}
