//! Work on several threads whose results come back in order.

use std::sync::Mutex;

/// The results of `work` for each item, in the items' order, on a thread for each of `spaces`,
/// which the thread works in; the caller's is one of them, so that it keeps its core. What thread
/// takes what changes no result.
///
/// # Panics
/// When there is no space, or `work` panics.
pub fn in_parallel<I: Send, S: Send, T: Send>(
    items: impl IntoIterator<Item = I, IntoIter: Send>,
    spaces: &mut [S],
    work: impl Fn(&mut S, I) -> T + Sync,
) -> Vec<T> {
    let (own, others) = spaces.split_first_mut().expect("a space for the caller at least");
    if others.is_empty() {
        return items.into_iter().map(|item| work(own, item)).collect();
    }
    let items = Mutex::new(items.into_iter().enumerate());
    let take = |space: &mut S| {
        let next = || items.lock().expect("no panic while it is held").next();
        std::iter::from_fn(next).map(|(index, item)| (index, work(space, item))).collect::<Vec<_>>()
    };
    let mut results: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = others.iter_mut().map(|space| scope.spawn(|| take(space))).collect();
        let mine = take(own);
        let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        mine.into_iter().chain(workers.into_iter().flat_map(join)).collect()
    });
    results.sort_by_key(|&(index, _)| index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// So many threads that have nothing to work in.
pub(crate) fn threads(count: usize) -> Vec<()> {
    vec![(); count.max(1)]
}
