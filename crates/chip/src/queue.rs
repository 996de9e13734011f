//! The queue: in which order a server's start has the records of a folder, and which it drops.

/// Most records in a server's queue.
pub const MAX_QUEUE: usize = 30;

/// Above this many records the server's own start would take minutes; they are sorted by time and name.
const TOO_MANY: usize = 20_000;

/// Sorts by time as the server does. `records` come in byte order of their file names. The sort is not stable and is
/// copied exactly: of equal times not always the first name comes first.
pub fn order<T>(records: &mut [T], time: impl Fn(&T) -> i64) {
    let n = records.len();
    if n > TOO_MANY {
        records.sort_by_key(time);
        return;
    }
    // n² comparisons, over the times alone.
    let times: Vec<i64> = records.iter().map(&time).collect();
    let mut keys: Vec<(i64, usize)> = times.into_iter().zip(0..n).collect();
    exchange_sort(&mut keys);
    // `keys[i].1` is where the record for place i stands; apply the permutation by swaps.
    let mut place_of: Vec<usize> = (0..n).collect();
    let mut record_at: Vec<usize> = (0..n).collect();
    for (target, (_, record)) in keys.iter().enumerate() {
        let Some(&from) = place_of.get(*record) else {
            continue;
        };
        if from == target {
            continue;
        }
        records.swap(from, target);
        record_at.swap(from, target);
        for place in [from, target] {
            if let Some(slot) = record_at.get(place).and_then(|r| place_of.get_mut(*r)) {
                *slot = place;
            }
        }
    }
}

/// `for i in 0..n: for j in i+1..n: if t[j] < t[i]: swap(i, j)`.
fn exchange_sort(keys: &mut [(i64, usize)]) {
    let mut rest = keys;
    while let Some((head, tail)) = rest.split_first_mut() {
        for other in tail.iter_mut() {
            if other.0 < head.0 {
                std::mem::swap(head, other);
            }
        }
        rest = tail;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_sort_is_not_stable() {
        let mut records = [("a", 5), ("b", 5), ("c", 1)];
        order(&mut records, |r| r.1);
        assert_eq!(records.map(|r| r.0), ["c", "b", "a"]);
    }

    proptest! {
        #[test]
        fn as_the_server_exchanges(times in proptest::collection::vec(0i64..6, 0..50)) {
            let mut ours: Vec<(usize, i64)> = times.iter().copied().enumerate().collect();
            let mut theirs = ours.clone();
            order(&mut ours, |r| r.1);
            for i in 0..theirs.len() {
                for j in i + 1..theirs.len() {
                    if theirs[j].1 < theirs[i].1 {
                        theirs.swap(i, j);
                    }
                }
            }
            prop_assert_eq!(ours, theirs);
        }
    }
}
