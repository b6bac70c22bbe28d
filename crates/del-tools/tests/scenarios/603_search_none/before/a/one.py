import os

def run():
    return os.getcwd()


def stop():
    pass
