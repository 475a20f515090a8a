//! The maps of the gallery are those of the apsis command, byte for byte: `APSIS_COMMAND` says where it is.

#[path = "../examples/gallery/maps.rs"]
mod maps;
#[path = "../examples/gallery/tiff.rs"]
mod tiff;

use std::path::{Path, PathBuf};
use std::process::Command;

use apsis::{Context, Device};
use maps::Mask;
use tiff::Tiff;

/// A folder for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("apsis-rust-{}-{}", name, std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// What the command makes of `input`: VERB input OUT.tif ARGUMENTS.
    fn run(&self, verb: &str, input: &Path, arguments: &[&str]) -> Tiff {
        let command = std::env::var_os("APSIS_COMMAND").expect("APSIS_COMMAND says where the apsis command is");
        let out = self.0.join("out.tif");
        let status = Command::new(command).arg(verb).arg(input).arg(&out).args(arguments).arg("--overwrite").status().unwrap();
        assert!(status.success(), "apsis {} failed", verb);
        tiff::read(&out).unwrap()
    }

    fn page(&self) -> Mask {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/data/page.tif");
        self.run("components", &page, &["--sites", "black", "--type", "u8"]).into()
    }

    fn compare(&self, ours: &Tiff, mask: &Mask, verb: &str, arguments: &[&str]) {
        let input = self.0.join("in.tif");
        let bytes = mask.pixels.clone();
        tiff::write(&input, &Tiff { size: mask.size, bits: 8, format: 1, bytes }).unwrap();
        let theirs = self.run(verb, &input, arguments);
        assert_eq!((ours.size, ours.bits, ours.format), (theirs.size, theirs.bits, theirs.format));
        assert!(ours.bytes == theirs.bytes, "{} differs", verb);
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn context() -> Context {
    Context::new(Device::Cpu).unwrap()
}

#[test]
fn distances_of_a_page() {
    let folder = Folder::new("distance");
    let page = folder.page();
    folder.compare(&maps::distance(&context(), &page).unwrap(), &page, "distance", &[]);
}

#[test]
fn cells_of_random_points() {
    let (folder, sites) = (Folder::new("voronoi"), maps::random_points([640, 480], 200));
    folder.compare(&maps::cells(&context(), &sites).unwrap(), &sites, "voronoi", &["--connected"]);
}

#[test]
fn letters_of_a_page() {
    let folder = Folder::new("components");
    let page = folder.page();
    let (labels, letters) = maps::letters(&context(), &page).unwrap();
    folder.compare(&labels, &page, "components", &["--connectivity", "8"]);
    let ink = page.pixels.iter().filter(|&&pixel| pixel != 0).count();
    assert_eq!(letters.iter().map(|letter| letter.area).sum::<i64>(), ink as i64);
}

#[test]
fn reach_of_a_flower() {
    let (folder, flower) = (Folder::new("eccentricity"), maps::flower(301));
    let (lengths, extents) = maps::reach(&context(), &flower).unwrap();
    folder.compare(&lengths, &flower, "eccentricity", &[]);
    assert_eq!(extents.len(), 1);
    assert!(extents[0].radius * 2.0 >= extents[0].diameter && extents[0].gap == 0.0);
}
