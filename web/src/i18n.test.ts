import { beforeEach, describe, expect, it } from "vitest";
import { fill, labelWord, t, tx } from "./i18n";
import { lang, pickLang } from "./state/prefs";

beforeEach(() => {
  lang.value = "en";
});

describe("language", () => {
  it("is asked for, else remembered, else wished", () => {
    expect(pickLang("zh", "en", ["en"])).toBe("zh");
    expect(pickLang(null, "zh", ["en"])).toBe("zh");
    expect(pickLang(null, null, ["fr-FR", "zh-CN", "en"])).toBe("zh");
    expect(pickLang("xx", null, ["de"])).toBe("en");
  });

  it("changes every word", () => {
    expect(t("n_processes", "3")).toBe("3 processes");
    expect(tx({ en: "a", zh: "甲" })).toBe("a");
    lang.value = "zh";
    expect(t("n_processes", "3")).toBe("3 个进程");
    expect(tx({ en: "a", zh: "甲" })).toBe("甲");
    expect(labelWord("sync_boost")).toBe("同步加速");
  });
});

describe("texts", () => {
  it("keep a slot that has no argument, and do not read arguments as patterns", () => {
    expect(fill("{0} and {1}", ["{1}"])).toBe("{1} and {1}");
    expect(fill("{0}", ["$&"])).toBe("$&");
  });

  it("show an unknown label as it came", () => {
    expect(labelWord("new_reason")).toBe("new reason");
    expect(labelWord("constructor")).toBe("constructor");
  });
});
