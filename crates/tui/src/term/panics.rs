//! What happens on a panic: the person gets the terminal back and is told what happened and where the log
//! is, or, where the panic is contained, only the log hears of it. It never lets the program go on by
//! itself. `main` installs the hook; the loops contain what may fail alone, such as one tab.

use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::path::PathBuf;

thread_local! {
    /// How many [`contain`] this thread is in.
    static CONTAINED: Cell<u32> = const { Cell::new(0) };
}

/// Installs the panic hook. Every panic goes to `log` in full, with a backtrace. One that nobody contains, on
/// the thread that owns the terminal, gives the terminal back first and then says what happened and that
/// `log_path` has more; on another thread while the terminal is in use it only goes to the log, since words
/// would spoil the screen and that thread's owner notices its end.
pub fn install_panic_hook(
    program: &'static str,
    log_path: Option<PathBuf>,
    log: impl Fn(&str) + Send + Sync + 'static,
) {
    std::panic::set_hook(Box::new(move |panic| {
        let what = describe(panic);
        log(&format!("panic: {what}\n{}", Backtrace::force_capture()));
        if CONTAINED.get() > 0 || (super::in_use() && !super::owned_here()) {
            return;
        }
        super::Terminal::restore_everything();
        let more = log_path.as_ref().map(|path| format!("The log is {}.\n", path.display())).unwrap_or_default();
        // Standard error may be closed; there is nobody left to tell then.
        let _ = write!(std::io::stderr(), "{program} stopped because of a bug in it: {what}\n{more}");
    }));
}

/// Runs something that may fail alone: a panic in it becomes an error in words, and the terminal stays as it is.
/// State that it changed may be half changed, so throw that state away on an error.
///
/// # Errors
/// What the panic said.
pub fn contain<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    CONTAINED.set(CONTAINED.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(work));
    CONTAINED.set(CONTAINED.get().saturating_sub(1));
    result.map_err(|payload| message(payload.as_ref()).to_owned())
}

fn describe(panic: &PanicHookInfo<'_>) -> String {
    let place = panic.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
    let thread = std::thread::current().name().map(|name| format!(" [{name}]")).unwrap_or_default();
    format!("{}{place}{thread}", message(panic.payload()))
}

/// The words of a panic; every `panic!` carries one of the two.
fn message(payload: &(dyn Any + Send)) -> &str {
    let borrowed = payload.downcast_ref::<&str>().copied();
    borrowed.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no words")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contained_panic_is_an_error_in_words() {
        assert_eq!(contain(|| 7), Ok(7));
        let tab = "usage";
        assert_eq!(
            contain(|| panic!("the tab {tab} fell over")).map(|()| 0),
            Err("the tab usage fell over".to_owned())
        );
        assert_eq!(CONTAINED.get(), 0);
    }
}
