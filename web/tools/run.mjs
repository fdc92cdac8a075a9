// Runs a tool of node_modules, or a script of ours, with a node that is new enough for it.
//   node tools/run.mjs vite build
//   node tools/run.mjs e2e/page.mjs
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fail, findNode, web } from "./node.mjs";

function findScript(name) {
  if (name === undefined) return fail("which tool?");
  if (name.endsWith(".mjs")) return join(web, name);
  const folder = join(web, "node_modules", name);
  if (!existsSync(folder)) return fail(`there is no ${folder}: run \`npm ci\` first`);
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return join(folder, typeof bin === "string" ? bin : bin[name]);
}

const [name, ...rest] = process.argv.slice(2);
const { status, error } = spawnSync(findNode(), [findScript(name), ...rest], {
  cwd: web,
  stdio: "inherit",
});
if (error !== undefined) fail(error.message);
process.exit(status === null ? 1 : status);
