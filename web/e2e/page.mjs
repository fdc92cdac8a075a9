// The page in a real browser, against a running server that the environment names:
//   GPUSIGHT_URL=http://127.0.0.1:9780/ [SHOTS=folder] node e2e/page.mjs
// With MOCK=1 the made-up machine is started here and its scenarios (faults, no GPU, lost connection)
// are looked at as well. Exit code 0 when everything holds.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBrowser } from "./browser.mjs";

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const folder = process.env.SHOTS;
const isMock = process.env.MOCK === "1";
const mockPort = Number(process.env.MOCK_PORT ?? 9799);
const url = isMock ? `http://127.0.0.1:${mockPort}/` : process.env.GPUSIGHT_URL;
if (url === undefined) {
  console.error("GPUSIGHT_URL is not set; MOCK=1 starts the made-up machine");
  process.exit(2);
}
if (folder !== undefined) mkdirSync(folder, { recursive: true });

let failures = 0;
function check(holds, what) {
  console.log(`${holds ? "ok  " : "FAIL"} ${what}`);
  if (!holds) failures++;
}

async function startMock() {
  const script = fileURLToPath(new URL("../dev/mock-server.mjs", import.meta.url));
  const child = spawn(process.execPath, [script, "--port", String(mockPort)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  return child;
}

const browser = await openBrowser();

// Opens the page and notes whatever it should not do.
async function open(address, { width = 1280, height = 900, dark = false } = {}) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: dark ? "dark" : "light",
  });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  page.on("pageerror", (error) => faults.push(String(error)));
  const origin = new URL(address).host;
  page.on("request", (request) => {
    const target = new URL(request.url());
    if (target.protocol !== "data:" && target.host !== origin)
      faults.push(`outside request ${target}`);
  });
  await page.addInitScript(() => {
    window.__csp = [];
    document.addEventListener("securitypolicyviolation", (event) => {
      window.__csp.push(`${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  await page.goto(address);
  return { page, context, faults };
}

const isReady = (page) => page.waitForSelector(".host .line-number .num", { timeout: 60_000 });

async function shoot(page, name) {
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

async function axeViolations(page) {
  // Evaluated by the debugger, so the page's own policy stays as it is.
  const { readFileSync } = await import("node:fs");
  await page.evaluate(readFileSync(axePath, "utf8"));
  return page.evaluate(async () => {
    const result = await window.axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    });
    return result.violations.map(
      (one) =>
        `${one.id}: ${one.nodes
          .slice(0, 2)
          .map((node) => node.target.join(" "))
          .join("; ")}`,
    );
  });
}

async function checkClean(opened, name) {
  const violations = await axeViolations(opened.page);
  check(
    violations.length === 0,
    `${name}: axe finds nothing${violations.map((v) => `\n     ${v}`).join("")}`,
  );
  const policy = await opened.page.evaluate(() => window.__csp);
  check(policy.length === 0, `${name}: nothing against the security policy ${policy}`);
  check(
    opened.faults.length === 0,
    `${name}: no console error, no outside request ${opened.faults.join("\n     ")}`,
  );
}

async function noSideways(page, name) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  check(over <= 0, `${name}: nothing reaches over the side (${over} px)`);
}

async function checkLive() {
  const opened = await open(url);
  const { page } = opened;
  await isReady(page);
  const read = () => page.locator(".connection-time").textContent();
  const texts = new Set();
  for (let i = 0; i < 12; i++) {
    texts.add(`${await read()} ${await page.locator(".line-number").allTextContents()}`);
    await page.waitForTimeout(500);
  }
  check(texts.size >= 3, `live: the numbers change (${texts.size} different in 6 s)`);
  const snapshot = await (await fetch(new URL("api/gpusight/v1/snapshot", url))).json();
  const badge = await page.locator(".badge, .simulated-band").count();
  check(
    badge > 0 === snapshot.simulated,
    `live: SIMULATED is shown when it is so (${snapshot.simulated})`,
  );
  const tops = snapshot.devices.filter((device) => device.kind === "gpu").length;
  check((await page.locator(".gpu").count()) === tops, `live: one card a GPU (${tops})`);
  check((await page.title()).includes(snapshot.host.name), "live: the title names the host");
  await shoot(page, "live-light");
  await checkClean(opened, "live");
  if (tops > 0) await checkDetails(opened);
  await checkControls(opened);
  await opened.context.close();
}

// A tab that nobody looks at does not move, and catches up in one step.
async function checkHidden() {
  const { page, context } = await open(url);
  await isReady(page);
  const time = () => page.locator(".connection-time").textContent();
  const setHidden = (isHidden) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "hidden", { configurable: true, get: () => value });
      document.dispatchEvent(new Event("visibilitychange"));
    }, isHidden);
  await page.waitForTimeout(1500);
  await setHidden(true);
  const before = await time();
  await page.waitForTimeout(4000);
  check((await time()) === before, "hidden: nothing is drawn");
  await setHidden(false);
  await page.waitForTimeout(200);
  check((await time()) !== before, "hidden: catches up when looked at again");
  await context.close();
}

async function checkDetails(opened) {
  const { page } = opened;
  const button = page.locator(".gpu-foot .more").first();
  if ((await button.getAttribute("aria-expanded")) === "false") {
    await button.focus();
    await page.keyboard.press("Enter");
  }
  await page.waitForSelector(".details .detail-group");
  check((await button.getAttribute("aria-expanded")) === "true", "details: opened by the keyboard");
  await page.waitForTimeout(1200);
  await checkClean(opened, "details");
  await shoot(page, "details-light");
}

async function checkControls({ page }) {
  await page.locator('input[name="lang"][value="zh"]').check({ force: true });
  check((await page.locator("html").getAttribute("lang")) === "zh-CN", "controls: Chinese");
  check(
    (await page.locator("#host-title").textContent()) === "主机",
    "controls: words change with the language",
  );
  await page.locator('input[name="theme"][value="dark"]').check({ force: true });
  check((await page.locator("html").getAttribute("data-theme")) === "dark", "controls: dark");
  await page.locator('input[name="smoothing"][value="15"]').check({ force: true });
  await page.reload();
  await isReady(page);
  check(
    (await page.locator("html").getAttribute("lang")) === "zh-CN",
    "controls: the language is remembered",
  );
  check(
    await page.locator('input[name="smoothing"][value="15"]').isChecked(),
    "controls: the smoothing is remembered",
  );
  await page.waitForTimeout(1200);
  await shoot(page, "live-dark-zh");
}

async function checkLooks() {
  for (const [name, options, query] of [
    ["dark", { dark: true, width: 1920, height: 1080 }, "?lang=en"],
    ["phone", { width: 360, height: 800 }, "?lang=en"],
    ["phone-zh-dark", { width: 390, height: 844, dark: true }, "?lang=zh"],
  ]) {
    const opened = await open(url + query, options);
    await isReady(opened.page);
    await opened.page.waitForTimeout(1500);
    await noSideways(opened.page, name);
    await checkClean(opened, name);
    await shoot(opened.page, name);
    await opened.context.close();
  }
}

async function checkScenario(name, scenario, test, options) {
  const opened = await open(`${url}s/${scenario}/?lang=en`, options);
  try {
    await test(opened);
  } catch (error) {
    check(false, `${name}: ${error}`);
  }
  await shoot(opened.page, `scenario-${name}`);
  await opened.context.close();
}

const textOf = (page, selector) => page.locator(selector).allTextContents();

async function checkScenarios() {
  await checkScenario(
    "faults",
    "gpus=8&faults=lost,asleep,absent,stale,busy,throttle",
    async (opened) => {
      await isReady(opened.page);
      await opened.page.waitForTimeout(2000);
      const marks = (await textOf(opened.page, ".gpu .mark")).join("|");
      check(/LOST since \d\d:\d\d:\d\d/.test(marks), "faults: LOST says since when");
      check(
        marks.includes("asleep") && marks.includes("busy") && marks.includes("throttled"),
        `faults: states in words`,
      );
      check(
        (await textOf(opened.page, ".gpu .is-absent")).every((text) => text === "n/a"),
        "faults: absent is n/a, never 0",
      );
      check(
        (await textOf(opened.page, ".line-beside")).some((text) => text.includes("old")),
        "faults: an old value says its age",
      );
      check(
        (await textOf(opened.page, ".chart.is-empty .chart-empty")).some((text) =>
          text.includes("driver reported"),
        ),
        "faults: an empty chart says why",
      );
      await checkClean(opened, "faults");
    },
    { width: 1920, height: 1080 },
  );

  await checkScenario("none", "gpus=0&simulated=0", async (opened) => {
    await opened.page.waitForSelector(".no-devices");
    const text = (await textOf(opened.page, ".no-devices")).join("");
    check(text.includes("no NVIDIA device on the PCI bus"), "none: says why there is no GPU");
    check(
      text.includes("gpusight sim h100-training -- gpusight serve"),
      "none: offers the simulated machine",
    );
    await checkClean(opened, "none");
  });

  await checkScenario("waiting", "nodata=1", async (opened) => {
    await opened.page.waitForSelector("text=Waiting for the first reading");
    await checkClean(opened, "waiting");
  });

  await checkScenario("gone", "gpus=2&drop=2&gone=1", async (opened) => {
    await opened.page.waitForSelector(".notice.is-bad", { timeout: 15_000 });
    const text = (await textOf(opened.page, ".notice")).join("");
    check(/No connection.*old; trying again/.test(text), `gone: says so, and how old (${text})`);
    check((await opened.page.locator(".page.is-old").count()) === 1, "gone: what is old is greyed");
    check((await opened.page.locator(".badge").count()) === 1, "gone: SIMULATED stays");
    const violations = await axeViolations(opened.page);
    check(violations.length === 0, `gone: axe finds nothing ${violations}`);
  });

  await checkScenario("back", "gpus=2&drop=4", async (opened) => {
    await opened.page.waitForSelector(".notice.is-bad", { timeout: 15_000 });
    await opened.page.waitForSelector(".connection.is-live", { timeout: 15_000 });
    check((await opened.page.locator(".notice").count()) === 0, "back: comes back by itself");
  });

  await checkScenario("slow", "gpus=1&drop=2&slow=1", async (opened) => {
    await opened.page.waitForSelector("text=could not keep up", { timeout: 15_000 });
    check(true, "slow: says that the browser could not keep up");
  });

  await checkScenario("nocatalog", "nocatalog=1", async (opened) => {
    await opened.page.waitForSelector("text=could not be read (HTTP 500)", { timeout: 15_000 });
    check(true, "nocatalog: says what failed and tries again");
  });

  await checkScenario("hostile", "gpus=2&faults=hostile", async (opened) => {
    await isReady(opened.page);
    await opened.page.locator(".gpu-foot .more").first().click();
    await opened.page.waitForTimeout(1200);
    check(
      (await opened.page.locator(".page img").count()) === 0,
      "hostile: names make no elements",
    );
    check((await opened.page.title()) !== "1", "hostile: names run no script");
    await checkClean(opened, "hostile");
  });

  await checkScenario("many", "gpus=64&cores=256", async (opened) => {
    await isReady(opened.page);
    check((await opened.page.locator(".gpu").count()) === 64, "many: 64 cards");
    check((await opened.page.locator(".strip a").count()) === 64, "many: a cell for each");
    const drawn = await opened.page.locator(".u-wrap").count();
    check(drawn < 120, `many: only charts on screen are drawn (${drawn})`);
  });

  await checkScenario(
    "mig",
    "gpus=1&mig=7",
    async (opened) => {
      await isReady(opened.page);
      check(
        (await opened.page.locator(".gpu .mig").count()) === 7,
        "mig: instances nested in their GPU",
      );
      await noSideways(opened.page, "mig");
      await checkClean(opened, "mig");
    },
    { width: 390, height: 844 },
  );
}

const mock = isMock ? await startMock() : null;
try {
  await checkLive();
  await checkHidden();
  await checkLooks();
  if (isMock) await checkScenarios();
} finally {
  await browser.close();
  mock?.kill();
}
console.log(failures === 0 ? "everything holds" : `${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
