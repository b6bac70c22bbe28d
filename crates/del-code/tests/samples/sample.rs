//! A doc comment mentions run.
use std::{fmt, io::Read as _};

/* FIXME: /* nested run */ */
pub struct Foo<T> {
    pub run: fn(u8) -> T,
}

enum Color { Red, Green(u8) }

pub trait Shape {
    fn area(&self) -> f64;
    fn run(&self) -> f64 { self.area() }
}

impl<T> Foo<T> {
    pub const fn new(run: fn(u8) -> T) -> Self { Self { run } }
    fn helper<'a>(&'a self, n: u8) -> Option<&'a T>
    where
        T: Clone,
    {
        if n > 1 && n < 3 {
            for i in 0..n {
                match i { 0 => {} 1 | 2 => { (self.run)(i); } _ => loop { break } }
            }
        } else if n == 7 {
            let run = |x: u8| x;
            println!("run {}", run(1));
        }
        None
    }
}

impl<T> fmt::Display for Foo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "Foo") }
}

macro_rules! run { ($x:expr) => { $x } }

mod inner {
    pub(crate) fn helper() { super::Foo::<u8>::new(|_| 1).helper(2); run!(3); }
}
