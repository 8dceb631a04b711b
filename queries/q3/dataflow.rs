//! Persons of three states joined with auctions of one category; both filters come before the exchange.

use serde::{Deserialize, Serialize};

use crate::answer::{Columns, Output};
use crate::event::{Text, Texts};
use crate::operators::join::join;
use crate::operators::kernel::kernel;
use crate::operators::pack::Whole;
use crate::operators::{Blocks, Environment};

const CATEGORY: i64 = 10;
const STATES: [&str; 3] = ["OR", "ID", "CA"];

/// What is kept of a person.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Seller {
    name: Text,
    city: Text,
    state: Text,
}

impl Whole for Seller {}

/// An output row.
#[derive(Clone, Copy, Debug)]
struct Row {
    seller: Seller,
    auction: i64,
}

impl Output for Row {
    fn columns(&self, texts: &Texts, columns: &mut dyn Columns) {
        columns.text(texts.get(self.seller.name));
        columns.text(texts.get(self.seller.city));
        columns.text(texts.get(self.seller.state));
        columns.integer(self.auction);
    }
}

pub(super) fn dataflow(blocks: Blocks<'_>, environment: &Environment) {
    let auctions = kernel(blocks.clone(), "auctions of the category", |block, auctions| {
        let selected = block.auctions.iter().filter(|auction| auction.category == CATEGORY);
        auctions.extend(selected.map(|auction| (auction.seller, auction.id)));
    });
    let texts = environment.texts.clone();
    let sellers = kernel(blocks, "persons of the states", move |block, sellers| {
        let selected = block.persons.iter().filter(|person| STATES.contains(&texts.get(person.state)));
        sellers.extend(selected.map(|person| {
            (person.id, Seller { name: person.name, city: person.city, state: person.state })
        }));
    });
    let rows = join(auctions, sellers, environment, |_seller, auction: i64, seller: Seller| Row { seller, auction });
    environment.output(rows);
}
