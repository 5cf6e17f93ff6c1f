import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { contextConfiguration } from '../lib/config.ts';
import { addStage } from '../lib/stage.ts';
import { ConfigurationError } from '../lib/stage-files.ts';

const app = new App();
try {
  addStage(app, contextConfiguration(app.node.getAllContext()));
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error;
  console.error(error.message);
  process.exit(1);
}
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
