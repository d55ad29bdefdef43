//! Where two things meet on the road: guests and hosts, operators, namesakes, restores, answers that
//! are lost. On the second system, which has all of them.

mod days;
mod guests;
mod namesakes;
mod world;
