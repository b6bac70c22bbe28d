def area(w, h):
    return c.area_of(w, h)
