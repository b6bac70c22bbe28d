fn main( ) { }
