import { describe, expect, it } from "vitest";
import {
  age,
  bytes,
  bytesOf,
  duration,
  humanize,
  humanizeRate,
  joined,
  plain,
  ratio,
  shortUuid,
} from "./format";

const said = (value: number, unit: string): string =>
  joined(humanize(value, unit)).replace(/\u00a0/g, " ");

describe("numbers", () => {
  it("show three digits with IEC for bytes", () => {
    expect(joined(bytes(0))).toBe("0\u00a0B");
    expect(said(1023, "bytes")).toBe("1023 B");
    expect(said(1536, "bytes")).toBe("1.50 KiB");
    expect(said(80 * 1024 ** 3, "bytes")).toBe("80.0 GiB");
    expect(said(1023.9 * 1024 ** 2, "bytes")).toBe("1.00 GiB");
  });

  it("show a part in the unit of its whole", () => {
    const { part, whole } = bytesOf(512 * 1024 ** 2, 80 * 1024 ** 3);
    expect(part).toBe("0.5");
    expect(joined(whole)).toBe("80.0\u00a0GiB");
  });

  it("show shares in percent, small ones with a decimal, and nothing as 0", () => {
    expect([0, 0.001, 0.099, 0.0996, 0.5, 1].map((v) => ratio(v).text)).toEqual([
      "0",
      "0.1",
      "9.9",
      "10",
      "50",
      "100",
    ]);
  });

  it("show each unit as people read it", () => {
    expect(said(612.4, "watts")).toBe("612 W");
    expect(said(48.25, "watts")).toBe("48.3 W");
    expect(said(12_340, "watts")).toBe("12.3 kW");
    expect(said(1_980_000_000, "hertz")).toBe("1.98 GHz");
    expect(said(345_000_000, "hertz")).toBe("345 MHz");
    expect(said(61, "celsius")).toBe("61 °C");
    expect(said(4.2e8, "joules")).toBe("420 MJ");
    expect(said(0.0021, "seconds")).toBe("2.10 ms");
    expect(said(5, "")).toBe("5");
  });

  it("show rates of counters", () => {
    expect(joined(humanizeRate(2 * 1024 ** 2, "bytes"))).toBe("2.00\u00a0MiB/s");
    expect(said(2 * 1024 ** 2, "bytes_per_second")).toBe("2.00 MiB/s");
    expect(joined(humanizeRate(0.031, "seconds"))).toBe("3.1\u00a0%");
    expect(joined(humanizeRate(520, "joules"))).toBe("520\u00a0W");
  });

  it("know no locale", () => {
    expect(plain(1_234_567)).toBe("1\u202f234\u202f567");
    expect(plain(1.5)).toBe("1.50");
  });

  it("say how long", () => {
    expect([5, 200, 7620, 270_000].map(duration)).toEqual([
      "5 s",
      "3 min 20 s",
      "2 h 07 min",
      "3 d 03 h",
    ]);
    expect(age(3.14)).toBe("3.1 s");
    expect(age(12.7)).toBe("13 s");
  });

  it("shorten a UUID and nothing shorter", () => {
    expect(shortUuid("GPU-84b8393f-8b7f-6190")).toBe("GPU-84b8393f…");
    expect(shortUuid("PCI-0:1.0")).toBe("PCI-0:1.0");
  });
});
