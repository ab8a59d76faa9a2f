//! The words of a command: options, their values, operands.

/// A word of a command, without its quotes.
#[derive(Clone, Debug)]
pub(crate) struct CommandWord {
    pub(crate) text: String,
    /// True if part of it comes from a variable or a command.
    pub(crate) varies: bool,
}

impl CommandWord {
    /// A literal word.
    pub(crate) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), varies: false }
    }

    /// True if it can stand for several files, or for one that is not known.
    pub(crate) fn is_pattern(&self) -> bool {
        self.varies || self.text.contains(['*', '?', '{'])
    }

    /// True for `-x`, but not for `--x`.
    pub(crate) fn is_short_option(&self) -> bool {
        self.text.starts_with('-') && !self.text.starts_with("--")
    }
}

impl AsRef<str> for CommandWord {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// The words after the options. The options in `with_value` are followed by a value of their own.
pub(crate) fn after_options<'w>(words: &'w [CommandWord], with_value: &[impl AsRef<str>]) -> &'w [CommandWord] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word.text == "--" {
            return &words[at + 1..];
        }
        if !word.text.starts_with('-') || word.text == "-" {
            break;
        }
        let takes_value = with_value.iter().any(|option| option.as_ref() == word.text);
        at += if takes_value { 2 } else { 1 };
    }
    words.get(at..).unwrap_or_default()
}

/// The first words of a command, for an explanation.
pub(crate) fn spelled(words: &[CommandWord], most: usize) -> String {
    shortened(&joined(&words[..words.len().min(most)]))
}

/// The trimmed text, cut to its first 40 characters.
pub(crate) fn shortened(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// True if one of `flags` is among the words before `--`. A short flag may be part of a group (`-rf`).
pub(crate) fn has(words: &[CommandWord], flags: &[impl AsRef<str>]) -> bool {
    let mut before = words.iter().take_while(|word| word.text != "--");
    before.any(|word| flags.iter().any(|flag| gives(&word.text, flag.as_ref())))
}

/// True if a word gives the flag: as `-r`, as part of `-rf`, as `--output` or as `--output=x`.
fn gives(word: &str, flag: &str) -> bool {
    if word == flag {
        return true;
    }
    if flag.starts_with("--") {
        return word.strip_prefix(flag).is_some_and(|rest| rest.starts_with('='));
    }
    let Some(group) = word.strip_prefix('-') else { return false };
    flag.len() == 2 && group.chars().all(|c| c.is_ascii_alphabetic()) && group.contains(&flag[1..])
}

/// The words that are not options.
pub(crate) fn operands(words: &[CommandWord]) -> impl Iterator<Item = &CommandWord> {
    words.iter().filter(|word| !word.text.starts_with('-'))
}

/// The texts of the words that are not options.
pub(crate) fn operand_texts(words: &[CommandWord]) -> Vec<String> {
    operands(words).map(|word| word.text.clone()).collect()
}

/// The words as a shell would read them.
pub(crate) fn joined(words: &[CommandWord]) -> String {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    texts.join(" ")
}

/// The value of one of these options: `-o x` or `--output=x`.
pub(crate) fn value_after(words: &[CommandWord], options: &[&str]) -> Option<String> {
    let is_option = |name: &str| options.contains(&name);
    let mut pairs = words.windows(2).filter(|pair| is_option(&pair[0].text)).map(|pair| pair[1].text.as_str());
    let mut joined = words.iter().filter_map(|word| word.text.split_once('=')).filter(|(name, _)| is_option(name));
    Some(pairs.next().or_else(|| Some(joined.next()?.1))?.to_owned())
}

/// The method of a web request, in capitals, if an option names one: `-X POST`, `-XPOST` or `--method=POST`.
pub(crate) fn request_method(words: &[CommandWord]) -> Option<String> {
    let joined = || words.iter().find_map(|word| word.text.strip_prefix("-X").filter(|method| !method.is_empty()));
    let named = value_after(words, &["-X", "--request", "--method"]).or_else(|| joined().map(str::to_owned));
    Some(named?.to_ascii_uppercase())
}
