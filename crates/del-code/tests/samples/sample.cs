using System;
namespace A.B {
  public class Foo : Bar, IBaz {
    private int x;
    public Foo(int a) { x = a; }
    public async Task<int> Run(string s) { if (s == null || x > 1) { foreach (var i in s) { } } var f = new Foo(1); f.Run("Run"); return x switch { 1 => 2, _ => 3 }; }
    void Hidden() { }
    public int Prop { get; set; }
  }
  interface IBaz { void Go(Foo f); }
  record R(int A);
  enum E { X }
}
