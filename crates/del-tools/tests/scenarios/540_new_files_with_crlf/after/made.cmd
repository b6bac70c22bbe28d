one
2
3
