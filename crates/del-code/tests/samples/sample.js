// run in comment
import { run as r2, other } from './x';
const run = (a, b) => { return a + b; };
function outer() { const inner = function (q) { if (q) { run(1); } else if (z) { new Foo(); } }; }
class A extends B {
  #priv() {}
  static async go(x) { `text ${run(2)} run`; }
  handler = () => { this.go(); };
  get size() { return 1; }
}
module.exports.thing = function (a) { return a ? 1 : 2; };
const obj = { key: () => 1, method(a) {}, run };
export default class extends A {}
function* gen() { yield run; }
