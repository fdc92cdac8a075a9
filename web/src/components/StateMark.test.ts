import { beforeEach, describe, expect, it } from "vitest";
import { clock } from "../format";
import { lang } from "../state/prefs";
import { catalog, makeDevice } from "../test_data";
import { deviceWords } from "./StateMark";

const words = (overrides: Parameters<typeof makeDevice>[0]) =>
  deviceWords(catalog, makeDevice(overrides), 1000);

beforeEach(() => {
  lang.value = "en";
});

describe("the state of a device in words", () => {
  it("says since when a device is lost or busy", () => {
    const since = clock(1000);
    expect(words({ state: "lost" })).toMatchObject({ tone: "bad", words: `LOST since ${since}` });
    expect(words({ state: "busy" })).toMatchObject({ tone: "warn", words: `busy since ${since}` });
    expect(words({ state: "asleep" })).toMatchObject({ tone: "quiet", words: "asleep" });
    expect(words({ state: "released" })).toMatchObject({ tone: "quiet", words: "released" });
  });

  it("names every reason that slows the device down", () => {
    const metrics = { gpu_throttle_active: { sw_power_cap: 1, hw_thermal: 1, hw_slowdown: 0 } };
    expect(words({ metrics })).toMatchObject({
      tone: "warn",
      words: "throttled: hw thermal, power cap",
    });
    lang.value = "zh";
    expect(words({ metrics }).words).toBe("降频：硬件过热, 功率上限");
  });

  it("does not call an idle device throttled", () => {
    const metrics = { gpu_throttle_active: { idle: 1, applications_clocks: 1, sync_boost: 1 } };
    expect(words({ metrics })).toMatchObject({ tone: "ok", words: "active" });
  });
});
