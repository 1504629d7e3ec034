//! Plugins that `ez` itself serves.
