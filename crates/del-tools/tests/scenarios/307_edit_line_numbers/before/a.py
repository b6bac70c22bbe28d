def area(w, h):
    return w * h


def total(items):
    s = 0
    for i in items:
        s += i
    return s
