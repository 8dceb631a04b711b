//! Reads a result without its samples, which are nearly all of a file's text and which no comparison looks at: they are passed
//! over as they are parsed, never built.

use std::borrow::Cow;

use serde::de::value::CowStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

use super::RunResult;

/// The fields that are left empty.
const LEFT_OUT: [&str; 2] = ["samples", "host_samples"];

/// A result with no samples.
pub(super) fn without_samples(bytes: &[u8]) -> serde_json::Result<RunResult> {
    let mut source = serde_json::Deserializer::from_slice(bytes);
    let result = RunResult::deserialize(Skimmed(&mut source))?;
    source.end()?;
    Ok(result)
}

/// A source of one struct that hides a field of it.
struct Skimmed<D>(D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Skimmed<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(SkimmedVisitor(visitor))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct SkimmedVisitor<V>(V);

impl<'de, V: Visitor<'de>> Visitor<'de> for SkimmedVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.expecting(formatter)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(SkimmedFields(fields))
    }
}

struct SkimmedFields<A>(A);

impl<'de, A: MapAccess<'de>> MapAccess<'de> for SkimmedFields<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        while let Some(FieldName(name)) = self.0.next_key()? {
            if !LEFT_OUT.contains(&name.as_ref()) {
                return seed.deserialize(CowStrDeserializer::new(name)).map(Some);
            }
            self.0.next_value::<IgnoredAny>()?;
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.0.next_value_seed(seed)
    }
}

/// A name that is borrowed from the text where it can be.
#[derive(Deserialize)]
#[serde(transparent)]
struct FieldName<'a>(#[serde(borrow)] Cow<'a, str>);
