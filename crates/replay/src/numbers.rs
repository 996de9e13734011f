//! Names to small numbers, in the order in which a log first gives them. What an entry brought in can be taken back.

use chipdeck_event::Id;
use hashbrown::HashMap;

/// Numbered names, each with something that belongs to it.
pub(crate) struct Numbers<T> {
    rows: Vec<Row<T>>,
    by_name: HashMap<Id, u32>,
}

pub(crate) struct Row<T> {
    pub name: Id,
    /// Position of the entry that brought it.
    born: u32,
    pub with: T,
}

impl<T> Default for Numbers<T> {
    fn default() -> Numbers<T> {
        Numbers {
            rows: Vec::new(),
            by_name: HashMap::new(),
        }
    }
}

impl<T> Numbers<T> {
    pub(crate) fn get(&self, name: &str) -> Option<u32> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn number(&mut self, name: &Id, born: u32, with: impl FnOnce() -> T) -> u32 {
        if let Some(&number) = self.by_name.get(name) {
            return number;
        }
        let number = self.rows.len() as u32;
        self.rows.push(Row {
            name: name.clone(),
            born,
            with: with(),
        });
        self.by_name.insert(name.clone(), number);
        number
    }

    pub(crate) fn row(&self, number: u32) -> Option<&Row<T>> {
        self.rows.get(number as usize)
    }

    pub(crate) fn row_mut(&mut self, number: u32) -> Option<&mut Row<T>> {
        self.rows.get_mut(number as usize)
    }

    pub(crate) fn rows(&self) -> &[Row<T>] {
        &self.rows
    }

    /// Forgets the names that came with an entry after `position`.
    pub(crate) fn truncate(&mut self, position: u32) {
        while let Some(row) = self.rows.pop_if(|row| row.born > position) {
            self.by_name.remove(&row.name);
        }
    }
}
