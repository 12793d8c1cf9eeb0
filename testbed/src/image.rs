//! Images made without a container engine, and the operator's own.

mod archive;
mod operator;
mod root;

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

pub(crate) use archive::{Archive, Layer};
pub(crate) use operator::{NAME as OPERATOR, static_binary, write_tar as write_operator_tar};
pub(crate) use root::Root;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Cargo's profile: `release` is what is published, `dev` is built faster
    #[arg(long, value_name = "PROFILE", default_value = "release")]
    profile: String,
    /// The image's full name
    #[arg(long, value_name = "NAME:TAG", default_value = OPERATOR)]
    name: String,
    /// Where the layout directory and the tar go
    #[arg(long, value_name = "DIR", default_value = "target/testbed/image")]
    out: PathBuf,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let written = operator::write(&options.profile, &options.name, &options.out)?;
    println!("image     {} ({} bytes in {})", options.name, written.bytes, written.tar.display());
    println!("layout    {}", written.layout.display());
    println!("manifest  {}", written.digest);
    println!("program   {}", written.program.display());
    println!("to use it in a cluster: ctr -n k8s.io image import {}", written.tar.display());
    Ok(())
}
