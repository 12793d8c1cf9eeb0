//! Format major versions: what a directory can hold. *No files.*
//!
//! Source: pebble `format_major_version.go`; the numbers are asserted in `format_major_version_test.go`. cosmos-db and
//! cometbft-db set none, so that nodes have 1 (Pebble v1) or 13 (Pebble v2).

/// The highest format whose every file is read here.
pub(crate) const NEWEST_READ: u64 = 13;

/// From here on the marker, not `CURRENT`, names the MANIFEST.
pub(crate) const MANIFEST_MARKER: u64 = 2;

/// The highest table format that a format major version can have written.
pub(crate) fn newest_table(format: u64) -> u32 {
    match format {
        0..5 => 0,
        5..8 => 1,
        8..12 => 2,
        _ => 3,
    }
}

/// A format's name in the engine's source.
pub(crate) fn name(format: u64) -> &'static str {
    match format {
        14 => "PrePebblev1MarkedCompacted",
        15 => "DeleteSizedAndObsolete",
        16 => "VirtualSSTables",
        17 => "SyntheticPrefixSuffix",
        18 => "FlushableIngestExcises",
        19 => "ColumnarBlocks",
        20 => "WALSyncChunks",
        21 => "TableFormatV6",
        23 => "FooterAttributes",
        24 => "ValueSeparation",
        25 => "ExciseBoundsRecord",
        26 => "V2BlobFiles",
        27 => "BackingValueSize",
        28 => "MarkForCompactionInVersionEdit",
        29 => "IngestBlobFiles",
        30 => "RowblkMarkedForCompaction",
        _ => "a format that was not known when this was written",
    }
}
