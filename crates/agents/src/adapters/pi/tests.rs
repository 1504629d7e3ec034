use crate::adapters::proof::proofs;

proofs!("pi", "pi", |session| vec![
    &session["recorded"]["main"]["tokens"],
    &session["recorded"]["main"]["compaction_tokens"]
]);
