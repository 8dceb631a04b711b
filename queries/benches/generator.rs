//! Speed of the generator: whole events, one core.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nexmark_queries::block::Block;
use nexmark_queries::generator::{Generator, Options};

const BLOCK: u64 = 4096;

fn generator(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("generator");
    group.throughput(Throughput::Elements(BLOCK));
    for (name, group_size) in [("in order", 1), ("groups of 1000", 1000)] {
        let options = Options { out_of_order_group_size: group_size, ..Options::default() };
        let generator = Generator::new(options).expect("the options are in range");
        let mut block = Block::default();
        let mut position = 0;
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                generator.fill(position..position + BLOCK, &mut block);
                position += BLOCK;
                black_box(&block);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, generator);
criterion_main!(benches);
