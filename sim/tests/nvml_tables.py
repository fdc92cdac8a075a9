"""The NVML interface as the fact tables in abi/ state it, for tests that know nothing else of it."""

import os
import re

SIZES = {'char': 1, 'unsigned char': 1, 'unsigned short': 2, 'int': 4, 'unsigned': 4,
         'unsigned int': 4, 'double': 8, 'unsigned long': 8, 'long long': 8,
         'signed long long': 8, 'unsigned long long': 8}
HANDLES = {'nvmlDevice_t', 'nvmlEventSet_t', 'nvmlUnit_t', 'nvmlGpuInstance_t',
           'nvmlComputeInstance_t', 'nvmlGpmSample_t', 'nvmlSystemEventSet_t',
           'nvmlCPERCursorHandle_t'}


def rows(folder, name):
    with open(os.path.join(folder, name), encoding='utf-8') as file:
        lines = file.read().splitlines()
    head = lines[0].split('\t')
    return [dict(zip(head, line.split('\t'))) for line in lines[1:]]


def version_key(text):
    parts = [int(part) for part in text.split('.')] + [0, 0]
    return tuple(parts[:3])


class Parameter:
    def __init__(self, text):
        match = re.fullmatch(r'(.*?)(\w+)(\[\w*\])?', text.strip())
        kind = match.group(1).replace('const', ' ').strip()
        self.name = match.group(2)
        self.pointer = '*' in kind or match.group(3) is not None
        self.kind = re.sub(r'\s+', ' ', kind.replace('*', ' ')).strip()


class Function:
    def __init__(self, row):
        self.name = row['function']
        self.first, self.last, self.holes = row['first_driver'], row['last_driver'], row['holes']
        inside = row['signature'][row['signature'].index('(') + 1:-1].strip()
        self.parameters = [Parameter(text) for text in inside.split(',') if text.strip() != 'void'
                           and text.strip()]

    def existed(self, driver):
        key = version_key(driver)
        if version_key(self.first or '0') > key:
            return False
        if self.last and version_key(self.last) < key:
            return False
        holes = [hole for hole in self.holes.split(',') if hole]
        return not any((driver + '.').startswith(hole + '.') for hole in holes)


class Struct:
    def __init__(self, name, size):
        self.name, self.size, self.members = name, size, []

    def member(self, name):
        return next((m for m in self.members if m['member'] == name), None)


class Interface:
    def __init__(self, folder):
        self.functions = [Function(row) for row in rows(folder, 'functions.tsv')]
        self.structs, self.aliases = {}, {}
        for row in rows(folder, 'structs.tsv'):
            names = row['struct'].split('/')
            struct = self.structs.setdefault(names[0], Struct(names[0], int(row['struct_size'])))
            for other in names[1:]:
                self.aliases[other] = names[0]
            row['offset'], row['size'] = int(row['offset']), int(row['size'])
            struct.members.append(row)
        self.since = {}
        for row in rows(folder, 'struct_history.tsv'):
            history = row['size_changes(driver:size)'].split()
            if history:
                self.since[row['type']] = history[0].split(':')[0]

    def struct(self, kind):
        """The structure of a type; an unsuffixed one is the newest of its versions."""
        if kind in self.aliases:
            return self.structs[self.aliases[kind]]
        if kind in self.structs:
            return self.structs[kind]
        if kind == 'nvmlGpuFabricInfoV_t':
            return self.structs['nvmlGpuFabricInfo_v3_t']
        versions = self.versions(kind)
        return versions[-1] if versions else None

    def versions(self, kind):
        """All numbered structures of a family, the oldest first."""
        base = re.sub(r'(_v\d+)?_t$', '', kind)
        base = 'nvmlGpuFabricInfo' if base == 'nvmlGpuFabricInfoV' else base
        names = set(self.structs) | set(self.aliases)
        found = []
        for name in names:
            match = re.fullmatch(re.escape(base) + r'_v(\d+)_t', name)
            if match:
                found.append((int(match.group(1)), self.structs[self.aliases.get(name, name)]))
        return [struct for _, struct in sorted(found, key=lambda pair: pair[0])]

    def version_numbers(self, kind):
        base = re.sub(r'(_v\d+)?_t$', '', kind)
        base = 'nvmlGpuFabricInfo' if base == 'nvmlGpuFabricInfoV' else base
        numbers = {}
        for name in set(self.structs) | set(self.aliases):
            match = re.fullmatch(re.escape(base) + r'_v(\d+)_t', name)
            if match:
                numbers[int(match.group(1))] = self.structs[self.aliases.get(name, name)]
        return numbers

    def size(self, kind):
        if kind in SIZES:
            return SIZES[kind]
        if kind in HANDLES:
            return 8
        struct = self.struct(kind)
        return struct.size if struct else 4
