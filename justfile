# Shortcuts; `.ci/run` is what counts.

# What CI runs
ci:
    .ci/run

# Try it
run *arguments:
    cargo run -- {{arguments}}

# Tests whose names hold some words, or all
test *words:
    cargo test {{words}}

# Accept changed snapshots and tables; then read the diff
accept:
    INSTA_UPDATE=always UPDATE_DOCS=1 cargo test --test it
    git diff --stat

# Licences and advisories, where cargo-deny is installed
deny:
    cargo deny check

# Lines that tests reach, where cargo-llvm-cov is installed
coverage:
    cargo llvm-cov --summary-only
