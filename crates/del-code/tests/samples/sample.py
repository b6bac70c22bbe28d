import os
from sys import path as p  # TODO: x

class Foo(Base):
    """Docstring mentions run."""
    x = 1
    def __init__(self, a: int) -> None:
        self.a = a
    def _hidden(self): pass
    @property
    def run(self):
        def inner(z):
            if z and a or b:
                for i in z:
                    while True:
                        pass
            elif q:
                pass
            return [k for k in z if k]
        return inner(1)

async def main(*args, key=None):
    f = Foo(3)
    print(f"{f.run} run")
    f.run()
    lambda y: y
