//! `del-js-bind MODULE FOLDER NAME`: writes a compiled module and the JavaScript around it into a folder.

use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else {
        return Err(format!("expected MODULE FOLDER NAME, got {arguments:?}").into());
    };
    let mut bindgen = Bindgen::new();
    // The form that leaves to the caller where the module comes from: a file, a request, an import.
    bindgen.web(true)?.input_path(module).out_name(name).typescript(true).remove_name_section(true);
    bindgen.generate(folder)?;
    Ok(())
}
