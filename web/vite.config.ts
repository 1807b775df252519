/** How the console is built: into the Python package, by names that change with the content, with no address in it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const out = fileURLToPath(new URL("../src/runwire/console", import.meta.url));

/** Puts a packed twin beside every file that gains from it, so that nobody packs while serving. */
function packed(): Plugin {
  return {
    name: "packed",
    apply: "build",
    closeBundle() {
      const assets = join(out, "assets");
      for (const name of readdirSync(assets)) {
        if (/\.(js|css|svg)$/.test(name)) {
          writeFileSync(join(assets, `${name}.gz`), gzipSync(readFileSync(join(assets, name)), { level: 9 }));
        }
      }
    },
  };
}

export default defineConfig({
  base: "./",
  resolve: { alias: { "@protocol": fileURLToPath(new URL("../spec/types/v1.ts", import.meta.url)) } },
  build: { outDir: out, emptyOutDir: true, target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  plugins: [packed()],
  // Tests wait for what must come; a machine that is busy is no failure.
  test: { testTimeout: 60_000, hookTimeout: 60_000 },
});
