#!/usr/bin/env python3
"""Calls every function of an NVML library on every device, from the fact tables alone.

  every_function.py LIBRARY TABLES SCENARIO...

For each scenario (whose driver the library tells) it checks that a function is missing exactly when the
tables say so, that no call writes past the structures, lists and texts it was given, that what a
structure call answers with SUCCESS is filled to the last member, and that a version of a structure that
the driver did not know yet is refused. Exit 1 with a list when something is wrong.
"""

import ctypes
import os
import sys
import time

from nvml_tables import HANDLES, Interface, version_key

SUCCESS, INVALID_ARGUMENT, NOT_SUPPORTED, FUNCTION_NOT_FOUND, UNKNOWN = 0, 2, 3, 13, 999
UNKNOWN_VERSION = 77
VERSION_MISMATCH = 25
CODES = set(range(31)) | {UNKNOWN}
TAIL = 96
ROWS = 64         # as many as a list may get
TEXT = 96
FILLS = (0xA5, 0x5A)
LIFE = {'nvmlInit', 'nvmlInit_v2', 'nvmlInitWithFlags', 'nvmlShutdown', 'nvmlErrorString',
        'nvmlEventSetCreate', 'nvmlEventSetFree', 'nvmlGpmSampleAlloc', 'nvmlGpmSampleFree'}
# Calls that by their nature fill a part only: older forms, unions, lists inside, what the caller sets.
PARTIAL = {'nvmlDeviceGetPciInfo', 'nvmlDeviceGetPciInfo_v2', 'nvmlDeviceGetNvLinkRemotePciInfo',
           'nvmlEventSetWait', 'nvmlComputeInstanceGetInfo', 'nvmlDeviceGetFieldValues',
           'nvmlGpmMetricsGet', 'nvmlDeviceGetSamples', 'nvmlSystemEventSetWait',
           'nvmlDeviceGetNvLinkInfo', 'nvmlDeviceGetProcessesUtilizationInfo',
           'nvmlDeviceGetRunningProcessDetailList', 'nvmlSystemGetDriverBranch',
           'nvmlDeviceGetCurrentClockFreqs', 'nvmlDeviceGetPerformanceModes',
           'nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts', 'nvmlDeviceGetHandleByUUIDV',
           'nvmlDeviceQueryDrainState', 'nvmlDeviceGetPciInfo_v3',
           'nvmlDeviceGetNvLinkRemotePciInfo_v2', 'nvmlDeviceGetPciInfoExt'}
# Their version word is a plain 1.
PLAIN_VERSION = {'nvmlGpmMetricsGet_t', 'nvmlGpmSupport_t'}


class Buffer:
    """Memory with a known filling; tells how far into it a call has written."""

    def __init__(self, allowed, fill):
        self.allowed, self.fill = allowed, fill
        self.memory = (ctypes.c_ubyte * (allowed + TAIL))()
        ctypes.memset(self.memory, fill, allowed + TAIL)

    def set_word(self, offset, value, size=4):
        for i in range(size):
            self.memory[offset + i] = value >> 8 * i & 0xFF

    def overrun(self):
        return any(byte != self.fill for byte in self.memory[self.allowed:])

    def address(self):
        return ctypes.addressof(self.memory)


class Prober:
    def __init__(self, path, tables):
        self.library = ctypes.CDLL(path)
        self.interface = Interface(tables)
        self.problems, self.calls, self.answered = [], 0, set()

    def wrong(self, what):
        if len(self.problems) < 40:
            self.problems.append(what)

    def call(self, name, *arguments):
        function = getattr(self.library, name)
        function.restype = ctypes.c_uint
        return function(*arguments)

    def handle(self, name, *arguments):
        """A handle from a call that makes one, or None."""
        out = ctypes.c_void_p()
        return out.value if self.call(name, *arguments, ctypes.byref(out)) == SUCCESS else None

    # -- a scenario

    def start(self, scenario):
        os.environ['GPUSIGHT_SIM_SCENARIO'] = scenario
        # ctypes does not tell the C library about changes of os.environ by itself.
        self.library.setenv(b'GPUSIGHT_SIM_SCENARIO', scenario.encode(), 1)
        self.call('gpusight_sim_restart')
        if self.call('nvmlInit_v2') != SUCCESS:
            self.wrong(f'{scenario}: nvmlInit_v2 fails')
            return False
        text = ctypes.create_string_buffer(80)
        self.call('nvmlSystemGetDriverVersion', text, 80)
        self.scenario, self.driver = scenario, text.value.decode()
        count = ctypes.c_uint()
        self.call('nvmlDeviceGetCount_v2', ctypes.byref(count))
        self.devices = [self.handle('nvmlDeviceGetHandleByIndex_v2', index)
                        for index in range(min(count.value, 2))]
        self.whole = list(self.devices)
        for device in list(self.devices):
            for index in range(7):
                instance = self.handle('nvmlDeviceGetMigDeviceHandleByIndex',
                                       ctypes.c_void_p(device), index)
                if instance:
                    self.devices.append(instance)
        self.make_handles()
        self.learn()
        return True

    def make_handles(self):
        first = ctypes.c_void_p(self.whole[0])
        self.handles = {'nvmlDevice_t': self.whole[0],
                        'nvmlEventSet_t': self.handle('nvmlEventSetCreate'),
                        'nvmlGpmSample_t': self.handle('nvmlGpmSampleAlloc')}
        for number in range(15):
            instance = self.handle('nvmlDeviceGetGpuInstanceById', first, number)
            if instance:
                self.handles['nvmlGpuInstance_t'] = instance
                compute = self.handle('nvmlGpuInstanceGetComputeInstanceById',
                                      ctypes.c_void_p(instance), 0)
                self.handles['nvmlComputeInstance_t'] = compute

    def learn(self):
        """Arguments that mean something here: a PID, an instance, a memory clock, names."""
        first = ctypes.c_void_p(self.whole[0])
        rows, count = (ctypes.c_uint * (8 * ROWS))(), ctypes.c_uint(ROWS)
        self.call('nvmlDeviceGetComputeRunningProcesses_v2', first, ctypes.byref(count), rows)
        clocks, number = (ctypes.c_uint * ROWS)(), ctypes.c_uint(ROWS)
        self.call('nvmlDeviceGetSupportedMemoryClocks', first, ctypes.byref(number), clocks)
        self.numbers = {'pid': rows[0] if count.value else 1, 'memoryClockMHz': clocks[0]}
        for instance in range(15):
            if self.handle('nvmlDeviceGetGpuInstanceById', first, instance):
                self.numbers['id'] = self.numbers['gpuInstanceId'] = instance
                break
        self.names = {}
        for name, call in (('uuid', 'nvmlDeviceGetUUID'), ('serial', 'nvmlDeviceGetSerial')):
            text = ctypes.create_string_buffer(TEXT)
            self.call(call, first, text, TEXT)
            self.names[name] = text.value
        pci = ctypes.create_string_buffer(128)
        self.call('nvmlDeviceGetPciInfo_v3', first, pci)
        self.names['pciBusId'] = pci.raw[:16].split(b'\0')[0]
        self.pci = pci.raw[:68]
        self.samples = [self.handle('nvmlGpmSampleAlloc') for _ in range(2)]
        for sample in self.samples:
            taken = self.call('nvmlGpmSampleGet', first, ctypes.c_void_p(sample or 0x10))
            time.sleep(0.15 if taken == SUCCESS else 0)

    def put_meaning(self, function, parameter, buffer):
        """What a caller writes into memory before it calls."""
        if parameter.kind == 'char' and parameter.name in self.names:
            ctypes.memmove(buffer.address(), self.names[parameter.name] + b'\0',
                           len(self.names[parameter.name]) + 1)
        if function.name == 'nvmlDeviceGetFieldValues':
            field = self.interface.struct('nvmlFieldValue_t')
            for row in range(ROWS):
                at = row * field.size
                buffer.set_word(at + field.member('fieldId')['offset'], row * 5 % 303)
                buffer.set_word(at + field.member('scopeId')['offset'], 0)
        if function.name == 'nvmlGpmMetricsGet' and all(self.samples):
            get, metric = (self.interface.struct(kind) for kind in
                           ('nvmlGpmMetricsGet_t', 'nvmlGpmMetric_t'))
            buffer.set_word(get.member('sample1')['offset'], self.samples[0], 8)
            buffer.set_word(get.member('sample2')['offset'], self.samples[1], 8)
            buffer.set_word(get.member('metrics')['offset'] + metric.member('metricId')['offset'], 1)
        if function.name == 'nvmlDeviceGetAccountingStats_v2':
            buffer.set_word(0, self.numbers['pid'])
        if function.name == 'nvmlDeviceQueryDrainState' and parameter.kind == 'nvmlPciInfo_t':
            ctypes.memmove(buffer.address(), self.pci, len(self.pci))
        if parameter.kind == 'nvmlUUID_t':
            uuid = self.interface.struct('nvmlUUID_t')
            buffer.set_word(uuid.member('type')['offset'], 1)
            ctypes.memmove(buffer.address() + uuid.member('value')['offset'],
                           self.names['uuid'] + b'\0', len(self.names['uuid']) + 1)

    # -- one call

    def is_list(self, function, parameter):
        """Whether a pointer is to several: then another parameter says how many."""
        sizes = [p for p in function.parameters if p is not parameter
                 and any(word in p.name.lower() for word in ('count', 'size', 'length'))]
        return bool(sizes) and not any(word in parameter.name.lower() for word in ('count', 'size'))

    def buffer(self, function, parameter, struct, fill):
        size = struct.size if struct else self.interface.size(parameter.kind or 'char')
        many = self.is_list(function, parameter)
        if parameter.kind == 'char':
            allowed = TEXT
        elif parameter.kind.startswith('nvmlProcessInfo'):
            allowed = ROWS * 32  # the longest row of any driver
        else:
            allowed = size * (ROWS if many else 1)
        buffer = Buffer(allowed, fill)
        if parameter.kind in ('unsigned int', 'unsigned') and not many:
            buffer.set_word(0, ROWS)
        return buffer

    def prepare_struct(self, buffer, struct, number, extra):
        """The version word, and memory for the lists that a structure points to."""
        if struct.member('version'):
            plain = struct.name in PLAIN_VERSION
            buffer.set_word(0, 1 if plain else struct.size | number << 24)
        for member in struct.members:
            if '*' in member['type']:
                inner = Buffer(ROWS * 512, buffer.fill)
                extra.append(inner)
                buffer.set_word(member['offset'], inner.address(), 8)
            elif any(word in member['member'].lower() for word in
                     ('count', 'entries', 'datasize', 'nummetrics')) and member['size'] == 4:
                buffer.set_word(member['offset'], 1)
            elif member['member'].lower() in ('timeoutms', 'sensortype', 'fan', 'index', 'type',
                                              'pstate', 'mode', 'lastseentimestamp', 'pid'):
                buffer.set_word(member['offset'], 0, member['size'])

    def arguments(self, function, device, struct_of, number, fill):
        arguments, buffers, extra = [], [], []
        for parameter in function.parameters:
            if parameter.pointer:
                struct = struct_of.get(parameter.name) or self.interface.struct(parameter.kind)
                buffer = self.buffer(function, parameter, struct, fill)
                if struct:
                    self.prepare_struct(buffer, struct, number, extra)
                self.put_meaning(function, parameter, buffer)
                buffers.append((parameter, struct, buffer))
                arguments.append(ctypes.c_void_p(buffer.address()))
            elif parameter.kind == 'nvmlDevice_t':
                arguments.append(ctypes.c_void_p(device))
            elif parameter.kind in HANDLES:
                arguments.append(ctypes.c_void_p(self.handles.get(parameter.kind) or 0x10))
            elif parameter.kind in ('unsigned long long', 'long long'):
                arguments.append(ctypes.c_ulonglong(0))
            elif 'length' in parameter.name.lower():
                arguments.append(ctypes.c_uint(TEXT))
            elif 'size' in parameter.name.lower() or parameter.name in ('valuesCount',):
                arguments.append(ctypes.c_uint(ROWS))
            else:
                arguments.append(ctypes.c_uint(self.numbers.get(parameter.name, 0)))
        return arguments, buffers, extra

    def check_unwritten(self, function, kept):
        """Members that neither of two fillings was overwritten in."""
        (first, second) = kept
        for (_, struct, one), (_, _, other) in zip(first, second):
            if not struct or one.allowed != struct.size or function.name in PARTIAL:
                continue
            for member in struct.members:
                at = range(member['offset'], member['offset'] + member['size'])
                if all(one.memory[i] == one.fill and other.memory[i] == other.fill for i in at):
                    self.wrong(f"{self.scenario}: {function.name} leaves {struct.name}."
                               f"{member['member']} as it was")

    def probe(self, function, device, struct_of, number, allowed=None):
        kept = []
        for fill in FILLS:
            arguments, buffers, extra = self.arguments(function, device, struct_of, number, fill)
            code = self.call(function.name, *arguments)
            self.calls += 1
            where = f'{self.scenario}: {function.name}'
            if code not in CODES:
                self.wrong(f'{where} answered {code}')
            if (code == FUNCTION_NOT_FOUND) == function.existed(self.driver):
                self.wrong(f'{where} answered {code} with driver {self.driver}')
            for parameter, _, buffer in buffers:
                if buffer.overrun():
                    self.wrong(f'{where} writes past {parameter.name}')
            if any(inner.overrun() for inner in extra):
                self.wrong(f'{where} writes past a list inside a structure')
            if allowed and function.existed(self.driver) and code not in allowed:
                self.wrong(f'{where} answered {code} to version {number}')
            if code == SUCCESS:
                self.answered.add(function.name)
                kept.append(buffers)
        if len(kept) == len(FILLS):
            self.check_unwritten(function, kept)

    def probe_versions(self, function, device):
        """Each numbered structure that the function could take, and one that nobody knows."""
        for parameter in function.parameters:
            struct = self.interface.struct(parameter.kind) if parameter.pointer else None
            if struct is None or not struct.member('version') or struct.name in PLAIN_VERSION:
                continue
            numbers = self.interface.version_numbers(parameter.kind)
            for number, version in numbers.items():
                since = self.interface.since.get(version.name, '0')
                too_new = version_key(since) > version_key(self.driver)
                # A board without the thing may refuse before it looks at the structure.
                refused = {VERSION_MISMATCH, INVALID_ARGUMENT, NOT_SUPPORTED}
                self.probe(function, device, {parameter.name: version}, number,
                           refused if too_new else None)
            self.probe(function, device, {parameter.name: struct}, UNKNOWN_VERSION,
                       {VERSION_MISMATCH, INVALID_ARGUMENT, NOT_SUPPORTED})
            return True
        return False

    def probe_function(self, function):
        takes_device = any(p.kind == 'nvmlDevice_t' and not p.pointer for p in function.parameters)
        for device in self.devices if takes_device else self.whole[:1]:
            if not self.probe_versions(function, device):
                self.probe(function, device, {}, 1)

    def run(self, scenario):
        if not self.start(scenario):
            return
        for function in self.interface.functions:
            if function.name not in LIFE and hasattr(self.library, function.name):
                self.probe_function(function)
        self.call('nvmlShutdown')


def main(path, tables, scenarios):
    prober = Prober(path, tables)
    for scenario in scenarios:
        prober.run(scenario)
    print(f'{len(scenarios)} scenarios, {prober.calls} calls, '
          f'{len(prober.answered)} functions answered with SUCCESS')
    for problem in prober.problems:
        print('wrong:', problem, file=sys.stderr)
    return 1 if prober.problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
