//! Taking known keys out of a TOML table, so that what stays is what an unknown version wrote and must survive. A key of
//! another type is a fault of the file, told by name. Only the store's files call it.

use std::collections::BTreeMap;

use sys::Failure;
use toml::{Table, Value};

/// A table whose known keys are taken one by one.
pub(super) struct Fields {
    pub(super) table: Table,
}

fn wrong(name: &str, wanted: &str, got: &Value) -> Failure {
    Failure::new(format!("`{name}` must be {wanted}, this is {}", got.type_str()))
}

impl Fields {
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        match self.table.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            // A time without quotes is the same time.
            Some(Value::Datetime(time)) => Ok(Some(time.to_string())),
            Some(other) => Err(wrong(name, "a text", &other)),
        }
    }

    pub(super) fn needed(&mut self, name: &str) -> Result<String, Failure> {
        self.text(name)?.ok_or_else(|| Failure::new(format!("a block has no `{name}`")))
    }

    pub(super) fn flag(&mut self, name: &str) -> Result<bool, Failure> {
        match self.table.remove(name) {
            None => Ok(false),
            Some(Value::Boolean(flag)) => Ok(flag),
            Some(other) => Err(wrong(name, "true or false", &other)),
        }
    }

    pub(super) fn texts(&mut self, name: &str) -> Result<Vec<String>, Failure> {
        match self.table.remove(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .into_iter()
                .map(|item| match item {
                    Value::String(text) => Ok(text),
                    other => Err(wrong(name, "a list of texts", &other)),
                })
                .collect(),
            Some(other) => Err(wrong(name, "a list", &other)),
        }
    }

    pub(super) fn table(&mut self, name: &str) -> Result<Table, Failure> {
        match self.table.remove(name) {
            None => Ok(Table::new()),
            Some(Value::Table(table)) => Ok(table),
            Some(other) => Err(wrong(name, "a table", &other)),
        }
    }

    pub(super) fn env(&mut self, name: &str) -> Result<BTreeMap<String, String>, Failure> {
        self.table(name)?
            .into_iter()
            .map(|(key, value)| match value {
                Value::String(text) => Ok((key, text)),
                Value::Integer(number) => Ok((key, number.to_string())),
                Value::Boolean(flag) => Ok((key, flag.to_string())),
                other => Err(wrong(&format!("{name}.{key}"), "a text", &other)),
            })
            .collect()
    }

    pub(super) fn blocks(&mut self, name: &str) -> Result<Vec<Self>, Failure> {
        match self.table.remove(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .into_iter()
                .map(|item| match item {
                    Value::Table(table) => Ok(Self { table }),
                    other => Err(wrong(name, "a list of tables", &other)),
                })
                .collect(),
            Some(other) => Err(wrong(name, "a list of tables", &other)),
        }
    }
}
