//! Corners that a second reading of the real server's behaviour found, by topic.

mod bodies;
mod kinds;
mod paging;
mod parts;
mod patches;
mod schemas;
mod selectors;
mod values;
mod watches;
