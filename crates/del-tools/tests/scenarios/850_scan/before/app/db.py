import os

def find(cur, name):
    cur.execute("SELECT * FROM t WHERE a='" + name + "'")
    os.system("rm " + name)
    eval(name)  # del:allow(python-eval)
    # eval(name)
    return "eval(name)"
