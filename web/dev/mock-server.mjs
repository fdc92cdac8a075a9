// The API and the live stream of a made-up machine, and web/dist under the server's own
// Content-Security-Policy: for working on the page and for its tests without the program.
//
//   [DIST=folder] node dev/mock-server.mjs [--port 9781]
//   http://127.0.0.1:9781/                                  8 GPUs
//   http://127.0.0.1:9781/s/gpus=8&faults=lost,asleep/      what lies under /s/…/ is the scenario
//
// Scenario: gpus, mig (instances a GPU), cores, interval, simulated (1/0), idle, fans, gap, hides,
// faults (lost, asleep, absent, stale, busy, throttle, hostile), nodata, silent (seconds until it
// falls silent), drop (seconds until it closes), slow (closes with 4008), gone (does not come back
// until the page is loaded again), nocatalog.
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { WebSocketServer } from "ws";
import { deltaOf } from "./delta.mjs";
import { Machine } from "./machine.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const dist = process.env.DIST ?? join(here, "../dist");
const catalog = JSON.parse(readFileSync(join(here, "catalog.json"), "utf8"));
const portAt = process.argv.indexOf("--port");
const port = portAt > 0 ? Number(process.argv[portAt + 1]) : 9781;

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

function optionsOf(text) {
  const query = new URLSearchParams(text);
  const number = (name, fallback) => (query.has(name) ? Number(query.get(name)) : fallback);
  const flag = (name, fallback = false) => (query.has(name) ? query.get(name) !== "0" : fallback);
  return {
    gpus: number("gpus", 8),
    mig: number("mig", 0),
    cores: number("cores", 112),
    interval: number("interval", 1),
    simulated: flag("simulated", true),
    idle: flag("idle"),
    fans: flag("fans"),
    gap: flag("gap"),
    hides: flag("hides"),
    faults: (query.get("faults") ?? "").split(",").filter(Boolean),
    nodata: flag("nodata"),
    nocatalog: flag("nocatalog"),
    silent: number("silent", 0),
    drop: number("drop", 0),
    slow: flag("slow"),
    gone: flag("gone"),
  };
}

const machines = new Map();
function machineOf(scenario) {
  let machine = machines.get(scenario);
  if (machine === undefined) {
    machine = new Machine(catalog, optionsOf(scenario));
    machines.set(scenario, machine);
  }
  return machine;
}

function splitPath(url) {
  const { pathname } = new URL(url, "http://localhost");
  const found = /^\/s\/([^/]*)(\/.*)$/.exec(pathname);
  return found === null
    ? { scenario: "", path: pathname }
    : { scenario: decodeURIComponent(found[1]), path: found[2] };
}

function sendJson(response, body, status = 200) {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}

function sendFile(response, path) {
  const file = join(dist, normalize(path === "/" ? "/index.html" : path));
  if (!file.startsWith(dist) || !existsSync(file) || !statSync(file).isFile()) {
    sendJson(response, { error: { code: "not_found", message: "no such page" } }, 404);
    return;
  }
  response.writeHead(200, {
    "content-type": TYPES[extname(file)] ?? "application/octet-stream",
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
  });
  createReadStream(file).pipe(response);
}

const server = createServer((request, response) => {
  const { scenario, path } = splitPath(request.url ?? "/");
  const machine = machineOf(scenario);
  switch (path) {
    case "/api/gpusight/v1/catalog":
      if (machine.options.nocatalog)
        sendJson(response, { error: { code: "internal", message: "" } }, 500);
      else sendJson(response, catalog);
      return;
    case "/api/gpusight/v1/snapshot":
      sendJson(response, machine.snapshot(Date.now() / 1000, 1));
      return;
    case "/api/gpusight/v1/events":
      sendJson(response, { events: machine.events() });
      return;
    case "/":
      machine.isGone = false;
      sendFile(response, path);
      return;
    default:
      sendFile(response, path);
  }
});

function play(socket, machine) {
  const { options } = machine;
  if (options.nodata) return; // as the program does until its first tick
  let n = 0;
  let t = Math.floor(Date.now() / 1000);
  let last = machine.snapshot(t, 1000);
  const head = machine.head(t);
  socket.send(gzipSync(JSON.stringify({ type: "snapshot", n: n++, snapshot: last, head })));
  const began = t;
  const timer = setInterval(() => {
    t += options.interval;
    if (machine.isGone) socket.close(1001);
    if (options.silent > 0 && t - began > options.silent) return;
    if (options.drop > 0 && t - began > options.drop) {
      machine.isGone = options.gone;
      socket.close(options.slow ? 4008 : 1001);
      return;
    }
    const next = machine.snapshot(t, last.sequence + 1);
    socket.send(JSON.stringify({ type: "delta", n: n++, ...deltaOf(last, next) }));
    last = next;
    if (next.sequence % 15 === 0 && next.devices.length > 0) {
      const [event] = machine.events();
      socket.send(
        JSON.stringify({
          type: "event",
          n: n++,
          event: { ...event, id: 1000 + next.sequence, time: t },
        }),
      );
    }
  }, options.interval * 1000);
  socket.on("close", () => clearInterval(timer));
}

const sockets = new WebSocketServer({ noServer: true });
server.on("upgrade", (request, socket, head) => {
  const { scenario, path } = splitPath(request.url ?? "/");
  if (path !== "/api/gpusight/v1/live" || machineOf(scenario).isGone) {
    socket.destroy();
    return;
  }
  sockets.handleUpgrade(request, socket, head, (client) => play(client, machineOf(scenario)));
});

server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/`));
