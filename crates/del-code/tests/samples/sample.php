<?php
namespace App;
use Foo\Bar;
function helper(int $a, ?string $b = null): int { if ($a && $b) { foreach ([] as $x) {} } return helper(1); }
class User extends Model implements Thing {
  private string $name;
  public function __construct(private Bar $bar) { $this->run(); }
  protected function hidden() {}
  public static function run(Bar $b): self { $u = new User($b); self::run($b); return "run $u->name"; }
}
interface Thing { public function go(); }
trait T {}
enum E: string { case A = 'a'; }
