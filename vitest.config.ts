import { defineConfig } from "vitest/config";

// Two cores are what a small CI machine has.
export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [
            "packages/*/{src,bin}/**/*.test.ts",
            "agents/*/agent/**/*.test.ts",
            "scripts/**/*.test.ts",
            "test/chaos/**/*.test.ts",
          ],
          testTimeout: 20_000,
        },
      },
      {
        extends: true,
        test: {
          name: "workspace",
          include: ["test/*.test.ts"],
          // Real processes on fixed resources: one file at a time.
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        extends: true,
        // `pnpm test:next`: needs the registry, and minutes.
        test: { name: "next", include: ["test/next/*.test.ts"], testTimeout: 120_000 },
      },
    ],
  },
});
