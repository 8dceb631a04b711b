//! Which queries are meant: `all`, `q0,q5`, `q5-q9`.

use anyhow::{Result, anyhow, bail};
use nexmark_queries::{ALL, Query, find, nearest};

/// The queries that the texts name, each once, in the order given.
pub(crate) fn select(texts: &[String]) -> Result<Vec<&'static Query>> {
    let mut selected: Vec<&'static Query> = Vec::new();
    for part in texts.iter().flat_map(|text| text.split(',')) {
        for query in expand(part.trim())? {
            if !selected.iter().any(|known| known.name == query.name) {
                selected.push(query);
            }
        }
    }
    Ok(selected)
}

/// One query by its name.
pub(crate) fn single(name: &str) -> Result<&'static Query> {
    find(name).ok_or_else(|| {
        let near = nearest(name, ALL.iter().map(|query| query.name));
        let hint = near.map(|near| format!(", did you mean {near:?}?")).unwrap_or_default();
        anyhow!("unknown query {name:?}, known are {}{hint}", known())
    })
}

fn expand(part: &str) -> Result<Vec<&'static Query>> {
    if part == "all" {
        return Ok(ALL.to_vec());
    }
    let Some((first, last)) = part.split_once('-') else {
        return Ok(vec![single(part)?]);
    };
    let (first, last) = (position(single(first)?), position(single(last)?));
    if first > last {
        bail!("range {part:?} runs backwards, allowed is {}-{}", ALL[last].name, ALL[first].name);
    }
    Ok(ALL[first..=last].to_vec())
}

fn position(query: &Query) -> usize {
    ALL.iter().position(|known| known.name == query.name).unwrap_or_default()
}

fn known() -> String {
    let name = |query: Option<&&Query>| query.map(|query| query.name).unwrap_or_default();
    format!("{} to {} and all", name(ALL.first()), name(ALL.last()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &[&str]) -> Result<Vec<&'static str>, String> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let selected = select(&texts).map_err(|error| error.to_string())?;
        Ok(selected.iter().map(|query| query.name).collect())
    }

    #[test]
    fn names_ranges_and_all_are_understood() {
        assert_eq!(names(&["q0,q5"]), Ok(vec!["q0", "q5"]));
        assert_eq!(names(&["q9", "q5-q7,q6"]), Ok(vec!["q9", "q5", "q6", "q7"]));
        assert_eq!(names(&["all"]).map(|all| all.len()), Ok(ALL.len()));
    }

    #[test]
    fn mistakes_name_what_is_known() {
        let unknown = names(&["q99"]).unwrap_err();
        assert!(unknown.starts_with("unknown query \"q99\", known are q0 to q23 and all"), "{unknown}");
        assert_eq!(names(&["q7-q5"]).unwrap_err(), "range \"q7-q5\" runs backwards, allowed is q5-q7");
        assert!(names(&[""]).is_err());
        assert!(names(&["q1-"]).is_err());
    }
}
