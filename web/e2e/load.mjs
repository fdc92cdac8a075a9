// What the page costs: main-thread time and heap while it runs, for a machine of GPUs.
//   GPUSIGHT_URL=http://127.0.0.1:9781/ SECONDS=15 node e2e/load.mjs
import { openBrowser } from "./browser.mjs";

const url = process.env.GPUSIGHT_URL ?? "http://127.0.0.1:9781/";
const seconds = Number(process.env.SECONDS ?? 15);
const browser = await openBrowser();
const context = await browser.newContext({ viewport: { width: 1920, height: 1080 } });
const page = await context.newPage();
await page.addInitScript(() => {
  window.__long = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.__long.push(Math.round(entry.duration));
  }).observe({ type: "longtask", buffered: true });
});
const began = Date.now();
await page.goto(url);
await page.waitForSelector(".u-wrap");
const firstChartMs = Date.now() - began;
const session = await context.newCDPSession(page);
// CPU time of the thread: a busy machine does not make the page look busy.
await session.send("Performance.enable", { timeDomain: "threadTicks" });
const read = async () => {
  const { metrics } = await session.send("Performance.getMetrics");
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
};
const paint = await page.evaluate(
  () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
);
await page.waitForTimeout(3000);
const startLong = await page.evaluate(() => window.__long.length);
const before = await read();
await page.waitForTimeout(seconds * 1000);
const after = await read();
const share = (name) => `${(((after[name] - before[name]) / seconds) * 100).toFixed(2)} %`;
console.log(
  JSON.stringify(
    {
      first_contentful_paint_ms: Math.round(paint),
      first_chart_ms: firstChartMs,
      main_thread: share("TaskDuration"),
      script: share("ScriptDuration"),
      layout: share("LayoutDuration"),
      style: share("RecalcStyleDuration"),
      long_tasks_ms: (await page.evaluate(() => window.__long)).slice(startLong),
      long_tasks_at_start_ms: (await page.evaluate(() => window.__long)).slice(0, startLong),
      heap_mb: (after.JSHeapUsedSize / 1e6).toFixed(1),
      charts: await page.locator(".u-wrap").count(),
    },
    null,
    1,
  ),
);
await browser.close();
