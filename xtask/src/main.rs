//! Build, test, bench and release jobs of the Freehold workspace.

fn main() {}
