//! The files of `src` declare what `apsis.h` and `apsis_measures.h` declare: every enumerator, field, callback and function of
//! the headers, put into Rust word by word, is in them, and nothing else is.

use std::collections::BTreeSet;

const HEADER: &str = include_str!("../../../../include/apsis.h");
const MEASURES: &str = include_str!("../../../../include/apsis_measures.h");
const OURS: [&str; 3] = [include_str!("../src/lib.rs"), include_str!("../src/measures.rs"), include_str!("../src/slabs.rs")];

/// Of the headers, nothing but declarations.
fn declarations() -> String {
    let mut text = String::new();
    for mut rest in [HEADER, MEASURES] {
        while let Some(start) = rest.find("/*") {
            text.push_str(&rest[..start]);
            rest = &rest[start + rest[start..].find("*/").expect("a comment ends") + 2..];
        }
        text.push_str(rest);
    }
    words(&text)
}

/// With single spaces, and no comma before a closing bracket, as rustfmt writes it in one line and not in several.
fn words(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace("( ", "(").replace(", )", ")").replace(",)", ")").replace("< ", "<").replace(", >", ">")
}

/// What is between `open` and `close`, each time; and how the text goes on.
fn between<'a>(text: &'a str, open: &'a str, close: &'a str) -> impl Iterator<Item = &'a str> + 'a {
    text.match_indices(open).map(move |(at, _)| {
        let inner = &text[at + open.len()..];
        &inner[..inner.find(close).expect("what opens closes")]
    })
}

/// A type of C in Rust: "const char *" is "*const c_char".
fn rust_type(c: &str) -> String {
    let (mut constant, mut rust) = (false, String::new());
    for word in c.replace('*', " * ").split_whitespace() {
        match word {
            "struct" => {}
            "const" => constant = true,
            "*" => {
                rust = format!("*{} {}", if constant { "const" } else { "mut" }, rust);
                constant = false;
            }
            "int" | "char" | "void" => rust = format!("c_{}", word),
            "double" => rust = "f64".into(),
            "size_t" => rust = "usize".into(),
            "int32_t" | "uint32_t" | "int64_t" => rust = word.replace("uint", "u").replace("int", "i").replace("_t", ""),
            _ => rust = word.into(),
        }
    }
    rust
}

/// "int64_t size[3]" is "size: [i64; 3]".
fn rust_variable(c: &str) -> String {
    let (c, count) = match c.split_once('[') {
        Some((c, count)) => (c, Some(count.trim_end_matches(']'))),
        None => (c, None),
    };
    let split = c.rfind([' ', '*']).expect("a type and a name") + 1;
    let name = if &c[split..] == "type" { "r#type" } else { &c[split..] };
    match count {
        Some(count) => format!("{}: [{}; {}]", name, rust_type(&c[..split]), count),
        None => format!("{}: {}", name, rust_type(&c[..split])),
    }
}

/// The arguments and the result: "(context: *mut apsis_context) -> apsis_status".
fn rust_signature(result: &str, arguments: &str) -> String {
    let arguments = if arguments == "void" { vec![] } else { arguments.split(',').map(|a| rust_variable(a.trim())).collect() };
    let result = rust_type(result);
    format!("({}){}", arguments.join(", "), if result == "c_void" { String::new() } else { format!(" -> {}", result) })
}

fn constants(header: &str) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = ["MAJOR", "MINOR", "PATCH"]
        .iter()
        .map(|part| {
            let line = between(HEADER, &format!("#define APSIS_VERSION_{} ", part), "\n").next().unwrap().to_string();
            format!("APSIS_VERSION_{}: c_int = {}", part, line)
        })
        .collect();
    all.insert(
        "APSIS_VERSION: c_int = APSIS_VERSION_MAJOR * 10000 + APSIS_VERSION_MINOR * 100 + APSIS_VERSION_PATCH".to_string(),
    );
    for (open, named) in [("typedef enum ", true), (" enum {", false)] {
        for part in between(header, open, "}") {
            let (name, values) = if named { part.split_once(" {").unwrap() } else { ("", part) };
            for value in values.split(',').map(str::trim).filter(|v| !v.is_empty() && !v.contains("FORCE_32")) {
                let (constant, number) = value.split_once('=').unwrap();
                let kind = match (named, number.contains("<<")) {
                    (true, _) => name,
                    (false, true) => "u32", // flags, as apsis_options has them
                    (false, false) => "c_int",
                };
                all.insert(format!("{}: {} = {}", constant.trim(), kind, number.trim()));
            }
        }
    }
    all
}

fn functions(header: &str) -> BTreeSet<String> {
    between(header, "APSIS_API ", ");")
        .filter_map(|declaration| {
            let (before, arguments) = declaration.split_once('(')?;
            let split = before.rfind([' ', '*'])? + 1;
            before[split..]
                .starts_with("apsis_")
                .then(|| before[split..].to_string() + &rust_signature(&before[..split], arguments))
        })
        .collect()
}

fn fields(text: &str, open: &str) -> BTreeSet<String> {
    let is_ours = open.starts_with("pub");
    between(text, open, "}")
        .map(|part| part.split_once('{').unwrap())
        .filter(|(name, fields)| !name.trim().contains(' ') && !fields.contains("_private")) // not of what is opaque
        .map(|(name, fields)| {
            let fields = fields.split(if is_ours { ',' } else { ';' }).map(str::trim).filter(|field| !field.is_empty());
            let fields = fields.map(|field| if is_ours { field.replace("pub ", "") } else { rust_variable(field) });
            format!("{}: {}", name.trim(), fields.collect::<Vec<_>>().join(", "))
        })
        .collect()
}

fn callbacks(header: &str) -> BTreeSet<String> {
    between(header, "typedef ", ";")
        .filter_map(|declaration| declaration.split_once("(*"))
        .map(|(result, rest)| {
            let (name, arguments) = rest.split_once(")(").unwrap();
            let signature = rust_signature(result, arguments.trim_end_matches(')'));
            format!("{} = Option<unsafe extern \"C\" fn{}>", name, signature)
        })
        .collect()
}

fn ours(open: &str, close: &str) -> BTreeSet<String> {
    between(&words(&OURS.concat()), open, close).map(str::to_string).collect()
}

fn assert_same(header: BTreeSet<String>, ours: BTreeSet<String>, least: usize) {
    let missing: Vec<_> = header.difference(&ours).collect();
    let foreign: Vec<_> = ours.difference(&header).collect();
    assert!(missing.is_empty() && foreign.is_empty(), "missing: {:#?}\nnot in the header: {:#?}", missing, foreign);
    assert!(header.len() >= least, "the header has been misread: {:#?}", header);
}

#[test]
fn constants_are_those_of_the_header() {
    assert_same(constants(&declarations()), ours("pub const ", ";"), 40);
}

#[test]
fn functions_are_those_of_the_header() {
    assert_same(functions(&declarations()), ours("pub fn ", ";"), 24);
}

#[test]
fn structures_are_those_of_the_header() {
    // An array's length has a semicolon in Rust, and a comma ends a field.
    assert_same(fields(&declarations(), "typedef struct "), fields(&words(&OURS.concat()), "pub struct "), 4);
}

#[test]
fn callbacks_are_those_of_the_header() {
    let ours = ours("pub type ", ";").into_iter().filter(|t| t.contains("Option")).collect();
    assert_same(callbacks(&declarations()), ours, 4);
}

#[test]
fn the_library_is_of_this_version() {
    let version = unsafe { apsis_sys::apsis_version() };
    assert_eq!(version / 100, apsis_sys::APSIS_VERSION / 100);
}
