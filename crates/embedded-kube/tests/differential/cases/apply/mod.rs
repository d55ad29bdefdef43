//! Server-side apply, and who manages which fields.

mod bodies;
mod conflicts;
mod kinds;
mod kubectl;
mod lists;
mod managers;
mod objects;
mod schemas;
