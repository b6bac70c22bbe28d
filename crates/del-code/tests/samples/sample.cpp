#include <vector>
namespace ns {
class Foo : public Bar {
  void hidden();
public:
  Foo(int a) : x(a) {}
  ~Foo();
  virtual int run(const std::string &s) const override { return 1; }
  template <typename T> T get(T t) { return t; }
  bool operator==(const Foo &o) const;
private:
  int x;
  void secret() {}
};
}
int ns::Foo::other(int a) { auto f = [&](int q) { return q; }; Foo *p = new Foo(1); p->run("run"); return f(a); }
template <class T> std::vector<T> &make(T a) { static std::vector<T> v; return v; }
struct S { int a; };
