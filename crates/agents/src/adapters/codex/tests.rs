use crate::adapters::proof::proofs;

proofs!("codex", "codex", |session| {
    let agents = session["recorded"]["sub_agents"].as_array().into_iter().flatten().map(|agent| &agent["tokens"]);
    std::iter::once(&session["recorded"]["main"]["tokens"]).chain(agents).collect()
});
