//! The files at a path, and the projects around it.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::outcome::{Code, Failure, sized};
use crate::workspace::{Access, EntryKind, Flow, Obstacle, Order, Place, Walk};

/// Files that one call looks at.
const MAX_FILES: usize = 2000;
/// Manifests and configuration are not larger.
const MAX_SMALL: u64 = 1 << 20;

/// The files at a path.
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) place: Place,
    pub(crate) is_directory: bool,
    pub(crate) files: Vec<Place>,
    /// Whether there are more.
    pub(crate) more: bool,
}

impl Targets {
    /// The file at `path`, or those below it that are not ignored and whose kind `wanted` takes.
    pub(crate) fn find(
        path: &str,
        context: &Context,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, Failure> {
        let place = context.existing(path, Access::Read)?;
        let is_directory = context.workspace.metadata(&place).is_ok_and(|metadata| metadata.is_dir());
        let mut targets = Self { place, is_directory, files: Vec::new(), more: false };
        if !is_directory {
            targets.files.push(targets.place.clone());
            return Ok(targets);
        }
        let walk = Walk { depth: usize::MAX, respect_ignored: true, hidden: false, order: Order::Path };
        let base = context.workspace.absolute(&targets.place);
        let mut paths = Vec::new();
        let late = context
            .workspace
            .walk(&targets.place, walk, &mut |entry| {
                if entry.kind == EntryKind::File && wanted(kind(entry.path)) {
                    paths.push(base.join(entry.path));
                }
                if paths.len() > MAX_FILES { Flow::Stop } else { Flow::On }
            })
            .map_err(|obstacle| context.failure(&obstacle, &targets.place))?;
        targets.more = late || paths.len() > MAX_FILES;
        paths.truncate(MAX_FILES);
        // What has gone since is no target.
        let resolved =
            paths.iter().filter_map(|path| context.workspace.resolve(path.to_str()?, Access::Read).ok());
        targets.files = resolved.collect();
        Ok(targets)
    }

    /// The directory at the path, or around the file.
    pub(crate) fn directory(&self, context: &Context) -> PathBuf {
        let path = context.workspace.absolute(&self.place);
        if self.is_directory { path } else { path.parent().map(Path::to_owned).unwrap_or(path) }
    }
}

/// What a file is by its name: the extension, or the whole name of one that has none.
pub(crate) fn kind(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    path.extension().and_then(|extension| extension.to_str()).unwrap_or(name)
}

/// `directory` and those above it, up to the working directory.
pub(crate) fn upward<'p>(directory: &'p Path, context: &Context) -> impl Iterator<Item = &'p Path> + use<'p> {
    let root = context.workspace.root().to_owned();
    let inside = directory.starts_with(&root);
    directory
        .ancestors()
        .enumerate()
        .take_while(move |(place, path)| *place == 0 || (inside && path.starts_with(&root)))
        .map(|(_, path)| path)
}

/// The text of a small file that is to be looked at beside others; nothing where there is no file.
pub(crate) fn small(place: &Place, context: &Context) -> Result<Option<String>, Failure> {
    if !place.exists {
        return Ok(None);
    }
    let failure = |obstacle: Obstacle| context.failure(&obstacle, place);
    let (file, metadata) = context.workspace.open_file(place).map_err(failure)?;
    if metadata.len() > MAX_SMALL {
        let cause = format!(
            "{} has {}; at most {} are read of it.",
            place.shown,
            sized(metadata.len()),
            sized(MAX_SMALL)
        );
        return Err(Failure::new(Code::TooLarge, cause));
    }
    let mut bytes = Vec::new();
    file.take(MAX_SMALL).read_to_end(&mut bytes).map_err(|error| failure(error.into()))?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// The text of the small file at `path`, where there is one inside that can be read.
pub(crate) fn text_at(path: &Path, context: &Context) -> Option<String> {
    let place = context.workspace.resolve(path.to_str()?, Access::Read).ok()?;
    small(&place, context).ok().flatten()
}

/// The folders in `names`, in `directory` and above, in which a project keeps programs.
pub(crate) fn local(names: &[String], directory: &Path, context: &Context) -> Vec<PathBuf> {
    upward(directory, context).flat_map(|place| names.iter().map(move |name| place.join(name))).collect()
}
