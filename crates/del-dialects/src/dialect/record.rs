//! Records: types that say which keys a table of TOML may have, and that are kept as bytes between the build, which
//! reads the built-in descriptions, and the programs that use them.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Declares a struct that can be [`Stored`]. With `keys` behind its name it is also read from a table: its fields are
/// the keys. One without a default has to be there. `where (condition)` says when a key means something at all, and
/// `as kind` names the method of [`Field`](super::table::Field) that reads it, where its type does not tell. A condition
/// and a default may use the fields before, and the table by the name that stands in `keys`. A field with `=> type` is
/// shown by a method of its name.
macro_rules! record {
    ($(#[$about:meta])* pub struct $name:ident keys($table:ident) { $(
        $(#[$note:meta])* pub $field:ident: $type:ty
            $(as $kind:ident)? $(where ($($means:tt)+))? $(= $default:expr)?,
    )* }) => {
        $crate::dialect::record::record! { $(#[$about])* pub struct $name { $($(#[$note])* pub $field: $type,)* } }

        impl $name {
            pub(in crate::dialect) fn keys(
                mut $table: $crate::dialect::table::Table<'_>,
            ) -> Result<Self, $crate::dialect::DialectError> {
                $(
                    let means = true $(&& $($means)+)?;
                    let $field: $type = match means.then(|| $table.take(stringify!($field))).flatten() {
                        Some(field) => $crate::dialect::record::record!(@read field $($kind)?),
                        None => $crate::dialect::record::record!(@default $table $field $(= $default)?),
                    };
                )*
                $table.close()?;
                Ok(Self { $($field),* })
            }
        }

        impl $crate::dialect::table::Read for $name {
            fn read(field: $crate::dialect::table::Field<'_>) -> Result<Self, $crate::dialect::DialectError> {
                Self::keys(field.table()?)
            }
        }
    };
    ($(#[$about:meta])* pub struct $name:ident { $(
        $(#[$note:meta])* pub $(($scope:ident))? $field:ident: $type:ty $(=> $shown:ty)?,
    )* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name { $($(#[$note])* pub $(($scope))? $field: $type,)* }

        impl $name {
            $($crate::dialect::record::record!(@shown [$(#[$note])*] $field $($shown)?);)*
        }

        impl $crate::dialect::record::Stored for $name {
            fn store(&self, out: &mut Vec<u8>) {
                $(self.$field.store(out);)*
            }

            fn load(from: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: $crate::dialect::record::Stored::load(from)?,)* })
            }
        }
    };
    (@shown $notes:tt $field:ident) => {};
    (@shown [$($note:tt)*] $field:ident $shown:ty) => {
        $($note)*
        pub fn $field(&self) -> $shown {
            &self.$field
        }
    };
    (@read $field:ident) => { $crate::dialect::table::Read::read($field)? };
    (@read $field:ident $kind:ident) => { $field.$kind()? };
    (@default $table:ident $field:ident) => { return Err($table.misses(stringify!($field))) };
    (@default $table:ident $field:ident = $default:expr) => { $default };
}

/// Lets an enum be [`Stored`], with names for what its variants hold, or words for them by which it is read.
macro_rules! variants {
    ($name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $crate::dialect::record::variants!($name { $($variant),+ });

        impl $crate::dialect::table::Read for $name {
            fn read(field: $crate::dialect::table::Field<'_>) -> Result<Self, $crate::dialect::DialectError> {
                field.choice(&[$(($word, Self::$variant)),+])
            }
        }
    };
    ($name:ident { $($variant:ident $(($($part:ident),+))? $({ $($named:ident),+ })?),+ $(,)? }) => {
        impl $crate::dialect::record::Stored for $name {
            fn store(&self, out: &mut Vec<u8>) {
                let mut place = 0_usize;
                $(
                    if let Self::$variant $(($($part),+))? $({ $($named),+ })? = self {
                        place.store(out);
                        $($($part.store(out);)+)? $($($named.store(out);)+)?
                    }
                    place += 1;
                )+
                let _ = place;
            }

            fn load(from: &mut &[u8]) -> Option<Self> {
                let mut left = usize::load(from)?;
                $(
                    if left == 0 {
                        $($(let $part = $crate::dialect::record::Stored::load(from)?;)+)?
                        $($(let $named = $crate::dialect::record::Stored::load(from)?;)+)?
                        return Some(Self::$variant $(($($part),+))? $({ $($named),+ })?);
                    }
                    left -= 1;
                )+
                let _ = left;
                None
            }
        }
    };
}

pub(super) use {record, variants};

/// What is kept as bytes. Only the build stores, and only the library loads; the bytes are of the same version of both.
#[allow(dead_code, reason = "one half is for the build, and one for the library")]
pub(crate) trait Stored: Sized {
    fn store(&self, out: &mut Vec<u8>);

    /// None where the bytes are of something else.
    fn load(from: &mut &[u8]) -> Option<Self>;
}

/// Seven bits a byte, the lowest first.
impl Stored for usize {
    fn store(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        loop {
            let [low, ..] = rest.to_le_bytes();
            rest >>= 7;
            if rest == 0 {
                return out.push(low & 0x7f);
            }
            out.push(low | 0x80);
        }
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (byte, rest) = from.split_first()?;
            *from = rest;
            number |= Self::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if *byte <= 0x7f {
                return Some(number);
            }
        }
    }
}

/// Numbers that are kept as others.
macro_rules! number {
    ($($type:ty)+) => { $(
        impl Stored for $type {
            fn store(&self, out: &mut Vec<u8>) {
                usize::from(*self).store(out);
            }

            fn load(from: &mut &[u8]) -> Option<Self> {
                usize::load(from)?.try_into().ok()
            }
        }
    )+ };
}

number!(u8 u16);

impl Stored for bool {
    fn store(&self, out: &mut Vec<u8>) {
        out.push((*self).into());
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        Some(usize::load(from)? == 1)
    }
}

impl Stored for String {
    fn store(&self, out: &mut Vec<u8>) {
        self.len().store(out);
        out.extend_from_slice(self.as_bytes());
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        let len = usize::load(from)?;
        let (text, rest) = from.split_at_checked(len)?;
        *from = rest;
        std::str::from_utf8(text).ok().map(str::to_owned)
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn store(&self, out: &mut Vec<u8>) {
        self.len().store(out);
        for item in self {
            item.store(out);
        }
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        let len = usize::load(from)?;
        let mut all = Self::with_capacity(len.min(from.len()));
        for _ in 0..len {
            all.push(T::load(from)?);
        }
        Some(all)
    }
}

impl<T: Stored> Stored for Option<T> {
    fn store(&self, out: &mut Vec<u8>) {
        self.is_some().store(out);
        if let Some(item) = self {
            item.store(out);
        }
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        Some(if bool::load(from)? { Some(T::load(from)?) } else { None })
    }
}

impl<T: Stored, const N: usize> Stored for [T; N] {
    fn store(&self, out: &mut Vec<u8>) {
        for item in self {
            item.store(out);
        }
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        (0..N).map(|_| T::load(from)).collect::<Option<Vec<T>>>()?.try_into().ok()
    }
}

impl<K: Stored + Ord, V: Stored> Stored for BTreeMap<K, V> {
    fn store(&self, out: &mut Vec<u8>) {
        self.len().store(out);
        for (key, value) in self {
            key.store(out);
            value.store(out);
        }
    }

    fn load(from: &mut &[u8]) -> Option<Self> {
        // Collecting would sort, which is much code for each type.
        let mut all = Self::new();
        for _ in 0..usize::load(from)? {
            all.insert(K::load(from)?, V::load(from)?);
        }
        Some(all)
    }
}

/// What is kept as what it holds.
macro_rules! held {
    ($($type:ident)+) => { $(
        impl<T: Stored> Stored for $type<T> {
            fn store(&self, out: &mut Vec<u8>) {
                (**self).store(out);
            }

            fn load(from: &mut &[u8]) -> Option<Self> {
                T::load(from).map(Self::new)
            }
        }
    )+ };
}

held!(Arc Box);
