/** The CDK app, which `cdk.json` starts. */
import { makeApp } from '../lib/app.ts';

makeApp();
