def area(w, h):
    return w * h * 2


def total(items):
    s = 0
    for i in items:
        s += i
    return s
