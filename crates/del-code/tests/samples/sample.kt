class Foo(val a: Int)
fun String.ext(x: Int): Boolean { return true }
private suspend fun other() {}
