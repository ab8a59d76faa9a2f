//! Decides whether code passed to an interpreter writes anything. Searches for calls that write or that start programs;
//! code that only reads or prints is a check.

use std::sync::LazyLock;

use regex::Regex;

use crate::Effect;
use crate::parts::CallEffect;
use crate::path;
use crate::words::shortened;

/// A language, as far as its ways of writing files differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeLanguage {
    Python,
    JavaScript,
    Ruby,
    Perl,
    Php,
    Shell,
    Other,
}

impl CodeLanguage {
    /// The language of a file, by its extension.
    pub(crate) fn from_file_name(file: &str) -> Option<Self> {
        let name = path::file_name(file);
        let (_, ending) = name.rsplit_once('.')?;
        Some(match ending.to_ascii_lowercase().as_str() {
            "py" | "pyw" | "ipynb" => Self::Python,
            "js" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "jsx" => Self::JavaScript,
            "rb" => Self::Ruby,
            "pl" | "pm" => Self::Perl,
            "php" => Self::Php,
            "sh" | "bash" | "zsh" => Self::Shell,
            "ps1" | "r" | "jl" | "lua" | "bat" | "cmd" | "exs" | "groovy" | "tcl" | "awk" | "sed" => Self::Other,
            _ => return None,
        })
    }

    /// The language of a script, by its first line.
    pub(crate) fn from_first_line(text: &str) -> Option<Self> {
        let first = text.lines().next()?;
        if !first.starts_with("#!") {
            return None;
        }
        let interpreters = [
            ("python", Self::Python),
            ("node", Self::JavaScript),
            ("ruby", Self::Ruby),
            ("perl", Self::Perl),
            ("sh", Self::Shell),
        ];
        for (name, language) in interpreters {
            if first.contains(name) {
                return Some(language);
            }
        }
        None
    }
}

struct Signs {
    writes: Regex,
    starts: Regex,
}

fn signs(writes: &str, starts: &str) -> Signs {
    let compile = |pattern: &str| Regex::new(pattern).expect("the patterns of this file are valid, tested below");
    Signs { writes: compile(writes), starts: compile(starts) }
}

static PYTHON: LazyLock<Signs> = LazyLock::new(|| {
    signs(
        r#"(?x)
        \bopen\s*\((?:[^()]|\([^()]*\))*?,\s*(?:mode\s*=\s*)?[rbuf]?['"][rbtU]*[wax+][rbtU+]*['"]
        | \.open\(\s*(?:mode\s*=\s*)?['"][rbtU]*[wax+]
        | \.(?:write_text|write_bytes|writelines|write|touch|unlink|rmdir|mkdir|makedirs|rename|symlink_to|hardlink_to|chmod)\s*\(
        | \bos\.(?:remove|unlink|rename|renames|replace|rmdir|removedirs|makedirs|mkdir|truncate|symlink|link|chmod|chown|utime|kill)\b
        | \bshutil\.(?:copy\w*|move|rmtree|make_archive|unpack_archive|chown)\b
        | \b(?:json|pickle|yaml|toml|marshal|joblib|np|numpy|torch)\.(?:dump|safe_dump|dump_all|save\w*)\s*\(
        | \.(?:to_csv|to_json|to_parquet|to_excel|to_pickle|to_sql|savefig|extractall|commit|bulk_create)\s*\(
        | \bfileinput\.(?:input|FileInput)\([^)]*inplace
        | \b(?:requests|httpx|session|client)\.(?:post|put|patch|delete)\s*\(
        | \b(?:INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|DROP\s+TABLE|CREATE\s+TABLE|ALTER\s+TABLE)\b
        "#,
        r"\b(?:subprocess\.\w+|os\.(?:system|popen|exec\w*|spawn\w*)|Popen|check_call|check_output|exec|eval|runpy\.\w+|call_command)\s*\(",
    )
});

static JAVASCRIPT: LazyLock<Signs> = LazyLock::new(|| {
    signs(
        r#"\b(?:writeFile|appendFile|unlink|rm|rmdir|mkdir|mkdtemp|rename|copyFile|cp|truncate|symlink|link|chmod|writeSync|createWriteStream|outputFile|outputJson|writeJson|writeTextFile|removeSync|emptyDir|ensureDir|ensureFile)(?:Sync)?\s*\(|\.write\s*\(\s*['"`]|\bBun\.write\b|method\s*:\s*['"](?:POST|PUT|PATCH|DELETE)"#,
        r"\b(?:child_process|exec|execSync|spawn|spawnSync|execFile|execFileSync|eval|fork)\b",
    )
});

static RUBY: LazyLock<Signs> = LazyLock::new(|| {
    signs(
        r#"\b(?:File|IO|Pathname)\.(?:write|binwrite|delete|unlink|rename|chmod|symlink|truncate)|\bFile\.(?:open|new)\([^)]*,\s*['"][rb]*[wa+]|\bFileUtils\.|\bDir\.(?:mkdir|rmdir|delete)|\.write\("#,
        r"\b(?:system|exec|spawn|Open3)\b|`|%x",
    )
});

static PERL: LazyLock<Signs> = LazyLock::new(|| {
    signs(
        r#"\bopen\b[^;]*['"]?\s*\+?>|\b(?:unlink|rename|rmdir|mkdir|truncate|chmod|symlink|link)\b|\bcopy\(|\bmove\(|\$\^I"#,
        r"\b(?:system|exec|qx)\b|`",
    )
});

static PHP: LazyLock<Signs> = LazyLock::new(|| {
    signs(
        r#"\b(?:file_put_contents|unlink|rename|mkdir|rmdir|copy|touch|fwrite|fputs|fputcsv|symlink|chmod)\s*\(|\bfopen\([^)]*,\s*['"][rb]*[waxc+]"#,
        r"\b(?:system|exec|shell_exec|passthru|proc_open|eval)\s*\(",
    )
});

static OTHER: LazyLock<Signs> = LazyLock::new(|| {
    signs(
        r#"(?i)\b(?:write\w*|save\w*|unlink|delete|remove|rename|mkdir|rm|touch|sink|file\.create|ggsave|pdf|png)\s*\(|\bopen\([^)]*,\s*['"][wa]|\b(?:Set|Add|Remove|New|Copy|Move|Rename|Clear)-[A-Z]"#,
        r"(?i)\b(?:system|exec|run|popen|spawn|do shell script)\b",
    )
});

/// The effect of running `code`, which must not be shell code.
pub(crate) fn effect(code: &str, language: CodeLanguage) -> CallEffect {
    let signs = match language {
        CodeLanguage::Python => &*PYTHON,
        CodeLanguage::JavaScript => &*JAVASCRIPT,
        CodeLanguage::Ruby => &*RUBY,
        CodeLanguage::Perl => &*PERL,
        CodeLanguage::Php => &*PHP,
        CodeLanguage::Shell | CodeLanguage::Other => &*OTHER,
    };
    if let Some(sign) = signs.writes.find(code) {
        return CallEffect::new(Effect::Edit, format!("code that writes: `{}`", shortened(sign.as_str())));
    }
    if let Some(sign) = signs.starts.find(code) {
        return CallEffect::new(Effect::Unknown, format!("code that starts a program: `{}`", shortened(sign.as_str())));
    }
    CallEffect::new(Effect::Check, "code is run")
}
