//! Looking at many things at once, where the time goes into waiting for the system. Knows nothing of what is looked at.
//! Lists call it.

/// What `look` says of each, in order. Looking is mostly waiting for the system, so many are looked at by several
/// threads at once.
pub fn of_each<T: Sync, R: Send>(items: &[T], look: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let share = items.len().div_ceil(threads).max(100);
    let look = |part: &[T]| part.iter().map(&look).collect::<Vec<R>>();
    let (first, rest) = items.split_at(share.min(items.len()));
    std::thread::scope(|scope| {
        let look = &look;
        let start = |part| (part, std::thread::Builder::new().spawn_scoped(scope, move || look(part)));
        let others: Vec<_> = rest.chunks(share).map(start).collect();
        let mut found = look(first);
        for (part, other) in others {
            // What no thread could be had for, or one that panicked has not found, is looked for here.
            let there = other.ok().and_then(|other| other.join().ok());
            found.extend(there.unwrap_or_else(|| look(part)));
        }
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_stays() {
        for count in [0, 1, 99, 100, 101, 1234] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(of_each(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
    }
}
