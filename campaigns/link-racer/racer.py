"""Swaps each name in one folder with the same name in another, atomically, as often as it is told.

racer.py SWAPS PAUSE_SECONDS SEED FOLDER OTHER NAME... ; an even number of swaps for every name, so
that in the end everything is where it was.
"""

import ctypes
import os
import random
import sys
import time

swaps, pause, seed = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
folder, other, names = sys.argv[4], sys.argv[5], sys.argv[6:]
chance = random.Random(seed)
libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, RENAME_EXCHANGE = -100, 2


def exchange(name):
    a = os.path.join(folder, name).encode()
    b = os.path.join(other, name).encode()
    if libc.renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "renameat2", name)


for _ in range(swaps // 2):
    name = chance.choice(names)
    exchange(name)
    time.sleep(chance.random() * pause)
    exchange(name)
    time.sleep(chance.random() * pause)
print(swaps // 2 * 2)
