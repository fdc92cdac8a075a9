#!/usr/bin/env python3
"""The names that the library of each driver age exports, against the table of functions.

  symbols_test.py TABLES FOLDER

FOLDER holds age-*/libnvidia-ml.so.1. A name must be there exactly when the driver had it. Exit 1 with a list
when something is wrong.
"""

import ctypes
import glob
import os
import sys

from nvml_tables import Interface


def driver_of(library):
    text = ctypes.create_string_buffer(80)
    library.nvmlInit_v2()
    library.nvmlSystemGetDriverVersion(text, 80)
    library.nvmlShutdown()
    return text.value.decode()


def check(path, interface):
    library = ctypes.CDLL(path)
    driver = driver_of(library)
    wrong = [function.name for function in interface.functions
             if hasattr(library, function.name) != function.existed(driver)]
    there = sum(function.existed(driver) for function in interface.functions)
    print(f'{driver:12s} {there} names of {len(interface.functions)}')
    return [f'{driver}: {name}' for name in wrong]


def main(tables, folder):
    interface = Interface(tables)
    libraries = sorted(glob.glob(os.path.join(folder, 'age-*', 'libnvidia-ml.so.1')))
    problems = [] if len(libraries) >= 9 else [f'only {len(libraries)} libraries in {folder}']
    for path in libraries:
        problems += check(path, interface)
    for problem in problems:
        print('wrong:', problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2]))
