//! Assembles rows from columns; lists, structs and maps become JSON.
//!
//! A column stores the leaf values of many rows, each with two levels. The definition level says how many of the
//! optional and repeated fields around the value are present; the repetition level says in which list a new element
//! begins. Melnik et al. (2010), Dremel, section 4.

use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition};
use parquet::file::metadata::RowGroupMetaData;
use parquet::schema::types::{Type, TypePtr};

use super::guarded::CheckedParquetFile;
use super::leaf::Leaf;
use super::{TornColumn, begin_field};

/// The deepest nesting of a column that is read.
const DEPTH: usize = 32;

/// A field, with the columns it is made of and the fields within it.
pub enum RowField {
    /// A value.
    Leaf(Box<Leaf>),
    /// May be null; present from this definition level on.
    Optional(Box<RowField>, i16),
    /// A struct.
    Group(Vec<(String, RowField)>),
    /// A list, whose elements have one part, or a map, whose entries have two, key and value: not empty from this
    /// definition level on; a new element begins at this repetition level.
    List {
        /// The element, or the key and the value.
        parts: Vec<RowField>,
        /// The definition level.
        definition: i16,
        /// The repetition level.
        repetition: i16,
    },
}

/// Hands out the columns of a row group in the order of the schema.
struct GroupColumns<'g> {
    file: &'g Arc<CheckedParquetFile>,
    group: &'g RowGroupMetaData,
    next: usize,
    rows: usize,
}

/// The number of columns under a field.
pub(crate) fn width(field: &Type) -> usize {
    if field.is_primitive() { 1 } else { field.get_fields().iter().map(|field| width(field)).sum() }
}

/// The field of a row group whose first column is number `first`.
pub(crate) fn field(
    file: &Arc<CheckedParquetFile>,
    group: &RowGroupMetaData,
    first: usize,
    field: &TypePtr,
) -> Result<RowField, TornColumn> {
    let rows = usize::try_from(group.num_rows()).unwrap_or(0);
    GroupColumns { file, group, next: first, rows }.field(field, 0, 0, DEPTH)
}

impl GroupColumns<'_> {
    fn field(
        &mut self,
        field: &TypePtr,
        definition: i16,
        repetition: i16,
        depth: usize,
    ) -> Result<RowField, TornColumn> {
        let info = field.get_basic_info();
        if !info.has_repetition() {
            return self.body(field, definition, repetition, depth);
        }
        match info.repetition() {
            Repetition::OPTIONAL => {
                let node = self.body(field, definition + 1, repetition, depth)?;
                Ok(RowField::Optional(Box::new(node), definition + 1))
            }
            Repetition::REPEATED => {
                let (definition, repetition) = (definition + 1, repetition + 1);
                let parts = vec![self.body(field, definition, repetition, depth)?];
                Ok(RowField::List { parts, definition, repetition })
            }
            Repetition::REQUIRED => self.body(field, definition, repetition, depth),
        }
    }

    fn body(
        &mut self,
        field: &TypePtr,
        definition: i16,
        repetition: i16,
        depth: usize,
    ) -> Result<RowField, TornColumn> {
        let too_deep = || TornColumn { column: field.name().to_owned(), why: format!("nested more than {DEPTH} deep") };
        let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        if field.is_primitive() {
            let missing = || TornColumn { column: field.name().to_owned(), why: "the row group lacks it".to_owned() };
            let chunk = self.group.columns().get(self.next).ok_or_else(missing)?;
            self.next += 1;
            return Ok(RowField::Leaf(Box::new(Leaf::open(self.file, chunk, self.rows)?)));
        }
        let fields = field.get_fields();
        if let Some(repeated) = repeated_in(field) {
            let (definition, repetition) = (definition + 1, repetition + 1);
            let is_entry = is_map(field) && !repeated.is_primitive() && repeated.get_fields().len() == 2;
            let parts = if !is_entry && is_element(field.name(), repeated) {
                vec![self.body(repeated, definition, repetition, depth)?]
            } else {
                let part = |part| self.field(part, definition, repetition, depth);
                repeated.get_fields().iter().map(part).collect::<Result<_, _>>()?
            };
            return Ok(RowField::List { parts, definition, repetition });
        }
        let mut nodes = Vec::with_capacity(fields.len());
        for inner in fields {
            nodes.push((inner.name().to_owned(), self.field(inner, definition, repetition, depth)?));
        }
        Ok(RowField::Group(nodes))
    }
}

/// The repeated field inside a list or a map.
fn repeated_in(field: &Type) -> Option<&TypePtr> {
    let info = field.get_basic_info();
    let is_list =
        matches!(info.logical_type_ref(), Some(LogicalType::List)) || info.converted_type() == ConvertedType::LIST;
    let [only] = field.get_fields() else { return None };
    let repeats = only.get_basic_info().has_repetition() && only.get_basic_info().repetition() == Repetition::REPEATED;
    if (is_list || is_map(field)) && repeats { Some(only) } else { None }
}

fn is_map(field: &Type) -> bool {
    let info = field.get_basic_info();
    matches!(info.logical_type_ref(), Some(LogicalType::Map))
        || matches!(info.converted_type(), ConvertedType::MAP | ConvertedType::MAP_KEY_VALUE)
}

/// True if the repeated field of a list is its element, as older writers have it, rather than a wrapper around the
/// element. Follows LogicalTypes.md of the format, "Backward-compatibility rules".
fn is_element(list: &str, repeated: &Type) -> bool {
    repeated.is_primitive()
        || repeated.get_fields().len() != 1
        || repeated.name() == "array"
        || repeated.name().strip_suffix("_tuple") == Some(list)
}

impl RowField {
    /// Makes the next row available. `false` at the end of the row group.
    pub(crate) fn refill(&mut self) -> Result<bool, TornColumn> {
        let mut more = true;
        self.each(&mut |leaf| {
            more &= leaf.refill()?;
            Ok(())
        })?;
        Ok(more)
    }

    /// Writes the field of the next row as JSON.
    pub fn write(&mut self, out: &mut Vec<u8>) -> Result<(), TornColumn> {
        match self {
            Self::Leaf(leaf) => leaf.write(out),
            Self::Optional(inner, definition) => {
                if inner.is_null(*definition) {
                    out.extend_from_slice(b"null");
                    return inner.skip();
                }
                inner.write(out)
            }
            Self::Group(fields) => {
                out.push(b'{');
                for (n, (name, field)) in fields.iter_mut().enumerate() {
                    begin_field(n, name.as_bytes(), out);
                    field.write(out)?;
                }
                out.push(b'}');
                Ok(())
            }
            Self::List { parts, definition, repetition } => {
                let ends: [u8; 2] = if parts.len() == 1 { *b"[]" } else { *b"{}" };
                out.push(ends[0]);
                if parts[0].is_null(*definition) {
                    parts.iter_mut().try_for_each(Self::skip)?;
                } else {
                    let mut n = 0;
                    loop {
                        write_element(parts, n, out)?;
                        n += 1;
                        if parts[0].peek().is_none_or(|(_, level)| level < *repetition) {
                            break;
                        }
                    }
                }
                out.push(ends[1]);
                Ok(())
            }
        }
    }

    /// Writes the field of the next row: text unquoted, anything else as JSON. `false` if it is null.
    pub fn text(&mut self, out: &mut Vec<u8>) -> Result<bool, TornColumn> {
        match self {
            Self::Leaf(leaf) => leaf.text(out).map(|()| true),
            Self::Optional(inner, definition) if inner.is_null(*definition) => inner.skip().map(|()| false),
            Self::Optional(inner, _) => inner.text(out),
            Self::Group(_) | Self::List { .. } => self.write(out).map(|()| true),
        }
    }

    /// Whether the next row has nothing at this level of definition.
    fn is_null(&self, definition: i16) -> bool {
        matches!(self.peek(), Some((level, _)) if level < definition)
    }

    fn peek(&self) -> Option<(i16, i16)> {
        match self {
            Self::Leaf(leaf) => leaf.peek(),
            Self::Optional(inner, _) => inner.peek(),
            Self::Group(fields) => fields.first()?.1.peek(),
            Self::List { parts, .. } => parts.first()?.peek(),
        }
    }

    fn skip(&mut self) -> Result<(), TornColumn> {
        self.each(&mut Leaf::skip)
    }

    fn each(&mut self, act: &mut impl FnMut(&mut Leaf) -> Result<(), TornColumn>) -> Result<(), TornColumn> {
        match self {
            Self::Leaf(leaf) => act(leaf),
            Self::Optional(inner, _) => inner.each(act),
            Self::Group(fields) => fields.iter_mut().try_for_each(|(_, field)| field.each(act)),
            Self::List { parts, .. } => parts.iter_mut().try_for_each(|part| part.each(act)),
        }
    }
}

/// Writes element `n` of a list or entry `n` of a map.
fn write_element(parts: &mut [RowField], n: usize, out: &mut Vec<u8>) -> Result<(), TornColumn> {
    if let [key, value] = parts {
        let mut name = Vec::new();
        key.text(&mut name)?;
        begin_field(n, &name, out);
        return value.write(out);
    }
    if n > 0 {
        out.push(b',');
    }
    parts[0].write(out)
}
