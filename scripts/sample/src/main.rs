fn main() {
    println!("The bakery opens at 7 in the morning.");
}
