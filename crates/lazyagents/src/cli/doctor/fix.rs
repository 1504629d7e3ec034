//! `lazyagents doctor --fix`: what sections offer to mend, each as a plan that is shown before it is done. A section that
//! can mend something adds a line to [`OFFERS`].

use manage::desk::Desk;
use manage::hooks::{Desks, plan_mend};
use manage::plan::Plan;
use sys::Failure;
use sys::text::clean;

use super::super::{Out, hooks, short};
use crate::context::Context;

/// What one section would do; a plan without steps when there is nothing to mend.
type Offer = fn(&Context) -> Result<Plan, Failure>;

/// Every section that can mend something.
const OFFERS: [(&str, Offer); 1] = [("hooks", of_hooks)];

fn of_hooks(context: &Context) -> Result<Plan, Failure> {
    let around = hooks::around(&context.env)?;
    let desks = Desks { data: &context.paths.data, around: &around };
    plan_mend(&desks, &hooks::installed(context), &context.env).map(|planned| planned.plan)
}

/// Shows each offer, asks unless `yes`, and does it. With `beside` stdout is left to what comes after it.
///
/// # Errors
/// When nobody is there to be asked, somebody says no, or it cannot be done.
pub(super) fn run(yes: bool, beside: bool, context: &Context, out: &mut Out) -> Result<(), Failure> {
    for (title, offer) in OFFERS {
        let plan = offer(context)?;
        let desk = Desk::of(&context.paths.data, "lazyagents doctor --fix");
        let view = desk.look(&plan)?;
        if view.parts.is_empty() {
            continue;
        }
        let mut lines = vec![format!("{title}: {}", clean(&view.what))];
        for part in hooks::parts(&view) {
            lines.push(format!("{} {}", part.verb, short(context, &part.path)));
            lines.extend(part.diff.iter().map(|line| format!("  {}", clean(line))));
        }
        for line in lines {
            if beside {
                out.say(&line);
            } else {
                out.line(&line);
            }
        }
        if !yes {
            if !out.can_ask() {
                return Err(Failure::new("this would change files of agents, and nobody is there to be asked")
                    .hint("nothing was changed; agree with --yes"));
            }
            if !out.confirm("Do that?") {
                return Err(Failure::cancelled("nothing was changed"));
            }
        }
        let done = desk.apply_seen(Some(&view), &mut || offer(context))?;
        if let (Some(id), false) = (done.id, beside) {
            out.line(&format!("done; `lazyagents undo {id}` takes it back\n"));
        }
    }
    Ok(())
}
