// What of `after` differs from `before`, in the contract's words.
export function deltaOf(before, after) {
  const patch = (a, b) => {
    const out = {};
    for (const part of ["metrics", "reasons", "stale"]) {
      const changed = {};
      for (const key of new Set([...Object.keys(a[part]), ...Object.keys(b[part])])) {
        if (JSON.stringify(a[part][key]) !== JSON.stringify(b[part][key]))
          changed[key] = b[part][key] ?? null;
      }
      if (Object.keys(changed).length > 0) out[part] = changed;
    }
    return out;
  };
  const devices = {};
  after.devices.forEach((device, i) => {
    const old = before.devices[i];
    const own = patch(old, device);
    for (const key of [
      "state",
      "state_since",
      "users",
      "processes",
      "processes_hidden",
      "processes_reason",
    ]) {
      if (JSON.stringify(old[key]) !== JSON.stringify(device[key])) own[key] = device[key];
    }
    if (Object.keys(own).length > 0) devices[device.uuid] = own;
  });
  return {
    sequence: after.sequence,
    time: after.time,
    host: patch(before.host, after.host),
    self: patch(before.self, after.self),
    devices,
  };
}
