//! Finds libapsis: in the folder that APSIS_LIB_DIR names, or else with pkg-config.  With the feature `vendored` it is built from
//! the clone that this crate is in, for the CPU, and becomes a part of the program.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=APSIS_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if env::var_os("CARGO_FEATURE_VENDORED").is_some() {
        let folder = build();
        println!("cargo:rustc-link-search=native={}", folder.display());
        let package = folder.join("pkgconfig").join("apsis.pc").display().to_string();
        link("static", &pkg_config(&["--static".into(), package], "a library that libapsis needs is not installed"));
    } else if let Ok(folder) = env::var("APSIS_LIB_DIR") {
        println!("cargo:rustc-link-search=native={}", folder);
        println!("cargo:rustc-link-lib=dylib=apsis");
    } else {
        let version = env!("CARGO_PKG_VERSION_MINOR").parse::<u32>().unwrap();
        let wanted = [format!("apsis >= 0.{}", version), format!("apsis < 0.{}", version + 1)]; // this minor one, and no other
        link("dylib", &pkg_config(&wanted, "libapsis is not installed, or APSIS_LIB_DIR not set"));
    }
}

/// Builds the static library with CMake, and returns the folder that it is in.
fn build() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for part in ["CMakeLists.txt", "include", "src/api", "src/core", "src/cpu", "src/runtime", "cuda/none.cpp", "pkgconfig"] {
        println!("cargo:rerun-if-changed={}", source.join(part).display());
    }
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to build")).join("build");
    let options = ["-DCMAKE_BUILD_TYPE=Release", "-DAPSIS_CUDA=OFF", "-DAPSIS_TOOL=OFF", "-DAPSIS_TESTS=OFF", "-DAPSIS_HOSTS="];
    let jobs = env::var("NUM_JOBS").unwrap_or_else(|_| "1".into());
    cmake(Command::new("cmake").arg("-S").arg(source).arg("-B").arg(&folder).args(options));
    cmake(Command::new("cmake").arg("--build").arg(&folder).args(["--target", "apsis-static", "--parallel", &jobs]));
    folder
}

fn cmake(command: &mut Command) {
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("libapsis cannot be built: cmake ended with {}", status),
        Err(error) => panic!("cmake, which builds libapsis for the feature vendored, cannot be run: {}", error),
    }
}

/// Tells cargo of the libraries that flags of pkg-config name; libapsis itself is of this kind.
fn link(kind: &str, flags: &str) {
    for flag in flags.split_whitespace() {
        if let Some(folder) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={}", folder);
        } else if let Some(library) = flag.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={}={}", if library == "apsis" { kind } else { "dylib" }, library);
        }
    }
}

/// The flags to link with a package; `without` says what is wrong if there is none.
fn pkg_config(wanted: &[String], without: &str) -> String {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    match Command::new(program).arg("--libs").args(wanted).output() {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout).expect("pkg-config writes text"),
        Ok(output) => panic!("{}: {}", without, String::from_utf8_lossy(&output.stderr)),
        Err(error) => panic!("{}, or pkg-config is not: it cannot be run: {}", without, error),
    }
}
