import { defineConfig } from "vitest/config";

// The server's Content-Security-Policy allows no inline script or style: nothing is inlined, and
// every name of an asset carries its content's hash so that it may be cached for ever.
export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "dist",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    cssMinify: true,
    reportCompressedSize: false,
  },
  server: {
    host: "127.0.0.1",
    proxy: { "/api": { target: process.env.GPUSIGHT_URL ?? "http://127.0.0.1:9781", ws: true } },
  },
  test: {
    include: ["src/**/*.test.ts", "src/**/*.test.tsx"],
    environment: "node",
    css: { include: [/theme\.css/] }, // a test reads it
  },
});
