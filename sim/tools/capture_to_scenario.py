#!/usr/bin/env python3
"""Makes a scenario out of what nvidia-smi printed on a real machine.

  capture_to_scenario.py CAPTURE [OUT.toml]

CAPTURE is the output of `nvidia-smi -q -x` (XML) or `nvidia-smi -q` (text), also inside a longer text in
which each command stands behind "# $ "; of several the last counts. The scenario has a board of its own
for every different GPU of the capture and stands still: temperatures, clocks, power, memory and errors
read what the capture says. PIDs are made up, since a simulated process must not name a real one.
"""

import re
import sys
import xml.etree.ElementTree as ET

# What is looked for, in the paths of the XML and of the text (lower case); of several the first found.
PATHS = {
    'name': (['product_name'], ['product name']),
    'brand': (['product_brand'], ['product brand']),
    'architecture': (['product_architecture'], ['product architecture']),
    'uuid': (['uuid'], ['gpu uuid']),
    'serial': (['serial'], ['serial number']),
    'part': (['board_part_number'], ['board part number']),
    'vbios': (['vbios_version'], ['vbios version']),
    'image': (['inforom_version/img_version'], ['inforom version/image version']),
    'inforom_ecc': (['inforom_version/ecc_object'], ['inforom version/ecc object']),
    'inforom_oem': (['inforom_version/oem_object'], ['inforom version/oem object']),
    'module': (['platformInfo/module_id', 'gpu_module_id'], ['platform info/module id', 'module id']),
    'chassis': (['platformInfo/chassis_serial_number'], ['platform info/chassis serial number']),
    'gsp': (['gsp_firmware_version'], ['gsp firmware version']),
    'c2c': (['c2c_mode'], ['gpu c2c mode']),
    'addressing': (['addressing_mode'], ['addressing mode']),
    'persistence': (['persistence_mode'], ['persistence mode']),
    'display_active': (['display_active'], ['display active']),
    'accounting': (['accounting_mode'], ['accounting mode']),
    'compute_mode': (['compute_mode'], ['compute mode']),
    'mig': (['mig_mode/current_mig'], ['mig mode/current']),
    'device_id': (['pci/pci_device_id'], ['pci/device id']),
    'subsystem_id': (['pci/pci_sub_system_id'], ['pci/sub system id']),
    'class': (['pci/pci_base_class'], ['pci/base classcode']),
    'subclass': (['pci/pci_sub_class'], ['pci/sub classcode']),
    'generation': (['pci/pci_gpu_link_info/pcie_gen/current_link_gen'],
                   ['pci/gpu link info/pcie generation/current']),
    'most_generation': (['pci/pci_gpu_link_info/pcie_gen/max_link_gen'],
                        ['pci/gpu link info/pcie generation/max']),
    'width': (['pci/pci_gpu_link_info/link_widths/current_link_width'],
              ['pci/gpu link info/link width/current']),
    'most_width': (['pci/pci_gpu_link_info/link_widths/max_link_width'],
                   ['pci/gpu link info/link width/max']),
    'replays': (['pci/replay_counter'], ['pci/replays since reset']),
    'sent': (['pci/tx_util'], ['pci/tx throughput']),
    'received': (['pci/rx_util'], ['pci/rx throughput']),
    'fan': (['fan_speed'], ['fan speed']),
    'pstate': (['performance_state'], ['performance state']),
    'idle': (['clocks_event_reasons/clocks_event_reason_gpu_idle',
              'clocks_throttle_reasons/clocks_throttle_reason_gpu_idle'],
             ['clocks event reasons/idle', 'clocks throttle reasons/idle']),
    'total': (['fb_memory_usage/total'], ['fb memory usage/total']),
    'reserved': (['fb_memory_usage/reserved'], ['fb memory usage/reserved']),
    'used': (['fb_memory_usage/used'], ['fb memory usage/used']),
    'bar1': (['bar1_memory_usage/total'], ['bar1 memory usage/total']),
    'bar1_used': (['bar1_memory_usage/used'], ['bar1 memory usage/used']),
    'busy': (['utilization/gpu_util'], ['utilization/gpu']),
    'memory_busy': (['utilization/memory_util'], ['utilization/memory']),
    'encoder': (['utilization/encoder_util'], ['utilization/encoder']),
    'decoder': (['utilization/decoder_util'], ['utilization/decoder']),
    'jpeg': (['utilization/jpeg_util'], ['utilization/jpeg']),
    'ofa': (['utilization/ofa_util'], ['utilization/ofa']),
    'ecc': (['ecc_mode/current_ecc'], ['ecc mode/current']),
    'retired_single': (['retired_pages/multiple_single_bit_retirement/retired_count'],
                       ['retired pages/single bit ecc']),
    'retired_double': (['retired_pages/double_bit_retirement/retired_count'],
                       ['retired pages/double bit ecc']),
    'retired_pending': (['retired_pages/pending_retirement', 'retired_pages/pending_blacklist'],
                        ['retired pages/pending page blacklist']),
    'remapped': (['remapped_rows/remapped_row_corr'], ['remapped rows/correctable error']),
    'remapped_bad': (['remapped_rows/remapped_row_unc'], ['remapped rows/uncorrectable error']),
    'remap_pending': (['remapped_rows/remapped_row_pending'], ['remapped rows/pending']),
    'remap_failed': (['remapped_rows/remapped_row_failure'],
                     ['remapped rows/remapping failure occurred']),
    'celsius': (['temperature/gpu_temp'], ['temperature/gpu current temp']),
    'margin': (['temperature/gpu_temp_tlimit'], ['temperature/gpu t.limit temp']),
    'shutdown': (['temperature/gpu_temp_max_threshold'], ['temperature/gpu shutdown temp']),
    'slowdown': (['temperature/gpu_temp_slow_threshold'], ['temperature/gpu slowdown temp']),
    'gpu_max': (['temperature/gpu_temp_max_gpu_threshold'], ['temperature/gpu max operating temp']),
    'shutdown_limit': (['temperature/gpu_temp_max_tlimit_threshold'],
                       ['temperature/gpu shutdown t.limit temp']),
    'slowdown_limit': (['temperature/gpu_temp_slow_tlimit_threshold'],
                       ['temperature/gpu slowdown t.limit temp']),
    'acoustic': (['temperature/gpu_target_temperature'], ['temperature/gpu target temperature']),
    'memory_celsius': (['temperature/memory_temp'], ['temperature/memory current temp']),
    'memory_max': (['temperature/gpu_temp_max_mem_threshold'],
                   ['temperature/memory max operating temp']),
    'average': (['gpu_power_readings/average_power_draw'],
                ['gpu power readings/average power draw']),
    'instant': (['gpu_power_readings/instant_power_draw', 'gpu_power_readings/power_draw',
                 'power_readings/power_draw'],
                ['gpu power readings/instantaneous power draw', 'gpu power readings/power draw',
                 'power readings/power draw']),
    'limit': (['gpu_power_readings/current_power_limit', 'power_readings/power_limit'],
              ['gpu power readings/current power limit', 'power readings/power limit']),
    'default_limit': (['gpu_power_readings/default_power_limit',
                       'power_readings/default_power_limit'],
                      ['gpu power readings/default power limit',
                       'power readings/default power limit']),
    'least_limit': (['gpu_power_readings/min_power_limit', 'power_readings/min_power_limit'],
                    ['gpu power readings/min power limit', 'power readings/min power limit']),
    'most_limit': (['gpu_power_readings/max_power_limit', 'power_readings/max_power_limit'],
                   ['gpu power readings/max power limit', 'power readings/max power limit']),
    'memory_power': (['gpu_memory_power_readings/average_power_draw'],
                     ['gpu memory power readings/average power draw']),
    'module_average': (['module_power_readings/average_power_draw'],
                       ['module power readings/average power draw']),
    'module_instant': (['module_power_readings/instant_power_draw'],
                       ['module power readings/instantaneous power draw']),
    'graphics': (['clocks/graphics_clock'], ['clocks/graphics']),
    'memory_clock': (['clocks/mem_clock'], ['clocks/memory']),
    'video': (['clocks/video_clock'], ['clocks/video']),
    'application': (['default_applications_clocks/graphics_clock'],
                    ['default applications clocks/graphics']),
    'most_graphics': (['max_clocks/graphics_clock'], ['max clocks/graphics']),
    'most_memory': (['max_clocks/mem_clock'], ['max clocks/memory']),
    'most_video': (['max_clocks/video_clock'], ['max clocks/video']),
    'fabric': (['fabric/state'], ['fabric/state']),
}
HISTOGRAM = ('remapped_rows/row_remapper_histogram/row_remapper_histogram_{}',
             'remapped rows/bank remap availability histogram/{}')
BANKS = ('max', 'high', 'partial', 'low', 'none')
# Errors by what they are called, and the keys of the scenario for them.
ERRORS = {
    'sram_correctable': ('sram', 'corrected', False),
    'sram_uncorrectable': ('sram', 'uncorrected', False),
    'sram_uncorrectable_secded': ('sram', 'uncorrected', False),
    'sram_uncorrectable_parity': ('sram', 'uncorrected', True),
    'dram_correctable': ('dram', 'corrected', False),
    'dram_uncorrectable': ('dram', 'uncorrected', False),
}
TEXT_ERRORS = {'sram uncorrectable sec-ded': 'sram_uncorrectable_secded'}
ARCHITECTURES = {'ada lovelace': 'ada'}
# For captures from before the tool named it.
ARCHITECTURE_BY_NAME = [(r'GTX 10|P\d{3,4}\b|P100', 'pascal'), (r'GTX 16|RTX 20|T4|Graphics Device',
                                                             'turing'), (r'V100', 'volta')]
BRANDS = {'geforce': 'geforce', 'nvidia': 'nvidia', 'tesla': 'tesla', 'quadro': 'quadro',
          'nvidia rtx': 'nvidia-rtx', 'quadro rtx': 'quadro-rtx', 'titan': 'titan'}
FIRST_PID = 2900000


class Gpu:
    """The facts of one GPU by path, and its processes and instances."""

    def __init__(self, bus_id):
        self.bus_id, self.facts, self.processes, self.instances = bus_id, {}, [], []

    def text(self, key, is_xml):
        for path in PATHS[key][0 if is_xml else 1]:
            value = self.facts.get(path)
            if value is not None and not value.startswith(('N/A', '[N/A', 'Requested func')):
                return value
        return None


def number(text):
    match = re.search(r'-?\d+(\.\d+)?', text or '')
    return float(match.group()) if match else None


# -- reading

def from_xml(text):
    root = ET.fromstring(re.sub(r'<!DOCTYPE[^>]*>', '', text))
    gpus = []
    for element in root.findall('gpu'):
        gpu = Gpu(element.get('id'))
        collect(element, '', gpu.facts)
        for process in element.iter('process_info'):
            gpu.processes.append({child.tag: (child.text or '').strip() for child in process})
        for device in element.iter('mig_device'):
            facts = {}
            collect(device, '', facts)
            gpu.instances.append({'gi': facts['gpu_instance_id'],
                                  'ci': facts['compute_instance_id'],
                                  'multiprocessors': facts['device_attributes/shared/'
                                                           'multiprocessor_count'],
                                  'total': facts['fb_memory_usage/total']})
        gpus.append(gpu)
    return root.findtext('driver_version'), root.findtext('cuda_version'), gpus, True


def collect(element, path, facts):
    for child in element:
        if child.tag in ('processes', 'mig_devices', 'supported_clocks', 'accounted_processes'):
            continue
        inner = f'{path}/{child.tag}' if path else child.tag
        if len(child):
            collect(child, inner, facts)
        else:
            facts[inner] = (child.text or '').strip()


def query_text(text):
    """The last `nvidia-smi -q` in a longer text; all of it when there is none."""
    parts = re.split(r'^# \$ (.*)$', text, flags=re.M)
    queries = [parts[i + 1] for i in range(1, len(parts) - 1, 2)
               if parts[i].strip() == 'nvidia-smi -q']
    return queries[-1] if queries else text


def from_text(text):
    driver = cuda = None
    gpus, path = [], []
    for line in query_text(text).splitlines():
        if line.startswith('GPU 0'):
            gpus.append(Gpu(line.split()[1]))
            path = []
            continue
        key, _, value = line.strip().partition(' : ')
        key, value = key.strip().lower(), value.strip()
        if not gpus:
            driver = value if key == 'driver version' else driver
            cuda = value if key == 'cuda version' else cuda
            continue
        depth = (len(line) - len(line.lstrip())) // 4
        if not key or depth == 0:
            continue
        path = path[:depth - 1] + [key]
        take_line(gpus[-1], path, value)
    return driver, cuda, gpus, False


def take_line(gpu, path, value):
    if path[0] == 'processes':
        if path[-1] == 'gpu instance id' or (path[-1] == 'process id' and
                                             (not gpu.processes or 'pid' in gpu.processes[-1])):
            gpu.processes.append({})
        name = {'gpu instance id': 'gpu_instance_id', 'process id': 'pid', 'type': 'type',
                'compute instance id': 'compute_instance_id', 'name': 'process_name',
                'used gpu memory': 'used_memory'}.get(path[-1])
        if name:
            gpu.processes[-1][name] = value
    elif path[0] == 'mig device':
        if path[-1] == 'index':
            gpu.instances.append({})
        name = {'gpu instance id': 'gi', 'compute instance id': 'ci',
                'multiprocessor count': 'multiprocessors'}.get(path[-1])
        if path[-2:] == ['shared fb memory usage', 'total']:
            name = 'total'
        if name:
            gpu.instances[-1][name] = value
    elif value:
        gpu.facts['/'.join(path)] = value


def read_capture(path):
    with open(path, encoding='utf-8', errors='replace') as file:
        text = file.read()
    return from_xml(text) if '<nvidia_smi_log>' in text else from_text(text)


# -- writing

def quoted(text):
    return '"' + ''.join(c for c in text if c.isprintable() and c not in '"\\') + '"'


class Section:
    def __init__(self, head):
        self.lines = [head]

    def put(self, key, value):
        if value is None:
            return
        if isinstance(value, bool):
            value = 'true' if value else 'false'
        elif isinstance(value, float):
            value = f'{value:g}' if value != int(value) else str(int(value))
        self.lines.append(f'{key} = {value}')

    def text(self):
        return '\n'.join(self.lines) + '\n'


class Writer:
    def __init__(self, capture):
        self.driver, self.cuda, self.gpus, self.is_xml = read_capture(capture)
        self.boards, self.rows, self.extra, self.next_pid = {}, [], [], FIRST_PID

    def of(self, gpu, key):
        return gpu.text(key, self.is_xml)

    def value(self, gpu, key):
        return number(self.of(gpu, key))

    def architecture(self, gpu):
        word = (self.of(gpu, 'architecture') or '').lower()
        if word:
            return ARCHITECTURES.get(word, word)
        name = self.of(gpu, 'name') or ''
        return next((word for pattern, word in ARCHITECTURE_BY_NAME if re.search(pattern, name)),
                    'turing')

    def histogram(self, gpu):
        pattern = HISTOGRAM[0 if self.is_xml else 1]
        counts = [number(gpu.facts.get(pattern.format(name))) for name in BANKS]
        return None if None in counts else [int(count) for count in counts]

    def board_identity(self, gpu, out):
        out.put('name', quoted(self.of(gpu, 'name')))
        out.put('brand', quoted(BRANDS.get((self.of(gpu, 'brand') or 'nvidia').lower(), 'unknown')))
        out.put('architecture', quoted(self.architecture(gpu)))
        device = int(self.of(gpu, 'device_id') or '0', 16)
        out.put('pci_device_id', hex(device >> 16))
        out.put('pci_subsystem_id', hex(int(self.of(gpu, 'subsystem_id') or '0', 16)))
        base, sub = (int(self.of(gpu, key) or fallback, 16)
                     for key, fallback in (('class', '3'), ('subclass', '2')))
        out.put('pci_class', hex(base << 16 | sub << 8))
        for key, name in (('part', 'board_part'), ('vbios', 'vbios'), ('image', 'inforom_image'),
                          ('inforom_ecc', 'inforom_ecc'), ('inforom_oem', 'inforom_oem')):
            if self.of(gpu, key):
                out.put(name, quoted(self.of(gpu, key)))
        out.put('serial', self.of(gpu, 'serial') is not None)
        out.put('module_ids', (self.value(gpu, 'module') or 1) > 1)
        out.put('gsp', self.of(gpu, 'gsp') is not None)
        modes = {'enabled': '"on"', 'disabled': '"off"'}
        out.put('c2c', modes.get((self.of(gpu, 'c2c') or '').lower()))
        modes = {'hmm': '"hmm"', 'ats': '"ats"', 'none': '"none"'}
        out.put('addressing_mode', modes.get((self.of(gpu, 'addressing') or '').lower()))

    def board_memory(self, gpu, out):
        out.put('memory_mib', self.value(gpu, 'total'))
        out.put('reserved_mib', self.value(gpu, 'reserved') or 0.0)
        out.put('bar1_mib', self.value(gpu, 'bar1'))
        ecc = {'enabled': 'enabled', 'disabled': 'disabled'}
        out.put('ecc', quoted(ecc.get((self.of(gpu, 'ecc') or '').lower(), 'none')))
        out.put('retired_pages', self.of(gpu, 'retired_single') is not None)
        banks = self.histogram(gpu)
        if banks is None and self.value(gpu, 'remapped') is not None:
            banks = [640]  # there, but not said how many
        out.put('remap_banks', float(sum(banks)) if banks else None)

    def board_power(self, gpu, out):
        instant = self.value(gpu, 'instant')
        out.put('power_reading', instant is not None)
        out.put('idle_watts', 1.0)
        out.put('peak_watts', max(self.value(gpu, 'most_limit') or 0, (instant or 0) + 1, 2.0))
        out.put('min_limit_watts', self.value(gpu, 'least_limit'))
        out.put('default_limit_watts', self.value(gpu, 'default_limit'))
        out.put('max_limit_watts', self.value(gpu, 'most_limit'))
        out.put('average_power', self.value(gpu, 'average') is not None)
        out.put('memory_watts', self.value(gpu, 'memory_power'))

    def board_heat(self, gpu, out):
        celsius, margin = self.value(gpu, 'celsius') or 0, self.value(gpu, 'margin')
        out.put('idle_celsius', 20.0)
        out.put('peak_celsius', 80.0)
        out.put('memory_temperature', self.value(gpu, 'memory_celsius') is not None)
        out.put('temperature_limits', margin is not None)
        if margin is not None:
            limit = celsius + margin
            out.put('gpu_max_celsius', limit)
            for key, name in (('shutdown_limit', 'shutdown_celsius'),
                              ('slowdown_limit', 'slowdown_celsius')):
                out.put(name, limit - (self.value(gpu, key) or 0))
        else:
            out.put('gpu_max_celsius', self.value(gpu, 'gpu_max'))
            out.put('shutdown_celsius', self.value(gpu, 'shutdown'))
            out.put('slowdown_celsius', self.value(gpu, 'slowdown'))
            out.put('memory_max_celsius', self.value(gpu, 'memory_max'))
        out.put('acoustic_celsius', self.value(gpu, 'acoustic'))
        fan = self.value(gpu, 'fan')
        out.put('fans', 0.0 if fan is None else 1.0)
        out.put('fan_max_rpm', 0.0 if fan is None else 3000.0)

    def board_clocks(self, gpu, out):
        for key, name in (('most_graphics', 'max_graphics_mhz'), ('most_memory', 'max_memory_mhz'),
                          ('most_video', 'max_video_mhz')):
            now = {'most_graphics': 'graphics', 'most_memory': 'memory_clock',
                   'most_video': 'video'}[key]
            out.put(name, self.value(gpu, key) or self.value(gpu, now))
        out.put('application_graphics_mhz', self.value(gpu, 'application'))
        out.put('pcie_generation', self.value(gpu, 'most_generation') or
                self.value(gpu, 'generation'))
        out.put('pcie_width', self.value(gpu, 'most_width') or self.value(gpu, 'width'))
        out.put('display', True)
        out.put('fabric', self.of(gpu, 'fabric') is not None)
        out.put('encoders', 1.0)
        out.put('decoders', 1.0)
        out.put('machine_gpus', 1.0)

    def profiles(self, gpu):
        """A profile for every size of instance; for a GPU that is whole, one that it could have."""
        total = self.value(gpu, 'total')
        sizes = sorted({(number(one['total']), number(one['multiprocessors']))
                        for one in gpu.instances}) or [(total / 8, 16.0)]
        rows = []
        for kind, (memory, multiprocessors) in enumerate(sizes):
            parts = max(1, round(memory / total * 8))
            slices = 3 if parts == 4 else min(parts, 7)
            name = f'{slices}g.{-(-int(memory) // 1024)}gb'
            rows.append(f'  {{name = "{name}", id = {19 - kind}, kind = {kind}, slices = {slices}, '
                        f'memory_slices = {parts}, most = {7 // slices}, '
                        f'multiprocessors = {int(multiprocessors)}, memory_mib = {int(memory)}}},')
        self.profile_names = {size: re.search('"(.*?)"', row).group(1)
                              for size, row in zip(sizes, rows)}
        return 'mig_profiles = [\n' + '\n'.join(rows) + '\n]'

    def board(self, gpu):
        out = Section('')
        for part in (self.board_identity, self.board_memory, self.board_power, self.board_heat,
                     self.board_clocks):
            part(gpu, out)
        if self.of(gpu, 'mig') in ('Enabled', 'Disabled'):
            out.lines.append(self.profiles(gpu))
        text = out.text()
        if text not in self.boards:
            self.boards[text] = f'captured-{len(self.boards)}'
        return self.boards[text]

    def reading(self, gpu):
        out = Section('[gpu.reading]')
        for key, name in (('celsius', 'celsius'), ('memory_celsius', 'memory_celsius'),
                          ('instant', 'power_watts'), ('average', 'average_watts'),
                          ('memory_power', 'memory_power_watts'),
                          ('module_average', 'module_average_watts'),
                          ('module_instant', 'module_watts'), ('graphics', 'graphics_mhz'),
                          ('memory_clock', 'memory_mhz'), ('video', 'video_mhz'),
                          ('pstate', 'pstate'), ('generation', 'pcie_generation'),
                          ('width', 'pcie_width'), ('sent', 'pcie_sent_kbps'),
                          ('received', 'pcie_received_kbps'), ('used', 'used_mib'),
                          ('bar1_used', 'bar1_used_mib'), ('fan', 'fan_percent')):
            out.put(name, self.value(gpu, key))
        for key in ('busy', 'memory_busy', 'encoder', 'decoder', 'jpeg', 'ofa'):
            percent = self.value(gpu, key)
            out.put(key, None if percent is None else percent / 100)
        out.put('idle', 1.0 if self.of(gpu, 'idle') == 'Active' else 0.0)
        return out.text()

    def row(self, gpu):
        board = self.board(gpu)
        domain, bus, device = gpu.bus_id.split('.')[0].split(':')
        out = Section('[[gpu]]')
        out.put('board', quoted(board))
        out.put('uuid', quoted(self.of(gpu, 'uuid')))
        if self.of(gpu, 'serial'):
            out.put('serial', quoted(self.of(gpu, 'serial')))
        out.put('pci_domain', float(int(domain, 16)))
        out.put('pci_bus', float(int(bus, 16)))
        out.put('pci_device', float(int(device, 16)))
        out.put('power_limit_watts', self.value(gpu, 'limit')
                if self.value(gpu, 'default_limit') else None)
        out.put('persistence', self.of(gpu, 'persistence') == 'Enabled')
        out.put('display_active', self.of(gpu, 'display_active') == 'Enabled')
        out.put('accounting', self.of(gpu, 'accounting') == 'Enabled')
        out.put('replay_counter', self.value(gpu, 'replays'))
        out.put('mig', self.of(gpu, 'mig') == 'Enabled')
        modes = {'Exclusive_Process': '"exclusive_process"', 'Prohibited': '"prohibited"'}
        out.put('compute_mode', modes.get(self.of(gpu, 'compute_mode')))
        if self.of(gpu, 'chassis'):
            out.put('chassis_serial', quoted(self.of(gpu, 'chassis')))
        self.rows.append(out.text() + self.reading(gpu))
        for slot, one in enumerate(gpu.instances):
            instance = Section('[[gpu.instance]]')
            size = (number(one['total']), number(one['multiprocessors']))
            instance.put('profile', quoted(self.profile_names[size]))
            instance.put('slot', slot)
            instance.put('gi', number(one['gi']))
            instance.put('ci', number(one['ci']))
            self.rows.append(instance.text())

    def fault(self, position, kind, **keys):
        out = Section('[[fault]]')
        out.put('kind', quoted(kind))
        out.put('gpu', position)
        for key, value in keys.items():
            out.put(key, quoted(value) if isinstance(value, str) else value)
        self.extra.append(out.text())

    def errors(self, position, gpu):
        heads = ('ecc_errors/volatile/', 'ecc_errors/aggregate/') if self.is_xml else \
            ('ecc errors/volatile/', 'ecc errors/aggregate/')
        counts = [{}, {}]
        for head, found in zip(heads, counts):
            for path, value in gpu.facts.items():
                if path.startswith(head):
                    name = path[len(head):]
                    name = TEXT_ERRORS.get(name, name.replace(' ', '_'))
                    found[name] = int(number(value) or 0)
        for name, (location, error, parity) in ERRORS.items():
            now, life = counts[0].get(name, 0), counts[1].get(name, 0)
            for count, earlier in ((now, False), (life - now, True)):
                if count > 0:
                    self.fault(position, 'ecc_errors', location=location, error=error,
                               parity=parity, earlier=earlier, count=count)

    def repairs(self, position, gpu):
        pending = self.of(gpu, 'retired_pending') == 'Yes'
        for key, cause in (('retired_single', 'single_bit'), ('retired_double', 'double_bit')):
            count = int(self.value(gpu, key) or 0)
            if count > 0 or (pending and cause == 'double_bit'):
                self.fault(position, 'retired_pages', cause=cause, count=count,
                           pending=pending and cause == 'double_bit')
        for key, error in (('remapped', 'corrected'), ('remapped_bad', 'uncorrected')):
            count = int(self.value(gpu, key) or 0)
            bad = error == 'uncorrected'
            flags = {'pending': bad and self.of(gpu, 'remap_pending') == 'Yes',
                     'failed': bad and self.of(gpu, 'remap_failed') == 'Yes'}
            if count > 0 or any(flags.values()):
                self.fault(position, 'remapped_rows', error=error, count=count, **flags)

    def processes(self, position, gpu):
        for process in gpu.processes:
            out = Section('[[process]]')
            out.put('pid', self.next_pid)
            self.next_pid += 1
            out.put('gpu', position)
            kinds = {'C': 'compute', 'G': 'graphics', 'C+G': 'compute+graphics', 'M+C': 'mps'}
            out.put('kind', quoted(kinds.get(process.get('type', 'C'), 'compute')))
            out.put('name', quoted(process.get('process_name', '')))
            out.put('memory_mib', number(process.get('used_memory')) or 0.0)
            out.put('gi', number(process.get('gpu_instance_id')))
            out.put('ci', number(process.get('compute_instance_id')))
            self.extra.append(out.text())

    def scenario(self):
        head = Section(f'title = {quoted("as captured")}')
        head.put('driver', quoted(self.driver or '418.43'))
        if self.cuda:
            major, minor = (self.cuda.split('.') + ['0'])[:2]
            head.put('cuda', int(major) * 1000 + int(minor) * 10)
        for position, gpu in enumerate(self.gpus):
            self.row(gpu)
            self.errors(position, gpu)
            self.repairs(position, gpu)
            self.processes(position, gpu)
        boards = [f'[boards.{name}]{text}' for text, name in self.boards.items()]
        return '\n'.join([head.text(), '[clock]\nfrozen_at = 100\n'] + boards + self.rows +
                         self.extra)


def main(arguments):
    if len(arguments) not in (1, 2):
        sys.exit(__doc__)
    text = Writer(arguments[0]).scenario()
    if len(arguments) == 1:
        print(text, end='')
        return
    with open(arguments[1], 'w', encoding='utf-8') as file:
        file.write(text)


if __name__ == '__main__':
    main(sys.argv[1:])
