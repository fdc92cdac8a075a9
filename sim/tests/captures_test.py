#!/usr/bin/env python3
"""Plays what real machines were captured to say, and asks an NVML library for it.

  captures_test.py LIBRARY TOOL EXPECTED [FOLDER]

FOLDER (default: the environment's GPUSIGHT_CAPTURES) holds outputs of `nvidia-smi -q`, in itself or in its
folder nvidia/. TOOL makes a scenario of each; the first GPU must then read what EXPECTED says, a table of
values that were taken from the captures by hand: "-" stands for not supported, "gone" for deprecated.
Without captures the test is skipped (exit 77); each capture that is not there is counted.
"""

import ctypes
import os
import subprocess
import sys
import tempfile

from ctypes_client import Client, FieldValue, Memory, MemoryV2, PciInfo, Utilization

SKIPPED = 77
SUCCESS, DEPRECATED = 0, 26
UINT, ULONG = ctypes.c_uint, ctypes.c_ulonglong
MIB = 1 << 20


class Reader(Client):
    """Answers the words of the table; None where the device has none, 'gone' where it is no more."""

    def begin(self):
        self.call('nvmlInit_v2')
        self.device = ctypes.c_void_p()
        self.call('nvmlDeviceGetHandleByIndex_v2', 0, ctypes.byref(self.device))

    def word(self, name, *arguments, kind=UINT):
        value = kind()
        code = getattr(self.library, name)(self.device, *arguments, ctypes.byref(value))
        if code == DEPRECATED:
            return 'gone'
        return value.value if code == SUCCESS else None

    def structure(self, name, kind, member, version=0):
        value = kind()
        if version:
            value.version = ctypes.sizeof(kind) | version << 24
        code = getattr(self.library, name)(self.device, ctypes.byref(value))
        return getattr(value, member) if code == SUCCESS else None

    def field(self, number, scope=0):
        value = FieldValue(fieldId=number, scopeId=scope)
        code = self.library.nvmlDeviceGetFieldValues(self.device, 1, ctypes.byref(value))
        good = code == SUCCESS and value.nvmlReturn == SUCCESS
        return value.value.ullVal if good else None

    def pair(self, name, position, count=2):
        values = [UINT() for _ in range(count)]
        code = getattr(self.library, name)(self.device, *[ctypes.byref(one) for one in values])
        return values[position].value if code == SUCCESS else None

    def mib(self, member):
        newer = self.structure('nvmlDeviceGetMemoryInfo_v2', MemoryV2, member, 2)
        if newer is None and member != 'reserved':
            newer = self.structure('nvmlDeviceGetMemoryInfo', Memory, member)
        return None if newer is None else newer // MIB

    def histogram(self):
        banks = (UINT * 5)()
        code = self.library.nvmlDeviceGetRowRemapperHistogram(self.device, banks)
        return sum(banks) if code == SUCCESS else None

    def dram(self, counter):
        return self.word('nvmlDeviceGetMemoryErrorCounter', 0, counter, 2, kind=ULONG)

    def fabric(self):
        info = (ctypes.c_ubyte * 28)()
        code = self.library.nvmlDeviceGetGpuFabricInfo(self.device, info)
        return info[24] if code == SUCCESS else None

    def instances(self):
        found = 0
        for index in range(self.word('nvmlDeviceGetMaxMigDeviceCount') or 0):
            handle = ctypes.c_void_p()
            found += self.library.nvmlDeviceGetMigDeviceHandleByIndex(
                self.device, index, ctypes.byref(handle)) == SUCCESS
        return found

    def margin(self):
        """Drivers before 570 had no call for it."""
        value = (UINT * 2)(8 | 1 << 24, 0)
        code = self.library.nvmlDeviceGetMarginTemperature(self.device, value)
        if code == SUCCESS:
            return ctypes.c_int(value[1]).value
        return None

    def idle(self):
        bits = self.word('nvmlDeviceGetCurrentClocksThrottleReasons', kind=ULONG)
        return None if bits is None else bits & 1

    def ask(self, what):
        words = {
            'name': lambda: self.text('nvmlDeviceGetName', self.device),
            'driver': lambda: self.text('nvmlSystemGetDriverVersion', size=80),
            'bus': lambda: self.structure('nvmlDeviceGetPciInfo_v3', PciInfo, 'busId').decode(),
            'gpus': lambda: self.number('nvmlDeviceGetCount_v2'),
            'total_mib': lambda: self.mib('total'),
            'reserved_mib': lambda: self.mib('reserved'),
            'used_mib': lambda: self.mib('used'),
            'bar1_mib': lambda: (self.structure('nvmlDeviceGetBAR1MemoryInfo', Memory, 'total')
                                 or 0) // MIB,
            'celsius': lambda: self.word('nvmlDeviceGetTemperature', 0),
            'margin': self.margin,
            'shutdown': lambda: self.word('nvmlDeviceGetTemperatureThreshold', 0),
            'memory_celsius': lambda: self.field(82),
            'power_mw': lambda: self.word('nvmlDeviceGetPowerUsage'),
            'average_mw': lambda: self.field(185),
            'instant_mw': lambda: self.field(186),
            'memory_mw': lambda: self.field(185, 2),
            'module_mw': lambda: self.field(185, 1),
            'module_instant_mw': lambda: self.field(186, 1),
            'limit_mw': lambda: self.word('nvmlDeviceGetPowerManagementLimit'),
            'graphics_mhz': lambda: self.word('nvmlDeviceGetClockInfo', 0),
            'application_mhz': lambda: self.word('nvmlDeviceGetApplicationsClock', 0),
            'pstate': lambda: self.word('nvmlDeviceGetPerformanceState'),
            'generation': lambda: self.word('nvmlDeviceGetCurrPcieLinkGeneration'),
            'width': lambda: self.word('nvmlDeviceGetCurrPcieLinkWidth'),
            'replays': lambda: self.word('nvmlDeviceGetPcieReplayCounter'),
            'fan': lambda: self.word('nvmlDeviceGetFanSpeed'),
            'ecc': lambda: self.pair('nvmlDeviceGetEccMode', 0),
            'mig': lambda: self.pair('nvmlDeviceGetMigMode', 0),
            'remapped_bad': lambda: self.pair('nvmlDeviceGetRemappedRows', 1, 4),
            'remap_pending': lambda: self.pair('nvmlDeviceGetRemappedRows', 2, 4),
            'retired_double': lambda: self.field(30),
            'banks': self.histogram,
            'dram_corrected': lambda: self.dram(0),
            'dram_corrected_life': lambda: self.dram(1),
            'busy': lambda: self.structure('nvmlDeviceGetUtilizationRates', Utilization, 'gpu'),
            'memory_busy': lambda: self.structure('nvmlDeviceGetUtilizationRates', Utilization,
                                                  'memory'),
            'idle': self.idle,
            'fabric': self.fabric,
            'c2c': lambda: self.word('nvmlDeviceGetC2cModeInfoV'),
            'processes': lambda: len(self.processes(self.device)),
            'process_mib': lambda: sum(row.usedGpuMemory for row in
                                       self.processes(self.device)) // MIB,
            'instances': self.instances,
        }
        return words[what]()


def load_table(path):
    with open(path, encoding='utf-8') as file:
        rows = [line.rstrip('\n').split('\t') for line in file][1:]
    table = {}
    for capture, what, value in rows:
        table.setdefault(capture, []).append((what, value))
    return table


def play(library, scenario):
    library.setenv(b'GPUSIGHT_SIM_SCENARIO', scenario.encode(), 1)
    library.gpusight_sim_restart()


def check(library_path, scenario, rows):
    """What is wrong with one capture."""
    reader = Reader(library_path)
    play(reader.library, scenario)
    reader.begin()
    wrong = list(reader.problems)
    for what, value in rows:
        got = reader.ask(what)
        if ('-' if got is None else str(got)) != value:
            wrong.append(f'{what} is {"-" if got is None else got}, not {value}')
    reader.call('nvmlShutdown')
    # And what any library must hold to, on every GPU of the capture.
    play(reader.library, scenario)
    whole = Client(library_path, lambda *_: None)
    whole.run()
    return wrong + whole.problems


def captures(folder):
    nested = os.path.join(folder, 'nvidia')
    return nested if os.path.isdir(nested) else folder


def main(library, tool, expected, folder):
    table = load_table(expected)
    if not folder or not os.path.isdir(folder):
        print(f'skipped: no folder of captures (GPUSIGHT_CAPTURES); {len(table)} are known')
        return SKIPPED
    folder, problems, missing = captures(folder), [], 0
    for capture, rows in table.items():
        path = os.path.join(folder, capture)
        if not os.path.isfile(path):
            missing += 1
            continue
        with tempfile.TemporaryDirectory() as scratch:
            scenario = os.path.join(scratch, 'scenario.toml')
            subprocess.run([sys.executable, tool, path, scenario], check=True)
            problems += [f'{capture}: {what}' for what in check(library, scenario, rows)]
    print(f'{len(table) - missing} captures played, {missing} not there')
    for problem in problems:
        print('wrong:', problem, file=sys.stderr)
    if missing == len(table):
        return SKIPPED
    return 1 if problems else 0


if __name__ == '__main__':
    FOLDER = sys.argv[4] if len(sys.argv) > 4 else os.environ.get('GPUSIGHT_CAPTURES', '')
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], FOLDER))
