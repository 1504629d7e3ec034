use crate::adapters::proof::proofs;

proofs!("gemini-cli", "gemini_cli", |session| {
    let recorded = &session["recorded"];
    std::iter::once(&recorded["main"]).chain(recorded.get("sub_agents")).map(|part| &part["tokens"]).collect()
});
