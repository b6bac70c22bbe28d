// a
fun main() {
}
