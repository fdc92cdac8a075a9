// A node that is new enough for the tools: the machine's own, else the one that `npm ci` brought as the
// package node-linux-ARCH. Written for old versions of node (Debian 12 has 18): they run it.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const OLDEST = [20, 19]; // what Vite 8 and Vitest 4 ask for
export const web = fileURLToPath(new URL("..", import.meta.url));

function isNewEnough(version) {
  const [major, minor] = version.split(".").map(Number);
  if (major === 21 || (major === 22 && minor < 12)) return false; // left out by Vite
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

export function fail(message) {
  console.error(`gpusight web: ${message}`);
  process.exit(2);
}

export function findNode() {
  if (isNewEnough(process.versions.node)) return process.execPath;
  const brought = join(web, "node_modules", `node-linux-${process.arch}`, "bin", "node");
  if (existsSync(brought)) return brought;
  return fail(
    `node ${process.versions.node} is too old and there is no ${brought}: ` +
      "run `npm ci` with optional packages, or install node 22",
  );
}
