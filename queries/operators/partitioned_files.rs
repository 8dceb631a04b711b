//! What a dataflow that writes files needs of whoever runs it. The dataflow decides on partitions and lines; directories,
//! buffers, open files and their removal are the engine's.

use std::io::BufRead;

/// The files of one worker, one for each partition. Errors say what was tried, with which path, and why it failed.
pub trait PartitionedFiles {
    /// Appends whole lines to the file of a partition. Its name is a relative path, as `dt=2015-07-15/hm=00:00`.
    ///
    /// # Errors
    /// The file cannot be made, opened or written.
    fn append(&mut self, partition: &str, lines: &[u8]) -> Result<(), String>;

    /// Writes out what is buffered for a partition and closes its file. Lines may still follow later.
    ///
    /// # Errors
    /// The file cannot be written.
    fn finish(&mut self, partition: &str) -> Result<(), String>;

    /// Finishes every partition and lists them; each once.
    ///
    /// # Errors
    /// A file cannot be written.
    fn finish_all(&mut self) -> Result<Vec<String>, String>;

    /// Opens the file of a finished partition for reading.
    ///
    /// # Errors
    /// It cannot be opened.
    fn read(&self, partition: &str) -> Result<Box<dyn BufRead>, String>;

    /// Bytes in buffers.
    fn buffered_bytes(&self) -> usize;
}
