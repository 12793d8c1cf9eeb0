//! CRC-32C of blocks: the crate that is used beside the other one that was considered.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn checksums(criterion: &mut Criterion) {
    let bytes: Vec<u8> = (0..=250_u8).cycle().take(256 * 1024).collect();
    let mut group = criterion.benchmark_group("crc32c");
    for length in [64, 512, 4096, bytes.len()] {
        let block = bytes.get(..length).unwrap_or_default();
        assert_eq!(chainstore::crc32c(block), crc32c::crc32c(block), "{length}");
        group.throughput(Throughput::Bytes(length as u64));
        group.bench_with_input(BenchmarkId::new("crc-fast", length), block, |bencher, block| {
            bencher.iter(|| chainstore::crc32c(block));
        });
        group.bench_with_input(BenchmarkId::new("crc32c", length), block, |bencher, block| {
            bencher.iter(|| crc32c::crc32c(block));
        });
    }
    group.finish();
}

criterion_group!(benches, checksums);
criterion_main!(benches);
