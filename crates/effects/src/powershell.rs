//! PowerShell and `cmd` commands, which a bash parser cannot read. They are split into statements outside quotes, and
//! each statement is classified by its verb.

use std::collections::BTreeMap;

use super::parts::{Parts, Told};
use super::shell::{Given, Shell, Word};
use super::{Effect, code, command, path};

/// Verbs of PowerShell's `Verb-Noun` names that change nothing.
const LOOKING: &str = "get select where format measure test sort group foreach compare convertto convertfrom resolve join split \
     find read show trace wait debug tee-none search assert confirm use-none push pop enter exit";

/// Cmdlets that only display something or change only memory.
const LOOKING_CMDLETS: &str = "write-output write-host write-error write-warning write-verbose write-progress write-debug \
     write-information out-string out-null out-host out-default start-sleep set-location set-strictmode set-variable \
     new-object new-timespan push-location pop-location import-module clear-host new-variable add-type start-job receive-job";

/// Aliases whose effect the table for bash does not have.
const ALIASES: &[(&str, Effect)] = &[
    ("gci", Effect::Read),
    ("gc", Effect::Read),
    ("gi", Effect::Read),
    ("sls", Effect::Read),
    ("iwr", Effect::Read),
    ("irm", Effect::Read),
    ("gps", Effect::Read),
    ("gcm", Effect::Read),
    ("ft", Effect::Read),
    ("fl", Effect::Read),
    ("sc", Effect::Edit),
    ("ni", Effect::Edit),
    ("ri", Effect::Edit),
    ("ci", Effect::Edit),
    ("mi", Effect::Edit),
    ("iex", Effect::Unknown),
    ("spps", Effect::Edit),
    ("ac", Effect::Edit),
];

/// True if `text` is PowerShell rather than a Unix shell: a command named `Verb-Noun`, or PowerShell's variables.
pub(super) fn looks_like(text: &str) -> bool {
    let starts = |statement: &str| {
        let word = statement.split_whitespace().next().unwrap_or_default();
        is_cmdlet(word) || word.starts_with("$env:") || (word.starts_with('[') && word.contains("]::"))
    };
    let assigns = |statement: &str| {
        statement.strip_prefix('$').is_some_and(|rest| {
            let name = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
            name.len() < rest.len() && name.trim_start().starts_with('=') && !name.trim_start().starts_with("==")
        })
    };
    statements(text).iter().any(|statement| starts(statement) || assigns(statement))
}

/// True for names such as `Get-ChildItem`: a capitalised verb, a hyphen and a capitalised noun.
fn is_cmdlet(word: &str) -> bool {
    word.split_once('-').is_some_and(|(verb, noun)| {
        verb.len() > 2
            && verb.starts_with(|c: char| c.is_ascii_uppercase())
            && verb.chars().all(|c| c.is_ascii_alphabetic())
            && noun.starts_with(|c: char| c.is_ascii_uppercase())
            && noun.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

/// The effect of a command that bash cannot parse but that may be `cmd`, whose `&` and `2>nul` mean something else
/// there. `None` if it is not for Windows.
pub(super) fn effect_of_other_shell(text: &str, shell: &mut Shell<'_>) -> Option<Told> {
    let of_windows =
        text.contains(":\\") || text.contains('%') || text.contains("2>nul") || text.contains("$LASTEXITCODE");
    of_windows.then(|| effect(text, shell))
}

/// The combined effect of the statements.
pub(super) fn effect(text: &str, shell: &mut Shell<'_>) -> Told {
    let mut parts = Parts::default();
    let mut variables = BTreeMap::new();
    for statement in statements(text) {
        for told in of_statement(&statement, &mut variables, shell) {
            parts.add(told);
        }
    }
    parts.told()
}

/// Splits a text into statements at `;`, `|`, `&&`, `
/// `, braces, parentheses and line ends outside quotes.
fn statements(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut statement = String::new();
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) => {
                statement.push(character);
                if character == open {
                    quote = None;
                }
            }
            (None, '"' | '\'') => {
                quote = Some(character);
                statement.push(character);
            }
            (None, '`') => statement.extend(characters.next().filter(|next| *next != '\n')),
            // Parentheses split too, so the arguments of `[IO.File]::WriteAllText(…)` become a statement of their own.
            (None, ';' | '|' | '\n' | '{' | '}' | '(' | ')') => all.push(std::mem::take(&mut statement)),
            (None, '&') if characters.peek() == Some(&'&') => {
                characters.next();
                all.push(std::mem::take(&mut statement));
            }
            (None, '&') if !statement.trim_end().ends_with('>') && !statement.trim().is_empty() => {
                all.push(std::mem::take(&mut statement));
            }
            (None, '&') if statement.trim().is_empty() => statement.push('&'),
            _ => statement.push(character),
        }
    }
    all.push(statement);
    all.iter().map(|statement| statement.trim().to_owned()).filter(|statement| !statement.is_empty()).collect()
}

fn of_statement(statement: &str, variables: &mut BTreeMap<String, String>, shell: &mut Shell<'_>) -> Vec<Told> {
    let mut told = Vec::new();
    let mut rest = statement.trim_start_matches('@').trim();
    if let Some(assigned) = rest.strip_prefix('$')
        && let Some((name, value)) = assigned.split_once('=')
        && name.trim().chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '.'))
    {
        let value = value.trim();
        variables.insert(name.trim().to_ascii_lowercase(), value.trim_matches(['"', '\'']).to_owned());
        rest = value;
        if (rest.is_empty() || rest.starts_with(['"', '\'', '$', '[']) || rest.chars().all(|c| c.is_ascii_digit()))
            && !writes_by_method(rest)
        {
            return vec![Told::new(Effect::Read, "sets variables")];
        }
    }
    let (words, written) = words(rest, variables);
    for file in written {
        told.push(Told::new(Effect::Edit, format!("writes `{}`", code::shortened(&file))).touching(vec![file]));
    }
    if writes_by_method(rest) {
        told.push(Told::new(Effect::Edit, format!("`{}`", code::shortened(rest))));
        return told;
    }
    let Some(first) = words.first() else { return told };
    let lower = first.text.to_ascii_lowercase();
    if is_word_of_language(&lower)
        || lower.starts_with(['$', '[', '-', '"', '\'', '.', '#', ',', '}', '<'])
            && !lower.starts_with(".\\")
            && !lower.starts_with("./")
    {
        told.push(Told::new(Effect::Read, "an expression"));
        return told;
    }
    told.push(of_words(&lower, &words, shell));
    told
}

fn is_word_of_language(word: &str) -> bool {
    matches!(
        word,
        "if" | "else"
            | "elseif"
            | "foreach"
            | "for"
            | "while"
            | "do"
            | "until"
            | "switch"
            | "try"
            | "catch"
            | "finally"
            | "throw"
            | "return"
            | "param"
            | "function"
            | "begin"
            | "process"
            | "end"
            | "break"
            | "continue"
            | "exit"
            | "in"
            | "not"
            | "rem"
            | "@echo"
            | "setlocal"
            | "endlocal"
            | "goto"
    )
}

fn writes_by_method(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    [
        "::write",
        "::append",
        "::delete",
        "::move",
        "::copy",
        "::create",
        "::setenvironmentvariable",
        "::replace",
        ".save",
    ]
    .iter()
    .any(|method| lower.contains(method))
        && lower.contains("::")
}

fn of_words(lower: &str, words: &[Word], shell: &mut Shell<'_>) -> Told {
    let why = format!("`{}`", command::spelled(words, 2));
    let program = path::program(lower);
    if let Some((_, effect)) = ALIASES.iter().find(|(alias, _)| *alias == program) {
        return Told::new(*effect, why);
    }
    let has = |option: &str| words.iter().any(|word| word.text.to_ascii_lowercase().starts_with(option));
    if is_cmdlet(&words[0].text) || (lower.contains('-') && looking(lower)) {
        let verb = lower.split('-').next().unwrap_or_default();
        let effect = match lower {
            "invoke-webrequest" | "invoke-restmethod" => {
                if has("-outfile") {
                    Effect::Edit
                } else if has("-method") && !has("get") {
                    Effect::Unknown
                } else {
                    Effect::Read
                }
            }
            "start-process" | "invoke-expression" | "invoke-command" | "invoke-item" => Effect::Unknown,
            "invoke-pester" | "invoke-scriptanalyzer" => Effect::Check,
            "publish-module" | "send-mailmessage" => Effect::Handover,
            "tee-object" => {
                if has("-variable") {
                    Effect::Read
                } else {
                    Effect::Edit
                }
            }
            _ if looking(lower) || LOOKING.split_ascii_whitespace().any(|word| word == verb) => Effect::Read,
            _ if verb == "invoke" => Effect::Unknown,
            _ => Effect::Edit,
        };
        return Told::new(effect, why);
    }
    let before = std::mem::take(&mut shell.parts);
    command::run(shell, words, Given::default());
    std::mem::replace(&mut shell.parts, before).told()
}

fn looking(cmdlet: &str) -> bool {
    LOOKING_CMDLETS.split_ascii_whitespace().any(|word| word == cmdlet)
}

/// The words of a statement without quotes, with known variables substituted, and the files it redirects to.
#[expect(clippy::match_same_arms, reason = "in the order in which they are asked")]
fn words(statement: &str, variables: &BTreeMap<String, String>) -> (Vec<Word>, Vec<String>) {
    let mut tokens: Vec<(String, bool)> = Vec::new();
    let mut token = String::new();
    let (mut quote, mut quoted) = (None, false);
    let mut push = |token: &mut String, quoted: &mut bool| {
        if !token.is_empty() || *quoted {
            tokens.push((std::mem::take(token), std::mem::replace(quoted, false)));
        }
    };
    for character in statement.chars() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (Some(_), _) => token.push(character),
            (None, '"' | '\'') => (quote, quoted) = (Some(character), true),
            (None, c) if c.is_whitespace() => push(&mut token, &mut quoted),
            (None, '>') if !token.ends_with('>') && !token.chars().all(|c| c.is_ascii_digit() || c == '*') => {
                push(&mut token, &mut quoted);
                token.push('>');
            }
            (None, c)
                if token.trim_start_matches(|d: char| d.is_ascii_digit() || d == '*').chars().all(|d| d == '>')
                    && token.contains('>')
                    && c != '>'
                    && c != '&' =>
            {
                push(&mut token, &mut quoted);
                token.push(c);
            }
            _ => token.push(character),
        }
    }
    push(&mut token, &mut quoted);
    let mut words = Vec::new();
    let mut written = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some((text, quoted)) = tokens.next() {
        let is_redirect = !quoted
            && text.contains('>')
            && text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '*').chars().all(|c| c == '>');
        if is_redirect {
            if let Some((file, _)) = tokens.next().filter(|(file, _)| !path::is_sink(file)) {
                written.push(file);
            }
            continue;
        }
        if !quoted && (text == "&" || text.contains(">&")) {
            continue;
        }
        let known = text.strip_prefix('$').and_then(|name| variables.get(&name.to_ascii_lowercase()));
        words.push(Word::plain(known.map_or(text.as_str(), String::as_str)));
    }
    (words, written)
}
