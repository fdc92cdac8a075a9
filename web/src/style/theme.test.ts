import { describe, expect, it } from "vitest";
import { catalog } from "../test_data";
import theme from "./theme.css?raw";

describe("the theme", () => {
  // A group without one is drawn in no colour: its charts are empty.
  it("has a colour for every group of the catalogue, in light and in dark", () => {
    for (const group of catalog.groups) {
      const hue = `--hue-${group.key.replaceAll("_", "-")}: #`;
      expect(theme.split(hue).length - 1, hue).toBe(2);
    }
  });
});
