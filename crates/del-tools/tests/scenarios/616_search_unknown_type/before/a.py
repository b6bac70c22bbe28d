beta = 1
beta = 2
