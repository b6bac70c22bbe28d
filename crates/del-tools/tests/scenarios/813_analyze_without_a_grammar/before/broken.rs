fn a( { if x } }}
fn b() {}
