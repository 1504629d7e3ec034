//! The program `ez`.

fn main() {}
