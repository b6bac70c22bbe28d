package a.b;
import java.util.List;
public class Foo<T> extends Bar implements Baz {
  private int count;
  public Foo(int c) { this.count = c; }
  @Override
  public List<String> run(final int a) throws IOException { if (a > 1) { return null; } new Foo<String>(2); run(a); return a > 0 ? x : y; }
  private static void helper() { switch (1) { case 1: break; default: } }
  interface Inner { void go(); }
  enum E { A, B }
  record R(int x) { R { } }
}
