package main
import ("fmt"; x "os")
type Parser struct { name string }
type Reader interface { Read(p []byte) (int, error) }
type ID = int
func New(n string) *Parser { return &Parser{name: n} }
func (p *Parser) Push(a int, b ...string) error {
	switch a { case 1: fmt.Println("Push"); case 2: }
	if a > 1 && b != nil { for i := range b { _ = i } } else if a == 3 { return nil }
	return nil
}
func Map[T any](x []T) {}
func main() { p := New("x"); p.Push(1); var r Reader; _ = r }
