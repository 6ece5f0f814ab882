//! x
#[test]
fn print_all() {
    for rule in flowy::validate::REGISTRY {
        let (all, own) = super::fixture(rule.id, "bad.json");
        println!("=== {}", rule.id);
        for f in &own { print!("{}", super::told(f)); }
        for f in all.iter().filter(|f| f.rule != rule.id) { print!("OTHER {} {}", f.rule, super::told(f)); }
        let (all, _) = super::fixture(rule.id, "good.json");
        for f in &all { print!("GOOD {} {}", f.rule, super::told(f)); }
    }
}
