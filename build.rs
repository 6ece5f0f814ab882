//! How the program is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[allow(clippy::disallowed_methods, reason = "what is built for is told in the environment")]
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    // A program that lies at a fixed address needs no relocations: some 45,000 of them took a third
    // of a start, and make the file a megabyte larger. Libraries, stack
    // and heap lie where chance wants as before.
    let fixed = of("CARGO_CFG_TARGET_OS") == "linux" && of("CARGO_CFG_TARGET_ENV") == "gnu";
    if fixed && !of("CARGO_CFG_TARGET_FEATURE").contains("crt-static") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
