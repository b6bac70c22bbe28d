import a
print(a.area(2, 3))
