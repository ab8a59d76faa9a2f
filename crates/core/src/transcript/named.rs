//! Enums whose variants have names, in traces, stack files and tables.

/// Declares an enum with the name of each variant beside it, so that no list of them can miss one: `ALL`, `name`, and the
/// way from a variant to its name and back by `Display` and `FromStr`. What else is said of each variant may follow its
/// name; a second function, declared after the enum, returns it.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    (
        $(#[$of_enum:meta])*
        $visibility:vis enum $enum:ident {
            $($(#[$of_variant:meta])* $variant:ident = $name:literal => $said:expr,)*
        }

        $(#[$of_function:meta])*
        $function_visibility:vis fn $function:ident() -> $type:ty;
    ) => {
        $crate::transcript::named! {
            $(#[$of_enum])*
            $visibility enum $enum {
                $($(#[$of_variant])* $variant = $name,)*
            }
        }

        impl $enum {
            $(#[$of_function])*
            $function_visibility fn $function(self) -> $type {
                match self {
                    $(Self::$variant => $said,)*
                }
            }
        }
    };
    (
        $(#[$of_enum:meta])*
        $visibility:vis enum $enum:ident {
            $($(#[$of_variant:meta])* $variant:ident = $name:literal,)*
        }
    ) => {
        $(#[$of_enum])*
        $visibility enum $enum {
            $($(#[$of_variant])* $variant,)*
        }

        impl $enum {
            /// All of them, in order.
            $visibility const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// The name in files and tables.
            $visibility fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl ::std::fmt::Display for $enum {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl $crate::transcript::NamedEnum for $enum {
            const NAMES: &'static [&'static str] = &[$($name),*];
        }

        impl ::std::str::FromStr for $enum {
            type Err = ();

            fn from_str(name: &str) -> Result<Self, ()> {
                Self::ALL.into_iter().find(|one| one.name() == name).ok_or(())
            }
        }
    };
}

pub use named;

/// An enum whose variants have names, declared by [`named!`].
#[doc(hidden)]
pub trait NamedEnum: std::str::FromStr<Err = ()> {
    /// The names, in order.
    const NAMES: &'static [&'static str];
}
