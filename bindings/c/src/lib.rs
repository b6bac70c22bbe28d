//! Del for C. What is `unsafe` stands in two files: `border`, which makes references of pointers, and `abi`, the
//! functions that C calls.

mod abi;
mod border;
mod failure;
mod reader;
mod types;
mod work;

pub use abi::*;
