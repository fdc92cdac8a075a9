// Screenshots of the page in its many states, to be looked at.
//   GPUSIGHT_URL=http://127.0.0.1:9781 node e2e/shots.mjs FOLDER [name…]
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openBrowser } from "./browser.mjs";

const base = process.env.GPUSIGHT_URL ?? "http://127.0.0.1:9781";
const folder = process.argv[2] ?? "shots";
const wanted = process.argv.slice(3);
mkdirSync(folder, { recursive: true });

// name, scenario, width, height, then how it is looked at
const SHOTS = [
  ["8-1920-dark", "gpus=8", 1920, 1080, { dark: true }],
  ["8-1920-light", "gpus=8", 1920, 1080, {}],
  ["8-1280-light-zh", "gpus=8", 1280, 900, { lang: "zh" }],
  ["8-390-dark", "gpus=8", 390, 844, { dark: true }],
  ["8-360-light-zh", "gpus=8", 360, 800, { lang: "zh" }],
  [
    "faults-1920-light",
    "gpus=8&faults=lost,asleep,absent,stale,busy,throttle&simulated=0&gap=1",
    1920,
    1080,
    {},
  ],
  [
    "faults-1920-dark-zh",
    "gpus=8&faults=lost,asleep,absent,stale,busy,throttle&gap=1",
    1920,
    1080,
    { dark: true, lang: "zh" },
  ],
  ["1-1280-dark", "gpus=1&fans=1&cores=16", 1280, 1400, { dark: true }],
  ["1-1920-light", "gpus=1&fans=1&cores=16&simulated=0", 1920, 1080, {}],
  ["2-1280-light", "gpus=2&cores=32&simulated=0", 1280, 900, {}],
  ["4-1920-dark", "gpus=4&cores=64&simulated=0", 1920, 1080, { dark: true }],
  ["64-1920-dark", "gpus=64&cores=256&faults=lost,asleep,throttle", 1920, 1080, { dark: true }],
  ["mig-1920-light", "gpus=8&mig=7", 1920, 1200, {}],
  ["mig-390-dark", "gpus=1&mig=7&cores=16", 390, 844, { dark: true, full: true }],
  ["none-1280-light", "gpus=0&cores=16&simulated=0", 1280, 800, {}],
  ["nodata-1280-dark", "nodata=1", 1280, 800, { dark: true }],
  ["open-1280-light", "gpus=8&fans=1", 1280, 1600, { open: true }],
  ["lost-1280-light", "gpus=8&drop=2&gone=1", 1280, 900, { waitMs: 6500 }],
  ["hostile-1280-dark", "gpus=2&faults=hostile&cores=8", 1280, 800, { dark: true }],
];

const browser = await openBrowser();
for (const [name, scenario, width, height, how] of SHOTS) {
  if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: how.dark ? "dark" : "light",
    deviceScaleFactor: width < 500 ? 2 : 1,
  });
  const page = await context.newPage();
  await page.goto(`${base}/s/${scenario}/?lang=${how.lang ?? "en"}`);
  if (!scenario.includes("gpus=0") && !scenario.includes("nodata"))
    await page.waitForSelector(".gpu");
  await page.waitForTimeout(how.waitMs ?? 2500);
  if (how.open) await page.locator(".gpu .more").first().click();
  if (how.open) await page.waitForTimeout(1500);
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: how.full === true });
  await context.close();
  console.log(name);
}
await browser.close();
