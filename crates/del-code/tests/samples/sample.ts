import type { Foo } from './foo';
export interface Shape { area(): number; name: string; }
export type Id = string | number;
enum Color { Red, Green }
abstract class Base<T> implements Shape {
  private secret(): void {}
  protected abstract calc(x: T): Foo;
  public area(): number { return this.calc(null as any) as any; }
  constructor(private readonly id: Id) {}
}
namespace NS { export function helper(a: Foo): Id { return a.id; } }
export const fn = async <T,>(x: T): Promise<T> => x;
declare function ext(a: string): void;
