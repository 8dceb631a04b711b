//! Tests of what the dataflows keep: beside what must be kept, worked out from the events alone, and beside the heap, which
//! this binary's allocator counts.

mod heap;
mod kept;
mod limits;

#[global_allocator]
static HEAP: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;
