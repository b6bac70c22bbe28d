unsafe fn a() {}
fn b() { unsafe { a() } }
