import a
import c
print(a.area(2, 3))
