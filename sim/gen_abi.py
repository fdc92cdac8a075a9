#!/usr/bin/env python3
"""Writes the NVML declarations of the simulated machine from the fact tables in abi/.

The tables are facts (names, sizes, offsets, first driver); nothing here is shared with the program's
own NVML client, so that a misreading on one side shows up as a disagreement between the two.

  gen_abi.py code TABLE_DIR OUT_DIR           nvml_abi.h, nvml_functions.h, nvml_functions.cc, fallbacks.cc,
                                              nvml_fields.h, nvml_fields.cc
  gen_abi.py map TABLE_DIR OUT_FILE [DRIVER]  linker version script; with DRIVER only what it had
"""

import os
import re
import sys

SCALARS = {
    'char': 1, 'unsigned char': 1, 'unsigned short': 2, 'int': 4, 'unsigned': 4, 'unsigned int': 4,
    'double': 8, 'unsigned long': 8, 'long long': 8, 'signed long long': 8, 'unsigned long long': 8,
}
POINTER_HANDLES = ['nvmlDevice_t', 'nvmlEventSet_t', 'nvmlUnit_t', 'nvmlGpuInstance_t',
                   'nvmlComputeInstance_t', 'nvmlGpmSample_t', 'nvmlSystemEventSet_t',
                   'nvmlCPERCursorHandle_t']
UNSUFFIXED_ALIASES = {'nvmlGpuFabricInfoV_t': 'nvmlGpuFabricInfo_v3_t'}
EXPORTED_EXTRAS = ['gpusight_sim_*']


def read_table(folder, name):
    with open(os.path.join(folder, name), encoding='utf-8') as file:
        lines = file.read().splitlines()
    head = lines[0].split('\t')
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split('\t')
        if len(cells) != len(head):
            sys.exit(f'{name}:{number}: {len(cells)} columns instead of {len(head)}')
        rows.append(dict(zip(head, cells)))
    return rows


class Struct:
    def __init__(self, name, size):
        self.name, self.size, self.members = name, size, []

    def is_union(self):
        return len(self.members) > 1 and all(m['offset'] == 0 for m in self.members)


def load_structs(folder):
    structs, aliases = {}, {}
    for row in read_table(folder, 'structs.tsv'):
        names = row['struct'].split('/')
        struct = structs.setdefault(names[0], Struct(names[0], int(row['struct_size'])))
        for other in names[1:]:
            aliases[other] = names[0]
        struct.members.append({'name': row['member'], 'offset': int(row['offset']),
                               'size': int(row['size']), 'type': row['type'].strip()})
    return structs, aliases


def base_type(text):
    """The type name in a member's or parameter's type: no array, no pointer, no const."""
    return re.sub(r'\[.*\]|\*|\bconst\b', '', text).strip()


def parameters(signature):
    inside = signature[signature.index('(') + 1:signature.rindex(')')].strip()
    if inside in ('', 'void'):
        return []
    result = []
    for text in inside.split(','):
        match = re.fullmatch(r'(.*?)(\w+)(\[\w*\])?', text.strip())
        kind = match.group(1).strip() + (' *' if match.group(3) else '')
        result.append((re.sub(r'\s*\*', '*', kind), match.group(2)))
    return result


class Declarations:
    """Emits every type in an order in which each is known before it is used."""

    def __init__(self, folder):
        self.structs, self.aliases = load_structs(folder)
        self.functions = read_table(folder, 'functions.tsv')
        self.sizes = {}
        for struct in self.structs.values():
            for member in struct.members:
                kind = base_type(member['type'])
                if '[' not in member['type'] and '*' not in member['type']:
                    self.sizes.setdefault(kind, member['size'])
        self.lines, self.done = [], set(SCALARS) | {'void'}

    def require(self, kind):
        if kind in self.done or kind == 'struct {..}':
            return
        self.done.add(kind)
        if kind in self.structs:
            self.emit_struct(self.structs[kind])
        elif kind in self.aliases:
            self.emit_alias(kind, self.aliases[kind])
        elif kind in POINTER_HANDLES:
            self.lines.append(f'using {kind} = struct {kind[:-2]}_st*;')
        elif self.newest_version(kind):
            self.emit_alias(kind, self.newest_version(kind))
        else:
            width = {1: 'unsigned char', 2: 'unsigned short', 4: 'unsigned int',
                     8: 'unsigned long long'}[self.sizes.get(kind, 4)]
            self.lines.append(f'using {kind} = {width};')

    def newest_version(self, kind):
        if kind in UNSUFFIXED_ALIASES:
            return UNSUFFIXED_ALIASES[kind]
        found = [(int(m.group(1)), name) for name in self.structs
                 for m in [re.fullmatch(re.escape(kind[:-2]) + r'_v(\d+)_t', name)] if m]
        return max(found)[1] if found else None

    def emit_alias(self, kind, target):
        self.require(target)
        self.lines.append(f'using {kind} = {target};')

    def size_of(self, kind):
        if kind in SCALARS:
            return SCALARS[kind]
        if kind in self.structs:
            return self.structs[kind].size
        if kind in self.aliases:
            return self.size_of(self.aliases[kind])
        if kind in POINTER_HANDLES:
            return 8
        if self.newest_version(kind):
            return self.size_of(self.newest_version(kind))
        return self.sizes.get(kind, 4)

    def member_text(self, member):
        kind, text = base_type(member['type']), member['type']
        if kind == 'struct {..}':
            return f"unsigned int {member['name']}[{member['size'] // 4}];"
        if '*' in text:
            return f"{kind}* {member['name']};"
        if '[' in text:
            return f"{kind} {member['name']}[{member['size'] // self.size_of(kind)}];"
        return f"{kind} {member['name']};"

    def emit_struct(self, struct):
        for member in struct.members:
            self.require(base_type(member['type']))
        word = 'union' if struct.is_union() else 'struct'
        self.lines.append(f'{word} {struct.name} {{')
        self.lines += ['  ' + self.member_text(member) for member in struct.members]
        self.lines.append('};')
        self.lines.append(f'static_assert(sizeof({struct.name}) == {struct.size});')
        for member in struct.members:
            self.lines.append(f"static_assert(offsetof({struct.name}, {member['name']}) == "
                              f"{member['offset']});")

    def emit_all(self):
        for name in self.structs:
            self.require(name)
        for row in self.functions:
            for kind, _ in parameters(row['signature']):
                self.require(base_type(kind))
        self.require('nvmlReturn_t')
        return self.lines


def prototype(row):
    returns = 'const char*' if row['signature'].startswith('const char') else 'nvmlReturn_t'
    arguments = ', '.join(f'{kind} {name}' for kind, name in parameters(row['signature']))
    return f"{returns} {row['function']}({arguments})"


def abi_header(folder):
    out = ['// Generated by gen_abi.py from abi/*.tsv: change the tables, not this file.', '#pragma once',
           '#include <cstddef>', '']
    declarations = Declarations(folder)
    out += declarations.emit_all()
    out.append('')
    for row in read_table(folder, 'constants.tsv'):
        value = int(row['value'], 0)
        kind = 'int' if value < 0 else 'unsigned int' if value <= 0xFFFFFFFF else 'unsigned long long'
        out.append(f"inline constexpr {kind} {row['constant']} = {row['value']};")
    out += [''] + since_lines(folder, set(declarations.structs))
    out += ['', 'extern "C" {', '#pragma GCC visibility push(default)']
    out += [prototype(row) + ';' for row in read_table(folder, 'functions.tsv')]
    out += ['#pragma GCC visibility pop', '}  // extern "C"', '']
    return '\n'.join(out)


def version_key(text):
    """A driver version as one comparable number; parts beyond the third do not occur."""
    parts = [int(part) for part in text.split('.')] + [0, 0]
    return (parts[0] * 10000 + parts[1]) * 10000 + parts[2]


def functions_header(folder):
    names = [row['function'] for row in read_table(folder, 'functions.tsv')]
    out = ['// Generated by gen_abi.py from abi/functions.tsv.', '#pragma once', '#include <cstdint>', '',
           'namespace gpusight::sim {', '', '// Every NVML function that some driver exported.',
           'enum class Fn : unsigned {']
    out += [f'  {name},' for name in names]
    out += ['  kCount', '};', '',
            'struct FunctionFact {', '  const char* name;',
            '  std::uint64_t first_driver;  // version_key(); 0 = older than our records',
            '  std::uint64_t last_driver;   // 0 = still there',
            '  const char* holes;           // dotted prefixes of drivers without it, comma separated',
            '};', '', 'extern const FunctionFact kFunctionFacts[static_cast<unsigned>(Fn::kCount)];', '',
            '}  // namespace gpusight::sim', '']
    return '\n'.join(out)


def functions_source(folder):
    out = ['// Generated by gen_abi.py from abi/functions.tsv.', '#include "nvml_functions.h"', '',
           'namespace gpusight::sim {', '',
           'const FunctionFact kFunctionFacts[static_cast<unsigned>(Fn::kCount)] = {']
    for row in read_table(folder, 'functions.tsv'):
        last = version_key(row['last_driver']) if row['last_driver'] else 0
        out.append(f"    {{\"{row['function']}\", {version_key(row['first_driver'])}ULL, {last}ULL, "
                   f"\"{row['holes']}\"}},")
    out += ['};', '', '}  // namespace gpusight::sim', '']
    return '\n'.join(out)


def fallbacks_source(folder):
    out = ['// Generated by gen_abi.py from abi/functions.tsv.',
           '// A weak definition of every function: where the simulation has one of its own, that one wins',
           '// at link time; the rest answer NOT_SUPPORTED as hardware without the feature does.',
           '#include "nvml_abi.h"', '#include "unsupported.h"', '', 'using gpusight::sim::Fn;',
           'using gpusight::sim::unsupported;', '']
    for row in read_table(folder, 'functions.tsv'):
        if row['signature'].startswith('const char'):
            continue
        names = parameters(row['signature'])
        texts = [f'{kind}{" " + name if kind == "nvmlDevice_t" and at == 0 else ""}'
                 for at, (kind, name) in enumerate(names)]
        handle = f', {names[0][1]}' if names and names[0][0] == 'nvmlDevice_t' else ''
        out.append(f"extern \"C\" __attribute__((weak)) nvmlReturn_t {row['function']}("
                   f"{', '.join(texts)}) {{ return unsupported(Fn::{row['function']}{handle}); }}")
    return '\n'.join(out) + '\n'


def history_pairs(text):
    """"525.105.17:173 530.30.02:None" as (version, number or None)."""
    pairs = [part.rsplit(':', 1) for part in text.split()]
    return [(version, None if number == 'None' else int(number)) for version, number in pairs]


def fields_header(folder):
    rows = read_table(folder, 'fields.tsv')
    out = ['// Generated by gen_abi.py from abi/fields.tsv.', '#pragma once', '#include <cstdint>', '',
           'namespace gpusight::sim {', '',
           '// Every field that some driver had, whatever its number then.',
           'enum class FieldName : unsigned {']
    out += [f"  {row['name']}," for row in rows]
    out += ['  kCount', '};', '',
            '// From a driver on (version_key()), the number of a field; 0 = it had none.',
            'struct FieldFact {', '  FieldName name;', '  std::uint64_t since;', '  unsigned id;', '};',
            '', '// By field, then by driver.', 'extern const FieldFact kFieldFacts[];',
            'extern const unsigned kFieldFactCount;', '', '}  // namespace gpusight::sim', '']
    return '\n'.join(out)


def fields_source(folder):
    out = ['// Generated by gen_abi.py from abi/fields.tsv.', '#include "nvml_fields.h"', '',
           'namespace gpusight::sim {', '', 'const FieldFact kFieldFacts[] = {']
    count = 0
    for row in read_table(folder, 'fields.tsv'):
        history = history_pairs(row['history']) or [(row['first_driver'], int(row['id']))]
        for version, number in history:
            out.append(f"    {{FieldName::{row['name']}, {version_key(version)}ULL, {number or 0}U}},")
            count += 1
    out += ['};', f'const unsigned kFieldFactCount = {count};', '', '}  // namespace gpusight::sim', '']
    return '\n'.join(out)


def since_lines(folder, known):
    """The first driver of each structure, for calls that take several versions of one."""
    out = ['// The first driver whose interface had the type; empty = older than our records.',
           'template <class T>', 'inline constexpr const char* kSince = "";']
    for row in read_table(folder, 'struct_history.tsv'):
        name = row['type']
        if name in known and row['size_changes(driver:size)']:
            first = row['size_changes(driver:size)'].split()[0].split(':')[0]
            out.append(f'template <>\ninline constexpr const char* kSince<{name}> = "{first}";')
    return out


def existed(row, driver):
    key = version_key(driver)
    if version_key(row['first_driver']) > key:
        return False
    if row['last_driver'] and version_key(row['last_driver']) < key:
        return False
    holes = [hole for hole in row['holes'].split(',') if hole]
    return not any((driver + '.').startswith(hole + '.') for hole in holes)


def version_script(folder, driver):
    names = [row['function'] for row in read_table(folder, 'functions.tsv')
             if driver is None or existed(row, driver)]
    out = ['{', '  global:'] + [f'    {name};' for name in names + EXPORTED_EXTRAS]
    return '\n'.join(out + ['  local: *;', '};', ''])


def write(path, text):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def main(arguments):
    if len(arguments) == 3 and arguments[0] == 'code':
        folder, target = arguments[1:]
        os.makedirs(target, exist_ok=True)
        write(os.path.join(target, 'nvml_abi.h'), abi_header(folder))
        write(os.path.join(target, 'nvml_functions.h'), functions_header(folder))
        write(os.path.join(target, 'nvml_functions.cc'), functions_source(folder))
        write(os.path.join(target, 'fallbacks.cc'), fallbacks_source(folder))
        write(os.path.join(target, 'nvml_fields.h'), fields_header(folder))
        write(os.path.join(target, 'nvml_fields.cc'), fields_source(folder))
    elif len(arguments) in (3, 4) and arguments[0] == 'map':
        write(arguments[2], version_script(arguments[1], (arguments + [None])[3]))
    else:
        sys.exit(__doc__)


if __name__ == '__main__':
    main(sys.argv[1:])
