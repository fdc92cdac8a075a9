#!/usr/bin/env python3
"""Loads an NVML library with ctypes, from the interface's facts alone, and checks what it says.

  ctypes_client.py LIBRARY     prints a table of the devices; exit 1 with a list when something is wrong

Written without the simulation's sources at hand, so that it reads the library as a stranger would.
"""

import ctypes
import sys

SUCCESS, INVALID_ARGUMENT, NOT_SUPPORTED, NOT_FOUND, INSUFFICIENT_SIZE, FUNCTION_NOT_FOUND = 0, 2, 3, 6, 7, 13
UINT, ULONG = ctypes.c_uint, ctypes.c_ulonglong


class Memory(ctypes.Structure):
    _fields_ = [('total', ULONG), ('free', ULONG), ('used', ULONG)]


class MemoryV2(ctypes.Structure):
    _fields_ = [('version', UINT), ('total', ULONG), ('reserved', ULONG), ('free', ULONG),
                ('used', ULONG)]


class Utilization(ctypes.Structure):
    _fields_ = [('gpu', UINT), ('memory', UINT)]


class PciInfo(ctypes.Structure):
    _fields_ = [('busIdLegacy', ctypes.c_char * 16), ('domain', UINT), ('bus', UINT),
                ('device', UINT), ('pciDeviceId', UINT), ('pciSubSystemId', UINT),
                ('busId', ctypes.c_char * 32)]


class Process(ctypes.Structure):
    _fields_ = [('pid', UINT), ('usedGpuMemory', ULONG), ('gpuInstanceId', UINT),
                ('computeInstanceId', UINT)]


class OldProcess(ctypes.Structure):
    _fields_ = [('pid', UINT), ('usedGpuMemory', ULONG)]


class Value(ctypes.Union):
    _fields_ = [('dVal', ctypes.c_double), ('siVal', ctypes.c_int), ('uiVal', UINT),
                ('ullVal', ULONG)]


class Sample(ctypes.Structure):
    _fields_ = [('timeStamp', ULONG), ('sampleValue', Value)]


class FieldValue(ctypes.Structure):
    _fields_ = [('fieldId', UINT), ('scopeId', UINT), ('timestamp', ctypes.c_longlong),
                ('latencyUsec', ctypes.c_longlong), ('valueType', UINT), ('nvmlReturn', UINT),
                ('value', Value)]


class Client:
    def __init__(self, path, say=print):
        self.library = ctypes.CDLL(path)
        self.problems, self.say = [], say

    def check(self, good, what):
        if not good:
            self.problems.append(what)

    def call(self, name, *arguments, allowed=(SUCCESS,)):
        code = getattr(self.library, name)(*arguments)
        self.check(code in allowed, f'{name} answered {code}')
        return code

    def number(self, name, *arguments, kind=UINT):
        """A number, or None where the device or the driver has none."""
        value = kind()
        code = self.call(name, *arguments, ctypes.byref(value),
                         allowed=(SUCCESS, NOT_SUPPORTED, FUNCTION_NOT_FOUND))
        return value.value if code == SUCCESS else None

    def text(self, name, *arguments, size=96):
        buffer = ctypes.create_string_buffer(size)
        code = self.call(name, *arguments, buffer, size, allowed=(SUCCESS, NOT_SUPPORTED))
        return buffer.value.decode('utf-8') if code == SUCCESS else None

    def check_memory(self, device):
        """The memory, or None where it is the host's."""
        old, new = Memory(), MemoryV2()
        new.version = ctypes.sizeof(MemoryV2) | 2 << 24
        code = self.call('nvmlDeviceGetMemoryInfo', device, ctypes.byref(old),
                         allowed=(SUCCESS, NOT_SUPPORTED))
        newer = self.call('nvmlDeviceGetMemoryInfo_v2', device, ctypes.byref(new),
                          allowed=(code, FUNCTION_NOT_FOUND))
        if code != SUCCESS:
            return None
        self.check(old.total == old.used + old.free, 'memory: total is not used + free')
        if newer == FUNCTION_NOT_FOUND:
            return old
        self.check(new.total == new.reserved + new.used + new.free,
                   'memory v2: total is not reserved + used + free')
        self.check(old.total == new.total, 'the two memory calls disagree about the total')
        return new

    def process_call(self, device):
        """The newest list whose rows the driver writes as its name says, and the rows."""
        version = self.text('nvmlSystemGetDriverVersion', size=80)
        long_rows = version.startswith('535.') and int(version.split('.')[1]) < 104
        names = [(suffix, Process) for suffix in (['_v2'] if long_rows else ['_v3', '_v2'])]
        for suffix, row in names + [('', OldProcess)]:
            name, count = 'nvmlDeviceGetComputeRunningProcesses' + suffix, UINT(0)
            code = self.call(name, device, ctypes.byref(count), None,
                             allowed=(SUCCESS, INSUFFICIENT_SIZE, FUNCTION_NOT_FOUND))
            if code != FUNCTION_NOT_FOUND:
                return name, (row * (count.value + 8))()
        return None, ()

    def processes(self, device):
        call, rows = self.process_call(device)
        count = UINT(len(rows))
        self.call(call, device, ctypes.byref(count), rows)
        return rows[:count.value]

    def check_processes(self, device, memory):
        rows = self.processes(device)
        for row in rows:
            self.check(0 < row.pid < 4194304, f'PID {row.pid} cannot be')
            self.check(memory is None or row.usedGpuMemory <= memory.total,
                       f'PID {row.pid} uses more than there is')
            name = self.text('nvmlSystemGetProcessName', row.pid, size=256)
            self.check(bool(name), f'PID {row.pid} has no name')
        return len(rows)

    def check_ring(self, device, kind, most):
        value_type, count = UINT(), UINT(0)
        code = self.call('nvmlDeviceGetSamples', device, kind, ULONG(0), ctypes.byref(value_type),
                         ctypes.byref(count), None, allowed=(SUCCESS, NOT_SUPPORTED))
        if code != SUCCESS:
            return
        samples = (Sample * count.value)()
        self.call('nvmlDeviceGetSamples', device, kind, ULONG(0), ctypes.byref(value_type),
                  ctypes.byref(count), samples)
        stamps = [sample.timeStamp for sample in samples[:count.value]]
        self.check(stamps == sorted(set(stamps)), f'ring {kind}: stamps do not rise')
        for sample in samples[:count.value]:
            self.check(sample.sampleValue.uiVal <= most, f'ring {kind}: a value above {most}')

    def check_fields(self, device):
        wanted = [82, 83, 94, 185, 186, 190]
        values = (FieldValue * len(wanted))()
        for value, number in zip(values, wanted):
            value.fieldId = number
        self.call('nvmlDeviceGetFieldValues', device, len(wanted), values)
        for value in values:
            self.check(value.nvmlReturn in (SUCCESS, NOT_SUPPORTED, INVALID_ARGUMENT),
                       f'field {value.fieldId} answered {value.nvmlReturn}')

    def check_instances(self, device):
        found = []
        for index in range(self.number('nvmlDeviceGetMaxMigDeviceCount', device) or 0):
            instance = ctypes.c_void_p()
            code = self.call('nvmlDeviceGetMigDeviceHandleByIndex', device, index,
                             ctypes.byref(instance), allowed=(SUCCESS, NOT_SUPPORTED, NOT_FOUND))
            if code == SUCCESS:
                found.append(self.text('nvmlDeviceGetUUID', instance))
                self.check(found[-1].startswith('MIG-'), f'{found[-1]} is no instance')
                self.check_processes(instance, self.check_memory(instance))
        return found

    def check_device(self, index):
        device = ctypes.c_void_p()
        self.call('nvmlDeviceGetHandleByIndex_v2', index, ctypes.byref(device))
        pci = PciInfo()
        self.call('nvmlDeviceGetPciInfo_v3', device, ctypes.byref(pci))
        uuid = self.text('nvmlDeviceGetUUID', device)
        again = ctypes.c_void_p()
        self.call('nvmlDeviceGetHandleByUUID', uuid.encode(), ctypes.byref(again))
        self.check(again.value == device.value, f'{uuid} leads to another device')
        self.call('nvmlDeviceGetHandleByPciBusId_v2', pci.busId, ctypes.byref(again))
        self.check(again.value == device.value, f'{pci.busId} leads to another device')
        memory = self.check_memory(device)
        busy = Utilization()
        code = self.call('nvmlDeviceGetUtilizationRates', device, ctypes.byref(busy),
                         allowed=(SUCCESS, NOT_SUPPORTED))
        self.check(busy.gpu <= 100 and busy.memory <= 100, 'utilisation above 100 %')
        self.check_ring(device, 0, 2000000)
        self.check_ring(device, 1, 100)
        self.check_fields(device)
        milliwatts = self.number('nvmlDeviceGetPowerUsage', device)
        watts = '   n/a  ' if milliwatts is None else f'{milliwatts / 1000:6.1f} W'
        celsius = self.number('nvmlDeviceGetTemperature', device, 0)
        processes = self.check_processes(device, memory)
        instances = self.check_instances(device)
        held = f'{memory.used >> 20:6d}/{memory.total >> 20} MiB' if memory else 'of the host'
        share = f'{busy.gpu:3d} %' if code == SUCCESS else '  n/a'
        self.say(f'{index}  {self.text("nvmlDeviceGetName", device):26s} {pci.busId.decode()}  {share}  '
              f'{held}  {watts}  {celsius} C  '
              f'{processes} processes  {len(instances)} instances')

    def run(self):
        self.call('nvmlInit_v2')
        if self.problems:
            return
        self.say('driver', self.text('nvmlSystemGetDriverVersion', size=80),
                 'NVML', self.text('nvmlSystemGetNVMLVersion', size=80))
        for index in range(self.number('nvmlDeviceGetCount_v2') or 0):
            self.check_device(index)
        self.call('nvmlShutdown')


def main(path):
    client = Client(path)
    client.run()
    for problem in client.problems:
        print('wrong:', problem, file=sys.stderr)
    return 1 if client.problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
