//! Filters of many chunks turned on their side: one row of bits for each trigram, a bit for each chunk, so that a search
//! reads a few bytes for each trigram instead of every filter. `store` calls it; it writes nothing but that database.

use rusqlite::{Connection, params};

/// Chunks in a slab: a row has a bit for each.
pub(super) const CHUNKS: usize = 512;
/// Bytes of a row.
const ROW: usize = CHUNKS / 8;
/// Trigrams, as `fold` hashes them.
const GRAMS: usize = 1 << 16;
/// Rows that are kept in one piece.
const PIECE: usize = 32;
/// Pieces of a slab.
const PIECES: i64 = (GRAMS / PIECE) as i64;
/// Bytes of a slab's map for each chunk: its document, place, first and last turn.
const ENTRY: usize = 32;

pub(super) const TABLES: &str = "CREATE TABLE IF NOT EXISTS slab(id INTEGER PRIMARY KEY, map BLOB NOT NULL);
     CREATE TABLE IF NOT EXISTS slice(id INTEGER PRIMARY KEY, bits BLOB NOT NULL);";

/// A chunk and where it belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) doc: i64,
    pub(super) seq: i64,
    /// The turns in it.
    pub(super) first: i64,
    pub(super) last: i64,
}

impl Spot {
    fn write(self, map: &mut Vec<u8>) {
        [self.doc, self.seq, self.first, self.last].iter().for_each(|number| map.extend(number.to_le_bytes()));
    }

    fn read(bytes: &[u8]) -> Self {
        let number = |at: usize| {
            let bytes = bytes.get(at * 8..at * 8 + 8).and_then(|bytes| bytes.try_into().ok());
            i64::from_le_bytes(bytes.unwrap_or_default())
        };
        Self { doc: number(0), seq: number(1), first: number(2), last: number(3) }
    }
}

/// Makes slabs of the filters that lie one by one, as long as there are enough of them; how many are left.
pub(super) fn gather(db: &Connection, mut count: usize) -> rusqlite::Result<usize> {
    while count >= CHUNKS {
        let mut bits = vec![0_u8; GRAMS * ROW];
        let mut map = Vec::with_capacity(CHUNKS * ENTRY);
        let mut taken = Vec::with_capacity(CHUNKS);
        {
            let mut get =
                db.prepare_cached("SELECT doc, seq, first, last, bits FROM filter ORDER BY doc, seq LIMIT ?1")?;
            let mut rows = get.query([CHUNKS as i64])?;
            while let Some(row) = rows.next()? {
                let spot = Spot { doc: row.get(0)?, seq: row.get(1)?, first: row.get(2)?, last: row.get(3)? };
                lay(&mut bits, taken.len(), row.get_ref(4)?.as_blob()?);
                spot.write(&mut map);
                taken.push(spot);
            }
        }
        if taken.len() < CHUNKS {
            return Ok(taken.len());
        }
        db.prepare_cached("INSERT INTO slab VALUES(NULL, ?1)")?.execute([map])?;
        let slab = db.last_insert_rowid();
        let mut put = db.prepare_cached("INSERT INTO slice VALUES(?1, ?2)")?;
        for (at, piece) in (0..).zip(bits.chunks(PIECE * ROW)).filter(|(_, piece)| piece.iter().any(|byte| *byte != 0))
        {
            put.execute(params![slab * PIECES + at, piece])?;
        }
        let mut drop = db.prepare_cached("DELETE FROM filter WHERE doc = ?1 AND seq = ?2")?;
        for spot in &taken {
            drop.execute([spot.doc, spot.seq])?;
        }
        count -= CHUNKS;
    }
    Ok(count)
}

/// Sets the bits of one filter in the column `at`. One that was made smaller stands for all that it may have been.
fn lay(bits: &mut [u8], at: usize, filter: &[u8]) {
    let (byte, bit) = (at / 8, 1 << (at % 8));
    if !filter.len().is_power_of_two() || filter.len() > GRAMS / 8 {
        // It is damaged, and may hold anything.
        (0..GRAMS).for_each(|gram| bits[gram * ROW + byte] |= bit);
        return;
    }
    for (nth, set) in filter.iter().enumerate().filter(|(_, set)| **set != 0) {
        for first in (0..GRAMS / 8).step_by(filter.len()) {
            let mut left = *set;
            while left != 0 {
                let gram = (first + nth) * 8 + left.trailing_zeros() as usize;
                bits[gram * ROW + byte] |= bit;
                left &= left - 1;
            }
        }
    }
}

/// Tells `each` the chunks that may hold some of the words, whose trigrams are `words`: which chunk, and which words, a
/// bit for each.
pub(super) fn search(db: &Connection, words: &[&[u16]], mut each: impl FnMut(Spot, u64)) -> rusqlite::Result<()> {
    let mut slabs = db.prepare_cached("SELECT id, map FROM slab ORDER BY id")?;
    let mut get = db.prepare_cached("SELECT bits FROM slice WHERE id = ?1")?;
    let mut rows = slabs.query([])?;
    while let Some(row) = rows.next()? {
        let slab: i64 = row.get(0)?;
        let mut masks = [0_u64; CHUNKS];
        for (nth, grams) in words.iter().enumerate() {
            let mut all = [0xff_u8; ROW];
            for gram in *grams {
                let gram = usize::from(*gram);
                let piece = slab * PIECES + i64::try_from(gram / PIECE).unwrap_or(0);
                let mut found = get.query([piece])?;
                let found = found.next()?;
                let bits = found.map(|row| row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)).transpose()?;
                let start = gram % PIECE * ROW;
                match bits.and_then(|bits| bits.get(start..start + ROW)) {
                    Some(bits) => all.iter_mut().zip(bits).for_each(|(all, bits)| *all &= bits),
                    None => all = [0; ROW],
                }
                if all == [0; ROW] {
                    break;
                }
            }
            for (at, mask) in masks.iter_mut().enumerate() {
                *mask |= u64::from(all[at / 8] >> (at % 8) & 1) << nth;
            }
        }
        let map = row.get_ref(1)?.as_blob()?;
        for (spot, mask) in map.chunks(ENTRY).zip(masks).filter(|(_, mask)| *mask != 0) {
            each(Spot::read(spot), mask);
        }
    }
    Ok(())
}

/// Takes slabs apart of which `lives` says that most of their chunks are gone: what is left lies one by one again.
pub(super) fn tidy(db: &Connection, lives: impl Fn(&Spot) -> bool) -> rusqlite::Result<()> {
    let slabs: Vec<(i64, Vec<u8>)> = {
        let mut get = db.prepare_cached("SELECT id, map FROM slab")?;
        let rows = get.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<Result<_, _>>()?
    };
    for (slab, map) in slabs {
        let spots: Vec<(usize, Spot)> =
            map.chunks(ENTRY).map(Spot::read).enumerate().filter(|(_, spot)| lives(spot)).collect();
        if spots.len() * 2 > CHUNKS {
            continue;
        }
        let mut filters = vec![vec![0_u8; GRAMS / 8]; spots.len()];
        let mut get = db.prepare_cached("SELECT id, bits FROM slice WHERE id >= ?1 AND id < ?2")?;
        let mut rows = get.query([slab * PIECES, (slab + 1) * PIECES])?;
        while let Some(row) = rows.next()? {
            let piece = usize::try_from(row.get::<_, i64>(0)? - slab * PIECES).unwrap_or(0);
            let bits = row.get_ref(1)?.as_blob()?;
            for (nth, bits) in bits.chunks(ROW).enumerate() {
                let gram = piece * PIECE + nth;
                for (filter, (at, _)) in filters.iter_mut().zip(&spots) {
                    filter[gram / 8] |= (bits.get(at / 8).copied().unwrap_or(0) >> (at % 8) & 1) << (gram % 8);
                }
            }
        }
        let mut put = db.prepare_cached("INSERT OR IGNORE INTO filter VALUES(?1, ?2, ?3, ?4, ?5)")?;
        for (filter, (_, spot)) in filters.iter().zip(&spots) {
            put.execute(params![spot.doc, spot.seq, spot.first, spot.last, filter])?;
        }
        db.prepare_cached("DELETE FROM slice WHERE id >= ?1 AND id < ?2")?
            .execute([slab * PIECES, (slab + 1) * PIECES])?;
        db.prepare_cached("DELETE FROM slab WHERE id = ?1")?.execute([slab])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::fold::{self, Filter};
    use super::*;

    fn db() -> Connection {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(&format!("CREATE TABLE filter(doc, seq, first, last, bits, PRIMARY KEY(doc, seq)); {TABLES}"))
            .unwrap();
        db
    }

    #[test]
    fn a_slab_says_what_its_filters_say_also_after_it_was_taken_apart() {
        let db = db();
        let mut filters = Vec::new();
        for n in 0..1_100_i64 {
            let mut filter = Filter::new();
            // Some are small, some large, so that they are made smaller by different amounts.
            let text: String = (0..n % 7 * 200 + 1).map(|k| format!("{} ", k * n * 7919)).collect();
            filter.add(&format!("{text} number{n}x {}", if n % 3 == 0 { "three" } else { "" }));
            let bits = filter.take();
            db.execute("INSERT INTO filter VALUES(?1, ?2, ?3, ?4, ?5)", params![n, n % 5, n, n + 1, bits]).unwrap();
            filters.push(bits);
        }
        let words = ["number700x", "three", "zz"].map(fold::grams);
        let wanted: Vec<(i64, u64)> = (0..)
            .zip(&filters)
            .map(|(n, bits)| (n, (0..).zip(&words).map(|(at, word)| u64::from(fold::may_hold(bits, word)) << at).sum()))
            .collect();
        assert_eq!(gather(&db, 1_100).unwrap(), 1_100 - 2 * CHUNKS);
        let words: Vec<&[u16]> = words.iter().map(Vec::as_slice).collect();
        let found = || {
            let mut found = Vec::new();
            search(&db, &words, |spot, mask| {
                assert_eq!((spot.seq, spot.first, spot.last), (spot.doc % 5, spot.doc, spot.doc + 1));
                found.push((spot.doc, mask));
            })
            .unwrap();
            found
        };
        assert_eq!(found(), wanted[..2 * CHUNKS]);
        // Most of the first slab goes.
        tidy(&db, |spot| spot.doc >= 400).unwrap();
        assert_eq!(found(), wanted[CHUNKS..2 * CHUNKS]);
        let left: i64 = db.query_row("SELECT count(*) FROM filter", [], |row| row.get(0)).unwrap();
        assert_eq!(left, 1_100 - 2 * 512 + 112);
        let mut get = db.prepare("SELECT doc, bits FROM filter WHERE doc < 512").unwrap();
        let mut rows = get.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let (doc, bits): (i64, Vec<u8>) = (row.get(0).unwrap(), row.get(1).unwrap());
            let mask = (0..).zip(&words).map(|(at, word)| u64::from(fold::may_hold(&bits, word)) << at).sum::<u64>();
            assert_eq!(mask, wanted[usize::try_from(doc).unwrap()].1);
        }
    }
}
