//! Where things stand in a TOML text, and what they mean.

use toml_edit::{InlineTable, Item, Key, Table, TableLike, Value as Node};

use crate::edit::model::Model;

/// How many lines stand below the header of this table.
pub(super) fn own_lines(table: &Table) -> usize {
    let lines = |item: &Item| match item {
        Item::Value(_) => 1,
        Item::Table(inner) if inner.is_dotted() => own_lines(inner),
        _ => 0,
    };
    table.iter().map(|(_, item)| lines(item)).sum()
}

/// Where the last value that stands in the lines of this table ends.
pub(super) fn last_value_end(table: &Table) -> Option<usize> {
    let end = |item: &Item| match item {
        Item::Value(value) => value.span().map(|span| span.end),
        Item::Table(inner) if inner.is_dotted() => last_value_end(inner),
        _ => None,
    };
    table.iter().filter_map(|(_, item)| end(item)).max()
}

pub(super) fn last_inline_end(table: &InlineTable) -> Option<usize> {
    inline_ends(table).into_iter().max()
}

/// Where each pair of an inline table ends, those with dotted keys too.
pub(super) fn inline_ends(table: &InlineTable) -> Vec<usize> {
    let mut ends = Vec::new();
    for (_, value) in table {
        match value {
            Node::InlineTable(inner) if inner.is_dotted() => ends.extend(inline_ends(inner)),
            other => ends.extend(other.span().map(|span| span.end)),
        }
    }
    ends
}

pub(super) fn first_key_start(table: &Table) -> Option<usize> {
    let own = |item: &Item| match item {
        Item::Value(_) => true,
        Item::Table(inner) => inner.is_dotted(),
        _ => false,
    };
    let names = table.iter().filter(|(_, item)| own(item));
    names.filter_map(|(name, _)| table.key(name).and_then(Key::span)).map(|span| span.start).min()
}

pub(super) fn table_model(table: &dyn TableLike) -> Model {
    Model::Map(table.iter().map(|(key, item)| (key.to_owned(), item_model(item))).collect())
}

pub(super) fn item_model(item: &Item) -> Model {
    match item {
        Item::None => Model::Null,
        Item::Value(value) => value_model(value),
        Item::Table(table) => table_model(table),
        Item::ArrayOfTables(tables) => Model::List(tables.iter().map(|table| table_model(table)).collect()),
    }
}

pub(super) fn value_model(value: &Node) -> Model {
    match value {
        Node::String(text) => Model::Text(text.value().clone()),
        Node::Integer(number) => Model::Number(number.value().to_string()),
        Node::Float(number) => Model::Number(format!("{:?}", number.value())),
        Node::Boolean(yes) => Model::Bool(*yes.value()),
        Node::Datetime(time) => Model::Number(time.value().to_string()),
        Node::Array(list) => Model::List(list.iter().map(value_model).collect()),
        Node::InlineTable(table) => table_model(table),
    }
}
