//! What `ts/` calls: classes and functions of Del's crates, with JSON where something has a shape, in the shapes of
//! `del-wire`. Nothing here calls back into JavaScript, so no object is used while it is in use.

#[cfg(feature = "serving")]
mod detect;
#[cfg(feature = "dialects")]
mod dialect;
#[cfg(feature = "serving")]
mod grammar;
#[cfg(feature = "dialects")]
mod offsets;
#[cfg(feature = "dialects")]
mod read;
#[cfg(feature = "dialects")]
mod render;
mod tools;

use std::fmt::Display;

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    type Error;

    #[wasm_bindgen(constructor)]
    fn new(message: &str) -> Error;

    #[wasm_bindgen(method, setter)]
    fn set_name(this: &Error, name: &str);
}

/// An error of JavaScript. Its name is the code by which programs know it.
fn error(code: &str, message: &dyn Display) -> JsValue {
    let error = Error::new(&message.to_string());
    error.set_name(code);
    error.into()
}
