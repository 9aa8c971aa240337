//! What somebody probably meant.

/// The word most like `word`, if one is like it at all: the suggestion in an error message.
///
/// ```
/// assert_eq!(keiko_rules::nearest("mnishogi", ["shogi", "minishogi"]), Some("minishogi"));
/// assert_eq!(keiko_rules::nearest("chess", ["shogi", "minishogi"]), None);
/// ```
pub fn nearest<'a>(word: &str, among: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    among
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= 1.max(candidate.len() / 3))
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

/// The suggestion as the tail of an error message; empty where there is none.
pub(crate) fn hint<'a>(word: &str, among: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, among).map_or(String::new(), |found| format!("; did you mean `{found}`?"))
}
