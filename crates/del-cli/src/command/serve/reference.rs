//! The reference of the configuration file in `docs/proxy.md` is what the options say of themselves.
//!
//! With `UPDATE_README=1` it is written instead of compared.

use std::fmt::Write;
use std::path::Path;

use clap::Arg;

use crate::meaning::meaning;

use super::file::{arguments, key_of};
use super::{KeyOptions, Listening, RouteOptions, RouteTable};

const BEGIN: &str = "<!-- keys: written by `UPDATE_README=1 cargo test -p del-cli reference` -->\n";
const END: &str = "<!-- end of keys -->";

fn row(out: &mut String, arg: &Arg) {
    let (about, default) = meaning(arg);
    writeln!(out, "| `{}` | {about} | {default} |", key_of(arg)).unwrap();
}

fn table(out: &mut String, title: &str, args: &[Arg]) {
    write!(out, "\n{title}\n\n| Key | Meaning | Default |\n| --- | --- | --- |\n").unwrap();
    for arg in args {
        row(out, arg);
    }
}

#[test]
fn the_reference_of_the_configuration_file_is_fresh() {
    let of_route = arguments::<RouteOptions>();
    let own: Vec<Arg> = arguments::<RouteTable>()
        .into_iter()
        .filter(|arg| !of_route.iter().any(|other| other.get_id() == arg.get_id()))
        .collect();
    let mut fresh = String::new();
    table(&mut fresh, "At the top, for the proxy:", &arguments::<Listening>());
    table(&mut fresh, "In `[[route]]`, and at the top for all routes:", &of_route);
    table(&mut fresh, "In `[[route]]` alone:", &own);
    table(&mut fresh, "In `[[key]]`:", &arguments::<KeyOptions>());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/proxy.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (written, behind) = rest.split_once(END).unwrap();
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{fresh}\n{END}{behind}")).unwrap();
    } else {
        assert_eq!(written, format!("{fresh}\n"), "write it anew with UPDATE_README=1");
    }
}
