//! The agents, a room each. Only these rooms know an agent's paths, programs and formats; they never write
//! and never look at another agent. `adapter` lists them, nobody else calls them.

mod claude_code;
mod claude_desktop;
mod codex;
mod copilot;
mod crush;
mod gemini_cli;
mod hermes_agent;
mod opencode;
mod pi;
mod qwen_code;

#[cfg(test)]
mod proof;

use crate::adapter::Adapter;

/// Every agent, in the order of clause A1; append, never insert.
pub(crate) const REGISTRY: &[&dyn Adapter] = &[
    &claude_code::ClaudeCode,
    &codex::Codex,
    &gemini_cli::GeminiCli,
    &opencode::OpenCode,
    &claude_desktop::ClaudeDesktop,
    &hermes_agent::HermesAgent,
    &pi::Pi,
    &crush::Crush,
    &qwen_code::QwenCode,
    &copilot::Copilot,
];
