//! Apache Flink, 1.20 and 2.x, as an engine: a session cluster somewhere, driven over its REST interface. Nothing is copied
//! into the cluster but one jar, which is uploaded with the job; jobs of other people are left alone.

pub mod local;
