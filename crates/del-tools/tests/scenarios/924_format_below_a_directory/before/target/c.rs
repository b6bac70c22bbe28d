fn c( ) { }
