/** Runs the operator's command line (`npm run ops`). */
import './node-version.cjs';

// A pipe may close early (`| head`, `2>&1 | head`). The command continues, because it may have cleanup to do.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', error => {
    if (!('code' in error && error.code === 'EPIPE')) process.exit(1);
  });
}

const { runOps } = await import('../ops/program.ts');
process.exitCode = await runOps(process.argv.slice(2));
