//! Finds libapsis: in the folder that APSIS_LIB_DIR names, or else with pkg-config.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=APSIS_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if let Ok(folder) = env::var("APSIS_LIB_DIR") {
        println!("cargo:rustc-link-search=native={}", folder);
        println!("cargo:rustc-link-lib=dylib=apsis");
        return;
    }
    for flag in pkg_config().split_whitespace() {
        if let Some(folder) = flag.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={}", folder);
        } else if let Some(library) = flag.strip_prefix("-l") {
            println!("cargo:rustc-link-lib=dylib={}", library);
        }
    }
}

/// The flags to link with this minor version, and no other.
fn pkg_config() -> String {
    let version = env!("CARGO_PKG_VERSION_MINOR").parse::<u32>().unwrap();
    let wanted = [format!("apsis >= 0.{}", version), format!("apsis < 0.{}", version + 1)];
    let output =
        Command::new(env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into())).arg("--libs").args(wanted).output();
    match output {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout).expect("pkg-config writes text"),
        Ok(output) => {
            panic!("libapsis is not installed, or APSIS_LIB_DIR not set: {}", String::from_utf8_lossy(&output.stderr))
        }
        Err(error) => panic!("pkg-config cannot be run, and APSIS_LIB_DIR is not set: {}", error),
    }
}
