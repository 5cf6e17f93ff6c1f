import { exec } from 'node:child_process';
import { expect, it } from 'vitest';

// These scripts of `package.json` check the whole tree. `npm test` runs them while end-to-end tests wait.
it.for(['lint', 'types', 'dead-code'])('npm run %s succeeds', async (check, { signal }) => {
  const options = { signal, maxBuffer: Number.POSITIVE_INFINITY };
  const { failure, output } = await new Promise<{ failure: Error | null; output: string }>(resolve => {
    exec(`npm run --silent ${check}`, options, (failure, stdout, stderr) =>
      resolve({ failure, output: stdout + stderr }),
    );
  });
  console.log(output);
  expect(failure).toBeNull();
});
