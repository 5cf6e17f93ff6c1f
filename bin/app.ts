/** Runs the CDK app. `cdk.json` starts this file. */
import { makeApp } from '../lib/app.ts';

makeApp();
