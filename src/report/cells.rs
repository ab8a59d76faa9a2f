//! Converts a record to cells through serde, without formatting each number as text.

use std::fmt::Display;
use std::ops::Range;

use serde::Serialize;
use serde::ser::{Error as _, Impossible, SerializeStruct, Serializer};

use crate::reader::ParquetCell;

/// The cells of one row; reused for the next row.
#[derive(Debug, Default)]
pub struct RecordCells {
    texts: String,
    pieces: Vec<CellValue>,
}

#[derive(Clone, Debug)]
enum CellValue {
    None,
    Text(Range<usize>),
    Whole(i64),
    Real(f64),
    Truth(bool),
}

/// Why a value cannot be a cell.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoCell(String);

impl serde::ser::Error for NoCell {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl RecordCells {
    /// Replaces the cells with the fields of `row`.
    pub fn take(&mut self, row: &impl Serialize) -> Result<(), NoCell> {
        self.texts.clear();
        self.pieces.clear();
        row.serialize(self)
    }

    /// The cells, in the order of the fields.
    pub fn iter(&self) -> impl Iterator<Item = ParquetCell<'_>> {
        self.pieces.iter().map(|piece| match piece {
            CellValue::None => ParquetCell::None,
            CellValue::Text(range) => ParquetCell::Text(self.texts.get(range.clone()).unwrap_or_default()),
            CellValue::Whole(number) => ParquetCell::Whole(*number),
            CellValue::Real(number) => ParquetCell::Real(*number),
            CellValue::Truth(truth) => ParquetCell::Truth(*truth),
        })
    }

    #[expect(clippy::unnecessary_wraps, reason = "as every method of a serializer returns")]
    fn push(&mut self, piece: CellValue) -> Result<(), NoCell> {
        self.pieces.push(piece);
        Ok(())
    }
}

type Nothing = Impossible<(), NoCell>;

impl<'c> Serializer for &'c mut RecordCells {
    type Ok = ();
    type Error = NoCell;
    type SerializeSeq = Nothing;
    type SerializeTuple = Nothing;
    type SerializeTupleStruct = Nothing;
    type SerializeTupleVariant = Nothing;
    type SerializeMap = Nothing;
    type SerializeStruct = FieldSerializer<'c>;
    type SerializeStructVariant = Nothing;

    fn serialize_bool(self, truth: bool) -> Result<(), NoCell> {
        self.push(CellValue::Truth(truth))
    }
    fn serialize_i8(self, number: i8) -> Result<(), NoCell> {
        self.push(CellValue::Whole(number.into()))
    }
    fn serialize_i16(self, number: i16) -> Result<(), NoCell> {
        self.push(CellValue::Whole(number.into()))
    }
    fn serialize_i32(self, number: i32) -> Result<(), NoCell> {
        self.push(CellValue::Whole(number.into()))
    }
    fn serialize_i64(self, number: i64) -> Result<(), NoCell> {
        self.push(CellValue::Whole(number))
    }
    fn serialize_u8(self, number: u8) -> Result<(), NoCell> {
        self.push(CellValue::Whole(number.into()))
    }
    fn serialize_u16(self, number: u16) -> Result<(), NoCell> {
        self.push(CellValue::Whole(number.into()))
    }
    fn serialize_u32(self, number: u32) -> Result<(), NoCell> {
        self.push(CellValue::Whole(number.into()))
    }
    fn serialize_u64(self, number: u64) -> Result<(), NoCell> {
        let number = i64::try_from(number).map_err(|_| NoCell(format!("{number} does not fit into 63 bits")))?;
        self.push(CellValue::Whole(number))
    }
    fn serialize_f32(self, number: f32) -> Result<(), NoCell> {
        self.push(CellValue::Real(number.into()))
    }
    fn serialize_f64(self, number: f64) -> Result<(), NoCell> {
        self.push(CellValue::Real(number))
    }
    fn serialize_char(self, letter: char) -> Result<(), NoCell> {
        self.serialize_str(letter.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, text: &str) -> Result<(), NoCell> {
        let begins = self.texts.len();
        self.texts.push_str(text);
        self.push(CellValue::Text(begins..self.texts.len()))
    }
    fn serialize_bytes(self, _: &[u8]) -> Result<(), NoCell> {
        Err(NoCell::custom("bytes"))
    }
    fn serialize_none(self) -> Result<(), NoCell> {
        self.push(CellValue::None)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NoCell> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), NoCell> {
        self.push(CellValue::None)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), NoCell> {
        self.push(CellValue::None)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), NoCell> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), NoCell> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), NoCell> {
        Err(NoCell::custom("a variant with a value"))
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Nothing, NoCell> {
        Err(NoCell::custom("a list"))
    }
    fn serialize_tuple(self, _: usize) -> Result<Nothing, NoCell> {
        Err(NoCell::custom("a tuple"))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Nothing, NoCell> {
        Err(NoCell::custom("a tuple"))
    }
    fn serialize_tuple_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Nothing, NoCell> {
        Err(NoCell::custom("a variant with values"))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Nothing, NoCell> {
        Err(NoCell::custom("a map"))
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<FieldSerializer<'c>, NoCell> {
        if self.pieces.is_empty() { Ok(FieldSerializer(self)) } else { Err(NoCell::custom("a struct in a struct")) }
    }
    fn serialize_struct_variant(self, _: &'static str, _: u32, _: &'static str, _: usize) -> Result<Nothing, NoCell> {
        Err(NoCell::custom("a variant with values"))
    }
}

/// The serializer that turns the fields of a row into cells.
pub struct FieldSerializer<'c>(&'c mut RecordCells);

impl SerializeStruct for FieldSerializer<'_> {
    type Ok = ();
    type Error = NoCell;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), NoCell> {
        value.serialize(&mut *self.0).map_err(|NoCell(what)| NoCell(format!("`{name}`: {what}")))
    }

    fn end(self) -> Result<(), NoCell> {
        Ok(())
    }
}
