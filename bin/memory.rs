//! The allocator of the whole program, which the embedded engine runs in.

// Faster than the system's where windows and joins make many small pieces.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Gives what earlier runs have freed back to the system, so that it is not taken for the next run's.
pub(crate) fn give_back() {
    // SAFETY: takes no pointers and may be called at any time from any thread; it touches nothing that is in use.
    unsafe { libmimalloc_sys::mi_collect(true) }
}
