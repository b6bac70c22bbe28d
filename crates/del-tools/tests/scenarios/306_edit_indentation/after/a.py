def area(w, h):
    return w * h


def total(items):
    s = 0
    for i in items:
        if i:
            s += i
    return s
