// Runs after `npm ci`. npm leaves out optional packages that ask for a newer node than the one it runs
// on itself, among them the native parts of Vite's bundler and of others. Where the machine's node is
// too old, npm is run once more on the node that the first run brought: it adds what was left out.
// Written for old versions of node, as run.mjs.
import { spawnSync } from "node:child_process";
import { findNode, web } from "./node.mjs";

const npm = process.env.npm_execpath;
const node = findNode();
if (node !== process.execPath && npm !== undefined) {
  console.log(`node ${process.versions.node} is old: completing the installation with ${node}`);
  const args = [npm, "install", "--no-save", "--ignore-scripts", "--no-fund", "--no-audit"];
  // Debian's npm finds its parts in folders that only Debian's node looks into by itself.
  const parts = ["/usr/share/nodejs", "/usr/lib/nodejs", "/usr/share/javascript"];
  const env = Object.assign({}, process.env, { NODE_PATH: parts.join(":") });
  const { status } = spawnSync(node, args, { cwd: web, stdio: "inherit", env });
  process.exit(status === null ? 1 : status);
}
