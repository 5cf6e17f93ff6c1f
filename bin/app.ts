/** The CDK app, as `cdk.json` starts it. */
import { makeApp } from '../lib/app.ts';

makeApp();
