import { exec } from 'node:child_process';
import { expect, it } from 'vitest';

// What looks at the whole tree: scripts of `package.json`, which `npm test` runs while end-to-end suites wait.
it.for(['lint', 'types', 'dead-code'])('npm run %s', async (check, { signal }) => {
  const options = { signal, maxBuffer: Number.POSITIVE_INFINITY };
  const { failure, output } = await new Promise<{ failure: Error | null; output: string }>(resolve => {
    exec(`npm run --silent ${check}`, options, (failure, stdout, stderr) =>
      resolve({ failure, output: stdout + stderr }),
    );
  });
  console.log(output);
  expect(failure).toBeNull();
});
